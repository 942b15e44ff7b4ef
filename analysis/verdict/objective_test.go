package verdict_test

import (
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// steady are answered requests at equal gaps that all take as long.
func steady(n int, gap, took int64) []sample.Row {
	rows := make([]sample.Row, n)
	for i := range rows {
		due := start + int64(i)*gap
		rows[i] = foldtest.Row(due, due, due+took)
	}
	return rows
}

// TestCarryOfScenario: what one scenario must carry is held against what it was
// offered, not against the load of all.
func TestCarryOfScenario(t *testing.T) {
	t.Parallel()
	ev := evidence(openLoop, steady(12_000, 10e6, 5e6), nil)
	rare := openLoop
	rare.Scenario = "rare"
	ev.Batches = append(ev.Batches, foldtest.Batches(rare, steady(1200, 100e6, 5e6), 512)...)
	for perS, want := range map[float64]string{90: wire.OutcomeInconclusive, 10: wire.OutcomePass} {
		v := judge(t, ev, query.Options{Objectives: []wire.Objective{{Scenario: "rare", MustCarryPerS: &perS}}})
		if v.Outcome != want {
			t.Errorf("%g/s of a scenario of 10/s: %s (%s), want %s", perS, v.Outcome, v.Headline, want)
		}
	}
}

// TestMissedOnOneStep: an objective that one step misses speaks of no other one.
func TestMissedOnOneStep(t *testing.T) {
	t.Parallel()
	d := &wire.Declaration{}
	var rows []sample.Row
	at := int64(0)
	for i, perS := range []float64{50, 80, 100, 400} {
		d.Steps = append(d.Steps, wire.DeclareStep{RatePerS: perS, DurationS: 60, PauseS: 60})
		for _, due := range every(perS, float64(at), 60) {
			r := foldtest.Row(due, due, due+5e6)
			switch i {
			case 0:
				r.Done = due + 25e6 // cold
			case 3:
				from := start + at*1e9
				r.Done = due + 5e6 + (due-from)*2 // it carries a third
			}
			rows = append(rows, r)
		}
		at += 120
	}
	q, limit := 0.9, 0.010
	v := judge(t, evidence(openLoop, rows, d), query.Options{Objectives: []wire.Objective{{Quantile: &q, MaxS: &limit}}})
	if v.Outcome != wire.OutcomeFail {
		t.Errorf("%s, %s", v.Outcome, v.Headline)
	}
	near(t, "recommended", v.Knee.Recommended, 100, 0.01)
}

// TestStepsOfScenario: a scenario at one rate has no step of its own in a run that
// has two; what it was over both is not held against one of them.
func TestStepsOfScenario(t *testing.T) {
	t.Parallel()
	var all, slowed []sample.Row
	for i, perS := range []float64{100, 200} {
		for _, due := range every(perS, float64(i)*60, 60) {
			all = append(all, foldtest.Row(due, due, due+5e6))
		}
	}
	for _, due := range every(20, 0, 120) {
		r := foldtest.Row(due, due, due+5e6)
		if due > start+60e9 {
			r.Done = due + 900e6
		}
		slowed = append(slowed, r)
	}
	other := openLoop
	other.Scenario = "slowed"
	q, limit := 0.3, 0.5
	goals := []wire.Objective{{Scenario: "slowed", Quantile: &q, MaxS: &limit}}
	for declared, want := range map[bool]string{false: wire.Undecided, true: wire.Missed} {
		var d *wire.Declaration
		if declared {
			d = &wire.Declaration{Start: clockAt(0), Steps: []wire.DeclareStep{{RatePerS: 120, DurationS: 60}, {RatePerS: 220, DurationS: 60}}}
		}
		ev := evidence(openLoop, all, d)
		ev.Batches = append(ev.Batches, foldtest.Batches(other, slowed, 512)...)
		v := judge(t, ev, query.Options{Objectives: goals})
		if h := v.Objectives[0]; len(v.Steps) != 2 || h.State != want {
			t.Errorf("declared %t, %d steps: %s: %s; want %s", declared, len(v.Steps), h.State, h.Message, want)
		} else if !declared && !strings.Contains(h.Message, "declare the steps") {
			t.Error(h.Message)
		}
	}
}
