package verdict_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/sim"
)

// stretch is a rate, 1/s, for some seconds.
type stretch struct{ rate, seconds int64 }

// queue serves stretches of constant arrivals first in, first out, with
// exponential service times of mean 1/capacity.
func queue(rng *rand.Rand, capacity float64, all ...stretch) []sample.Row {
	var rows []sample.Row
	due, free := start, start
	for _, s := range all {
		end := due + s.seconds*1e9
		for ; due < end; due += 1e9 / s.rate {
			free = max(free, due) + int64(rng.ExpFloat64()/capacity*1e9)
			rows = append(rows, foldtest.Row(due, due+rng.Int64N(1e5), max(free, due+1e5)))
		}
		due = end
	}
	return rows
}

// TestUndeclaredSweep finds the steps of a sweep that nobody declared, and its
// knee.
func TestUndeclaredSweep(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(21, 1))
	rows := queue(rng, 200, stretch{80, 40}, stretch{120, 40}, stretch{160, 40}, stretch{240, 40})
	v := judge(t, evidence(openLoop, rows, nil), query.Options{})
	if len(v.Steps) != 4 {
		t.Fatalf("%d steps", len(v.Steps))
	}
	for i, want := range []float64{80, 120, 160, 240} {
		near(t, "offered", v.Steps[i].Offered, want, 0.01)
		if edge := v.Steps[i].From.UnixNano() - start - int64(i)*40e9; math.Abs(float64(edge)) > 0.2e9 {
			t.Errorf("step %d begins %d ns off", i, edge)
		}
	}
	if v.Knee.State != "found" || v.Outcome != wire.OutcomePass {
		t.Errorf("%+v %s: %s", v.Knee, v.Outcome, v.Headline)
	}
	near(t, "capacity", v.Knee.Capacity.Value, 200, 0.03)
	t.Log(v.Headline)
}

// TestPushAndReturn: a queue that is pushed past capacity drains and recovers.
func TestPushAndReturn(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(22, 1))
	rows := queue(rng, 100, stretch{60, 30}, stretch{130, 20}, stretch{60, 60})
	deadline := 1.0
	d := &wire.Declaration{ID: "r", DeadlineS: &deadline, Steps: []wire.DeclareStep{
		{RatePerS: 60, DurationS: 30}, {RatePerS: 130, DurationS: 20}, {RatePerS: 60, DurationS: 60},
	}}
	v := judge(t, evidence(openLoop, rows, d), query.Options{})
	m := v.Metastability
	if m.State != "recovered" || v.Outcome != wire.OutcomePass || m.RecoveredAfterS == nil {
		t.Fatalf("%+v %s: %s", m, v.Outcome, v.Headline)
	}
	// A backlog of 600 at 40/s to spare takes 15 s.
	near(t, "recovered after", m.RecoveredAfterS, 15, 0.2)
	if a := finding(v, "alarm"); a == nil || !strings.Contains(a.Message, "cleared at") {
		t.Errorf("alarm: %+v", a)
	} else {
		t.Log(a.Message)
	}
	if v.Steps[2].Class != wire.ClassStable {
		t.Errorf("the step after the push is %s: %s", v.Steps[2].Class, v.Steps[2].Stability.Reason)
	}
	t.Log(v.Headline)
}

// TestClosedLoopIsSeen: a loop that does not say what it is, and whose sends
// follow completions, is not shown as what users feel.
func TestClosedLoopIsSeen(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(23, 1))
	var rows []sample.Row
	for range 10 {
		for at := start; at < start+30e9; {
			done := at + int64(50e6*rng.ExpFloat64()) + 1e6
			r := foldtest.Row(0, at, done)
			rows = append(rows, r)
			at = done + 20e3
		}
	}
	g := openLoop
	g.Model = sample.UnknownModel
	v := judge(t, evidence(g, rows, nil), query.Options{})
	if v.Audit.Loop != "closed" || v.Steps[0].ResponseTime.Valid || v.SaturationThroughput == nil || v.Outcome == wire.OutcomePass {
		t.Errorf("loop %s, %+v, outcome %s", v.Audit.Loop, v.Steps[0].ResponseTime, v.Outcome)
	}
	if v.Knee.State != "not_tested" || v.Steps[0].Class != wire.ClassInconclusive {
		t.Errorf("%+v, class %s", v.Knee, v.Steps[0].Class)
	}
}

// TestMarksSplit: a dependency that slows down at a mark is told apart from what
// was before it.
func TestMarksSplit(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(24, 1))
	rows := queue(rng, 400, stretch{100, 60})
	slow := queue(rng, 70, stretch{100, 60})
	for _, r := range slow {
		r.Intended, r.Sent, r.Done = r.Intended+60e9, r.Sent+60e9, r.Done+60e9
		rows = append(rows, r)
	}
	ev := evidence(openLoop, rows, nil)
	ev.Of.Marks = []wire.Mark{{At: time.Unix(0, start+60e9), Name: "database slowed"}}
	v := judge(t, ev, query.Options{})
	if len(v.Steps) != 2 || v.Steps[0].Class != wire.ClassStable || v.Steps[1].Class != wire.ClassUnstable || v.Steps[1].AfterMark != "database slowed" {
		t.Fatalf("%d steps: %+v", len(v.Steps), v.Findings)
	}
	if v.Outcome != wire.OutcomeFail {
		t.Errorf("%s: %s", v.Outcome, v.Headline)
	}
}

// TestLateBreakIsSeen: a service that breaks late in a step, and one that leaks
// past its limit, are never passed.
func TestLateBreakIsSeen(t *testing.T) {
	t.Parallel()
	// mean service time in seconds at second s of the step
	check := func(name string, seconds int64, mean func(s float64) float64, unstable bool) {
		t.Helper()
		for seed := range uint64(6) {
			rng := rand.New(rand.NewPCG(31, seed))
			var rows []sample.Row
			at, free := start, start
			for {
				at += int64(rng.ExpFloat64() * 10e6)
				if at >= start+seconds*1e9 {
					break
				}
				begin := max(free, at)
				free = begin + int64(rng.ExpFloat64()*mean(float64(begin-start)/1e9)*1e9)
				rows = append(rows, foldtest.Row(at, at, free))
			}
			v := judge(t, evidence(openLoop, rows, nil), query.Options{})
			if v.Outcome == wire.OutcomePass {
				t.Errorf("%s, seed %d: passed: %s", name, seed, v.Headline)
			}
			if unstable && v.Steps[len(v.Steps)-1].Class != wire.ClassUnstable {
				t.Errorf("%s, seed %d: %s: %s", name, seed, v.Steps[0].Class, v.Steps[0].Stability.Reason)
			}
		}
	}
	check("5 to 20 ms at 270 of 300 s", 300, func(s float64) float64 {
		if s > 270 {
			return 0.020
		}
		return 0.005
	}, true)
	check("5 to 13 ms at 240 of 300 s", 300, func(s float64) float64 {
		if s > 240 {
			return 0.013
		}
		return 0.005
	}, true)
	check("5 to 20 ms at 50 of 60 s", 60, func(s float64) float64 {
		if s > 50 {
			return 0.020
		}
		return 0.005
	}, true)
	check("leak from 5 to 12 ms", 120, func(s float64) float64 { return 0.005 + 0.007*s/120 }, false)
}

// TestSteadyQueuesPass: the rules about the end of a step take nothing from
// queues that are steady.
func TestSteadyQueuesPass(t *testing.T) {
	t.Parallel()
	passed := 0
	const runs = 40
	for seed := range uint64(runs) {
		rng := rand.New(rand.NewPCG(32, seed))
		if v := judge(t, evidence(openLoop, queue(rng, 125, stretch{100, 60}), nil), query.Options{}); v.Outcome == wire.OutcomePass {
			passed++
		} else if v.Outcome == wire.OutcomeFail {
			t.Errorf("seed %d: %s", seed, v.Headline)
		} else {
			t.Log(v.Headline)
		}
	}
	if passed < runs*9/10 {
		t.Errorf("%d of %d passed", passed, runs)
	}
}

// TestStallAtTheEnd: a loop that says nothing about itself and stops with the
// service is no proof of anything.
func TestStallAtTheEnd(t *testing.T) {
	t.Parallel()
	rows := constantSends(10_000, 10e6)
	rows = append(rows, foldtest.Row(0, start+100e9, start+200e9))
	g := openLoop
	g.Model = sample.UnknownModel
	limit := 0.01
	q := 0.99
	goals := []wire.Objective{{Quantile: &q, MaxS: &limit}}
	for _, opt := range []query.Options{{}, {Objectives: goals}} {
		if v := judge(t, evidence(g, rows, nil), opt); v.Outcome == wire.OutcomePass {
			t.Errorf("passed: %s", v.Headline)
		}
	}
}

func constantSends(n int, gap int64) []sample.Row {
	var rows []sample.Row
	for i := range int64(n) {
		rows = append(rows, foldtest.Row(0, start+i*gap, start+i*gap+1e6))
	}
	return rows
}

// TestMissingArrivals: a paced schedule is exact, and percentiles of those that
// came say nothing of the others.
func TestMissingArrivals(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(33, 1))
	rows := queue(rng, 200, stretch{100, 60})
	kept := rows[:0]
	for i, r := range rows {
		if i%32 != 0 {
			kept = append(kept, r)
		}
	}
	d := &wire.Declaration{ID: "r", Steps: []wire.DeclareStep{{RatePerS: 100, DurationS: 60}}, Arrival: &wire.Arrival{Model: "open", Process: "constant"}}
	v := judge(t, evidence(openLoop, kept, d), query.Options{})
	if v.Outcome != wire.OutcomeInvalid || v.Steps[0].ResponseTime.Valid || finding(v, "arrivals_missing") == nil || finding(v, "alarm") != nil {
		t.Errorf("%s: %s %+v", v.Outcome, v.Headline, v.Findings)
	}
	more := queue(rng, 110, stretch{120, 60})
	v = judge(t, evidence(openLoop, more, d), query.Options{})
	near(t, "offered", v.Steps[0].Offered, 120, 0.01)
	if finding(v, "arrivals_exceed") == nil {
		t.Errorf("%+v", v.Findings)
	}
}

// TestFixedPopulation: a closed loop that is declared to be the right model can
// meet an objective.
func TestFixedPopulation(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(34, 1))
	var rows []sample.Row
	for range 20 {
		for at := start; at < start+60e9; {
			done := at + int64(200e6*(0.5+rng.Float64()))
			rows = append(rows, foldtest.Row(0, at, done))
			at = done + 1e5
		}
	}
	g := openLoop
	g.Model = sample.Closed
	q, limit := 0.99, 1.0
	d := &wire.Declaration{ID: "r", Population: "fixed", Objectives: []wire.Objective{{Quantile: &q, MaxS: &limit}}}
	if v := judge(t, evidence(g, rows, d), query.Options{}); v.Outcome != wire.OutcomePass {
		t.Errorf("%s: %s", v.Outcome, v.Headline)
	}
}

// TestRampGivesALowerBound: a ramp past the capacity bounds it from below, whether
// it is declared or found, and says no more.
func TestRampGivesALowerBound(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(35, 1))
	server := sim.Queue(sim.Fixed(), 4)(100)
	requests := sim.Run(sim.Config{
		StartNS: start, Steps: []sim.Step{{RatePerS: 50, ToRate: 150, DurationS: 120}}, Arrivals: sim.Constant(), Server: server,
	}, rng)
	var rows []sample.Row
	for _, q := range requests {
		rows = append(rows, foldtest.Row(q.Intended, q.Sent, q.Done))
	}
	to := 150.0
	d := &wire.Declaration{
		ID: "r", Arrival: &wire.Arrival{Model: "open", Process: "constant"},
		Steps: []wire.DeclareStep{{RatePerS: 50, ToRate: &to, DurationS: 120}},
	}
	for _, d := range []*wire.Declaration{d, nil} {
		v := judge(t, evidence(openLoop, rows, d), query.Options{})
		c := v.Knee.Capacity
		if len(v.Steps) != 1 || v.Knee.State != "not_tested" || c == nil || c.Value != nil || c.Hi != nil || c.Lo == nil || *c.Lo < 95 || *c.Lo > 100 {
			t.Fatalf("%d steps, %+v", len(v.Steps), v.Knee)
		}
		f := finding(v, "ramp_capacity")
		if f == nil || !strings.Contains(f.Message, "the capacity is at least about 9") || v.Steps[0].Class != wire.ClassInconclusive {
			t.Errorf("%s: %+v", v.Steps[0].Class, f)
		}
		t.Log(v.Outcome, v.Headline)
	}
}

// TestSweepDoesNotExcuseABreak: a step of a sweep that breaks at its end is not
// made stable by one that completed more.
func TestSweepDoesNotExcuseABreak(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(36, 1))
	free := start
	var rows []sample.Row
	for _, s := range []struct{ rate, from, to, pause float64 }{{60, 0, 60, 20}, {100, 80, 140, 60}, {160, 200, 260, 0}} {
		for at := start + int64(s.from*1e9); ; {
			if at += int64(rng.ExpFloat64() / s.rate * 1e9); at >= start+int64(s.to*1e9) {
				break
			}
			mean := 1 / 200.0
			if s := float64(max(free, at)-start) / 1e9; s > 134 && s < 180 {
				mean = 1 / 45.0
			}
			free = max(free, at) + int64(rng.ExpFloat64()*mean*1e9)
			rows = append(rows, foldtest.Row(at, at, free))
		}
	}
	d := &wire.Declaration{ID: "r", Arrival: &wire.Arrival{Model: "open", Process: "poisson"}, Steps: []wire.DeclareStep{
		{RatePerS: 60, DurationS: 60, PauseS: 20}, {RatePerS: 100, DurationS: 60, PauseS: 60}, {RatePerS: 160, DurationS: 60},
	}}
	v := judge(t, evidence(openLoop, rows, d), query.Options{})
	if len(v.Steps) != 3 || v.Steps[0].Class != wire.ClassStable || v.Steps[1].Class == wire.ClassStable {
		t.Fatalf("%d steps; %s: %s", len(v.Steps), v.Steps[1].Class, v.Steps[1].Stability.Reason)
	}
	t.Log(v.Steps[1].Class, v.Steps[1].Stability.Reason)
}

// TestLateRetry: one retry long after the load makes no step, and no recovery of an
// overloaded service.
func TestLateRetry(t *testing.T) {
	t.Parallel()
	for _, wait := range []int64{1, 30, 120} {
		var rows []sample.Row
		var free int64
		for i := range int64(6000) {
			at := start + i*10e6
			free = max(free, at) + 10.2e6
			r := sample.Row{Sent: at, Done: free, Index: sample.NoIndex, Key: uint64(i + 1)}
			if i == 5999 {
				r.Outcome = sample.Error
				again := r.Done + wait*1e9
				rows = append(rows, sample.Row{Sent: again, Done: again + 5e6, Index: sample.NoIndex, Key: r.Key, Attempt: 1})
			}
			rows = append(rows, r)
		}
		v := judge(t, evidence(openLoop, rows, nil), query.Options{})
		if v.Outcome != wire.OutcomeFail || len(v.Steps) != 1 || v.Steps[0].DurationS != 60 {
			t.Errorf("retried after %d s: %s: %s (%d steps, %g s)", wait, v.Outcome, v.Headline, len(v.Steps), v.Steps[0].DurationS)
		}
	}
}

// TestStraggler: one request long after the load is no load that was returned to,
// and leaves a run what it was.
func TestStraggler(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		perS []float64
		want string
	}{{[]float64{100}, wire.OutcomeFail}, {[]float64{30, 60, 150}, wire.OutcomePass}} {
		var due []int64
		for i, perS := range c.perS {
			due = append(due, every(perS, float64(i)*60, 60)...)
		}
		var rows []sample.Row
		var free int64
		for _, at := range due {
			free = max(free, at) + 10.2e6
			rows = append(rows, foldtest.Row(at, at, free))
		}
		for _, wait := range []int64{0, 60} {
			if wait > 0 {
				rows = append(rows, foldtest.Row(free+wait*1e9, free+wait*1e9, free+wait*1e9+5e6))
			}
			if v := judge(t, evidence(openLoop, rows, nil), query.Options{}); v.Outcome != c.want {
				t.Errorf("%v and one more after %d s: %s: %s", c.perS, wait, v.Outcome, v.Headline)
			}
		}
	}
}
