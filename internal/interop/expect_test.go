package interop

import (
	"math"
	"slices"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// expect is what a verdict must say.
type expect struct {
	generator string
	grade     string
	loop      string   // "" is not looked at
	classes   []string // one of them; empty is not looked at
	outcome   string   // "" is not looked at
	sent      int64    // requests that the service saw; 0 is not looked at
	slack     int64    // and by how many the run may differ: those cut off at the end
}

// check compares a verdict with what it must say, and its balance with itself.
func (e *expect) check(t *testing.T, v *wire.Verdict) {
	t.Helper()
	if v.Run.Generator != e.generator {
		t.Errorf("generator %q, want %q", v.Run.Generator, e.generator)
	}
	if v.Run.Grade == nil || *v.Run.Grade != e.grade {
		t.Errorf("grade %v, want %s", text(v.Run.Grade), e.grade)
	}
	if e.loop != "" && v.Audit.Loop != e.loop {
		t.Errorf("loop %s, want %s", v.Audit.Loop, e.loop)
	}
	if e.outcome != "" && v.Outcome != e.outcome {
		t.Errorf("outcome %s, want %s: %s", v.Outcome, e.outcome, v.Headline)
	}
	for i := range v.Steps {
		if len(e.classes) > 0 && !slices.Contains(e.classes, v.Steps[i].Class) {
			t.Errorf("step %d is %s, want one of %v", i, v.Steps[i].Class, e.classes)
		}
	}
	if e.sent > 0 && (v.Totals.Sent > e.sent+e.slack || v.Totals.Sent < e.sent-e.slack) {
		t.Errorf("%d sent, the service saw %d", v.Totals.Sent, e.sent)
	}
	if b := v.Totals.Balance; b.Due+b.CarriedIn != b.Dropped+b.Good+b.Late+b.Error+b.Timeout+b.Shed+b.Cancelled+b.OpenAtEnd {
		t.Errorf("balance: %+v", b)
	}
}

// closed checks what may be said of a closed loop: how much got through, and
// nothing of what users would feel.
func closed(t *testing.T, v *wire.Verdict) {
	t.Helper()
	if r := v.Totals.ResponseTime; r.Valid && r.P95.Value != nil {
		t.Error("response times of a closed loop are called valid")
	}
	if v.Knee.State == "found" {
		t.Error("a knee of a closed loop")
	}
	x := v.SaturationThroughput
	if x == nil || x.Value == nil || x.Lo == nil {
		t.Errorf("no saturation throughput: %s", v.Headline)
	} else if *x.Value < 5 || *x.Value > 105 || *x.Lo > 100 { // exports of counts cover a little more time than they say
		t.Errorf("saturation throughput %g, at least %g; the service does at most 100/s", *x.Value, *x.Lo)
	}
}

// near compares a quantile with the generator's own, in seconds.
func near(t *testing.T, what string, e wire.Estimate, want, share float64) {
	t.Helper()
	if e.Value == nil || math.Abs(*e.Value-want) > share*want {
		t.Errorf("%s: %v, the generator says %g", what, text(e.Value), want)
	}
}

// text shows what a pointer points to.
func text[T any](p *T) any {
	if p == nil {
		return "none"
	}
	return *p
}
