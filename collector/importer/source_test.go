package importer

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func compressed(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSourceLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", bufferBytes+5)
	check := func(what string, in []byte, torn bool, want ...string) {
		t.Helper()
		s, err := open("f", iotest.OneByteReader(bytes.NewReader(in)), false)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		for i, w := range want {
			got, err := s.Line()
			if err != nil || string(got) != w {
				t.Fatalf("%s: line %d is %.20q, %v; want %.20q", what, i, got, err, w)
			}
		}
		if _, err := s.Line(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: at the end: %v", what, err)
		}
		if s.Torn() != torn || s.Lines() != int64(len(want)) {
			t.Errorf("%s: torn %v, %d lines", what, s.Torn(), s.Lines())
		}
	}
	check("empty", nil, false)
	check("lines", []byte("a\nb\r\n\nc\n"), false, "a", "b", "", "c")
	check("torn", []byte("a\nbc"), true, "a", "bc")
	check("long", []byte("a\n"+long+"\nb\n"), false, "a", long, "b")
	check("gzip", compressed(t, "a\nb\n"), false, "a", "b")
	z := compressed(t, strings.Repeat("line\n", 3))
	check("gzip cut off", z[:len(z)-9], false, "line", "line", "line")
}

func TestSourceLongLine(t *testing.T) {
	t.Parallel()
	s, err := open("f", strings.NewReader(strings.Repeat("x", maxLine+1)+"\nb\n"), false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Line(); !errors.Is(err, errLongLine) {
		t.Fatalf("too long: %v", err)
	}
	if b, err := s.Line(); err != nil || string(b) != "b" || s.Lines() != 2 {
		t.Errorf("after it: %q, %v", b, err)
	}
}

func TestRunIDs(t *testing.T) {
	t.Parallel()
	if got := slug(stem("dir/orders load.json.gz")); got != "orders-load" {
		t.Errorf("slug %q", got)
	}
	long := bytes.Repeat([]byte("x"), minHead)
	grows, whole := &Format{}, &Format{Document: true}
	if fingerprint(grows, []byte("abc")) == fingerprint(grows, []byte("abd")) {
		t.Error("content does not matter")
	}
	if fingerprint(grows, long) != fingerprint(grows, append(long, 'y')) {
		t.Error("a file that has grown is another one")
	}
	if fingerprint(whole, long) == fingerprint(whole, append(long, 'y')) {
		t.Error("documents that begin alike are the same")
	}
	if got := slug("../..//\x00"); got != "import" {
		t.Errorf("slug %q", got)
	}
}
