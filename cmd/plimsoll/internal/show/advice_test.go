package show_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/advice"
	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/show"
)

func TestAdvice(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	v := &wire.Verdict{Run: wire.Run{ID: "a\x1b[2J", Generator: "k6", Grade: ptr("F"), DeadlineS: ptr(2.0)}}
	if err := show.Advice(&out, v, []advice.Advice{{Set: "X=1", Gain: strings.Repeat("more ", 40) + "\x07"}}); err != nil {
		t.Fatal(err)
	}
	harmless(t, "advice", out.String())
	if text := out.String(); !strings.Contains(text, " · from k6 · grade F\n\nX=1\n    more more") || !strings.Contains(text, "\n    more") {
		t.Errorf("%s", text)
	}
	out.Reset()
	if err := show.Advice(&out, &wire.Verdict{}, nil); err != nil || !strings.Contains(out.String(), "Nothing that is known") {
		t.Errorf("%v: %s", err, out.String())
	}
	if hint := show.Hint(v, "http://h"); !strings.HasPrefix(hint, "better evidence: -o influxdb=http://h/k6  (plimsoll doctor a") {
		t.Errorf("%q", hint)
	}
	v.Run.Grade, v.Run.Generator = ptr("A"), "mine"
	if hint := show.Hint(v, ""); hint != "" {
		t.Errorf("%q", hint)
	}
}

// TestTokens: answers of a model have a line of their own.
func TestTokens(t *testing.T) {
	t.Parallel()
	v := push()
	first, between := response(0.4, 0, 1.2, 100), response(0.02, 0, 0.05, 100)
	v.Steps[0].FirstByte, v.Steps[0].InterToken, v.Steps[0].TokensPerS = &first, &between, ptr(550.0)
	var out bytes.Buffer
	if err := show.Table(&out, v, false, "", "a hint"); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Count(text, "first token p50 400 ms, p99 1.2 s · between tokens p50 20 ms, p99 50 ms · tokens 550/s") != 1 || !strings.Contains(text, "\na hint\n") {
		t.Errorf("%s", text)
	}
}
