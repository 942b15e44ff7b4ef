package bars_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/sim"
	"github.com/plimsoll/plimsoll/internal/bars"
)

// recorder is a test that keeps what it was told.
type recorder struct {
	testing.TB
	logs, errors []string
}

func (r *recorder) Helper()                 {}
func (r *recorder) Log(args ...any)         { r.logs = append(r.logs, fmt.Sprint(args...)) }
func (r *recorder) Logf(f string, a ...any) { r.logs = append(r.logs, fmt.Sprintf(f, a...)) }
func (r *recorder) Error(args ...any)       { r.errors = append(r.errors, fmt.Sprint(args...)) }

func TestLines(t *testing.T) {
	t.Parallel()
	r := &recorder{TB: t}
	b := bars.Bar{Number: "3", Text: "sharp", Of: "840 runs"}
	b.AtLeast(r, 97.14, 95)
	b.AtLeast(r, 94.9, 95)
	b.Unit, b.Slack = "s", 2
	b.AtMost(r, 7, 6)
	b.AtMost(r, 9, 6)
	if len(r.logs) != 2 || r.logs[0] != "BAR 3 | ok | 97.1 % >= 95 % | sharp | 840 runs" || !strings.Contains(r.logs[1], "7 s <= 6 s") {
		t.Errorf("%q", r.logs)
	}
	if len(r.errors) != 2 || !strings.HasPrefix(r.errors[0], "BAR 3 | MISSED | 94.9 %") {
		t.Errorf("%q", r.errors)
	}
}

// TestSteps judges by the load itself: every bar is met, and by its opposite: the
// bars that matter are missed.
func TestSteps(t *testing.T) {
	t.Parallel()
	measure := func(right, wrong string) *recorder {
		r := &recorder{TB: t}
		b := bars.Steps{Note: "an oracle", Judge: func(run bars.Run) string {
			if run.Rho < 1 {
				return right
			}
			return wrong
		}}
		for _, lambda := range []float64{4, 20, 100} {
			b.Measure(r, lambda, 60, 1, 0.5, 0.9, 1.05, 1.1, 1.25)
		}
		b.Check(r)
		return r
	}
	if r := measure("stable", "unstable"); len(r.errors) > 0 {
		t.Errorf("%q", r.errors)
	}
	if r := measure("unstable", "stable"); len(r.errors) != 12 {
		t.Errorf("%d: %q", len(r.errors), r.errors)
	}
}

func TestEach(t *testing.T) {
	t.Parallel()
	var runs []bars.Run
	for i := range uint64(50) {
		runs = append(runs, bars.Run{System: sim.Grid()[0], Cell: bars.Cell{Lambda: 1, Seconds: 2, Rho: 0.5}, Seed: i})
	}
	next := uint64(0)
	bars.Each(runs, func(r bars.Run) uint64 { return r.Rand().Uint64() }, func(r bars.Run, first uint64) {
		if r.Seed != next || first != r.Rand().Uint64() {
			t.Errorf("run %d at %d", r.Seed, next)
		}
		next++
	})
	if next != 50 {
		t.Errorf("%d runs", next)
	}
}
