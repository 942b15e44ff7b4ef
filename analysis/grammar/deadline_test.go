package grammar_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll/plimsoll/analysis/grammar"
)

func TestParseDeadline(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]grammar.Deadline{
		"2s":                   {EndS: ptr(2)},
		"e2e:5s":               {EndS: ptr(5)},
		"ttft:500ms":           {FirstByteS: ptr(0.5)},
		"ttft:500ms,e2e:5s":    {FirstByteS: ptr(0.5), EndS: ptr(5)},
		" e2e : 5s , ttft:1s ": {FirstByteS: ptr(1), EndS: ptr(5)},
		"5s,ttft:500ms":        {FirstByteS: ptr(0.5), EndS: ptr(5)},
	} {
		got, err := grammar.ParseDeadline(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", text, err, diff)
		}
	}
	for text, want := range map[string]string{
		"": "is not understood", "5": "is not understood", "ttft:": "is not understood", "tpot:1ms": "no part", "2s,e2e:3s": "given twice",
		"ttft:1s,ttft:1s": "given twice", "2s,": "given twice", "ttft:0s": "not within", "-1s": "not within", "ttft:6s,e2e:5s": "after the end",
		strings.Repeat("x", 1<<17): "longer than",
	} {
		if d, err := grammar.ParseDeadline(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, %v; want an error with %q", text, d, err, want)
		}
	}
}

func FuzzParseDeadline(f *testing.F) {
	f.Add("ttft:500ms,e2e:5s")
	f.Add("2s")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := grammar.ParseDeadline(text)
		if err != nil {
			return
		}
		again, err := grammar.ParseDeadline(d.String())
		if diff := cmp.Diff(d.String(), again.String()); err != nil || diff != "" {
			t.Fatalf("%q was written as %q: %v %s", text, d, err, diff)
		}
	})
}
