package sample_test

import (
	"testing"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

func TestNote(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a", `2 of 3, "x=y" \ z,`, "%d"} {
		s := sample.NoteOf(text)
		if got, ok := s.Note(); !ok || got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if _, ok := (&sample.Series{Name: "vus", Attributes: "text=a"}).Note(); ok {
		t.Error("a metric is a note")
	}
}
