package verdict_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/sim"
)

// changed is the healthy run with something done to every row.
func changed(g sample.Group, d *wire.Declaration, change func(i int, r *sample.Row, rng *rand.Rand)) *foldtest.Evidence {
	rng := rand.New(rand.NewPCG(31, 1))
	rows := healthy()
	for i := range rows {
		change(i, &rows[i], rng)
	}
	return evidence(g, rows, d)
}

// took sets how long a request takes from its send.
func took(r *sample.Row, ns float64) { r.Done = r.Sent + int64(ns) }

// fifo is a first-come queue before one server, at the due times given.
func fifo(due []int64, meanNS float64, law func(rng *rand.Rand) float64) []sample.Row {
	rng := rand.New(rand.NewPCG(77, 1))
	var rows []sample.Row
	free := start
	for _, d := range due {
		free = max(free, d) + int64(meanNS*law(rng))
		rows = append(rows, foldtest.Row(d, d, free))
	}
	return rows
}

func every(perS float64, from, seconds float64) (due []int64) {
	for i := range int(perS * seconds) {
		due = append(due, start+int64((from+float64(i)/perS)*1e9))
	}
	return due
}

// poisson are arrivals that know nothing of each other.
func poisson(perS, from, seconds float64, seed uint64) (due []int64) {
	rng := rand.New(rand.NewPCG(seed, 9))
	for at := from + rng.ExpFloat64()/perS; at < from+seconds; at += rng.ExpFloat64() / perS {
		due = append(due, start+int64(at*1e9))
	}
	return due
}

func exponential(rng *rand.Rand) float64 { return rng.ExpFloat64() }
func fixed(*rand.Rand) float64           { return 1 }

// rising is a sweep of three rates onto a queue of 100/s, the steps declared
// without their arrival process.
func rising(arrivals func(perS, from, seconds float64) []int64) *foldtest.Evidence {
	d := &wire.Declaration{ID: "r", Start: clockAt(0)}
	var due []int64
	for i, perS := range []float64{60, 90, 130} {
		d.Steps = append(d.Steps, wire.DeclareStep{RatePerS: perS, DurationS: 30, PauseS: 30})
		due = append(due, arrivals(perS, float64(i)*60, 30)...)
	}
	return evidence(sample.Group{Source: "gen", Generator: "test", Model: sample.Open}, fifo(due, 10e6, exponential), d)
}

// TestAuditFromRows gives each doubt about a rig and about a service the rows that
// it is about, and expects it in the document; the healthy run has none of them.
func TestAuditFromRows(t *testing.T) {
	t.Parallel()
	stated := openLoop
	stated.Process = "poisson"
	steps := func(s ...wire.DeclareStep) *wire.Declaration {
		return &wire.Declaration{ID: "r", Start: clockAt(0), Steps: s}
	}
	slow := func(second float64) []sample.Row { // a closed loop whose service gets slower half way
		var rows []sample.Row
		rng := rand.New(rand.NewPCG(5, 6))
		for range 20 {
			for at := start + rng.Int64N(1e8); at < start+60e9; {
				mean := 50e6
				if at > start+30e9 {
					mean *= second
				}
				done := at + int64(mean*(0.5+rng.Float64()))
				rows = append(rows, foldtest.Row(0, at, done))
				at = done
			}
		}
		slices.SortFunc(rows, func(a, b sample.Row) int { return int(a.Sent - b.Sent) })
		return rows
	}
	stops := func(at ...float64) *foldtest.Evidence {
		return changed(openLoop, nil, func(_ int, r *sample.Row, _ *rand.Rand) {
			for _, s := range at {
				if from := start + int64(s*1e9); r.Done > from && r.Sent < from+1e9 {
					r.Done = from + 1e9 + (r.Done-from)/1000
				}
			}
		})
	}
	second := openLoop
	second.Source = "gen2"
	two := changed(openLoop, nil, func(int, *sample.Row, *rand.Rand) {})
	slower := changed(second, nil, func(_ int, r *sample.Row, rng *rand.Rand) { took(r, 90e6*rng.ExpFloat64()) })
	two.Batches = append(two.Batches, slower.Batches...)
	tardy := changed(openLoop, nil, func(int, *sample.Row, *rand.Rand) {})
	behind := changed(second, nil, func(_ int, r *sample.Row, rng *rand.Rand) { // sent late, answered as soon as the others
		r.Sent = min(r.Sent+int64(30e6*rng.Float64()), r.Done)
	})
	tardy.Batches = append(tardy.Batches, behind.Batches...)
	scheduled := func(n float64) *foldtest.Evidence {
		ev := evidence(openLoop, healthy(), nil)
		counters(ev, map[string]float64{"loadtest.arrivals.scheduled": n}, start+60e9)
		return ev
	}
	capped := func() *foldtest.Evidence {
		var rows []sample.Row
		for _, q := range sim.Run(sim.Config{
			StartNS: start, Steps: []sim.Step{{RatePerS: 125, DurationS: 60}}, Arrivals: sim.Constant(),
			Server: sim.Queue(sim.Exponential(), 4)(100), Client: sim.Client{Workers: 5},
		}, rand.New(rand.NewPCG(3, 3))) {
			rows = append(rows, foldtest.Row(q.Intended, q.Sent, q.Done))
		}
		return evidence(openLoop, rows, nil)
	}
	for _, c := range []struct {
		code     string
		severity string
		lo, hi   float64 // of the value
		ev       *foldtest.Evidence
	}{
		{"arrival_process", wire.Info, 6000, 6000, evidence(stated, healthy(), nil)},
		{"no_intended_time", wire.Warn, 6000, 6000, changed(openLoop, nil, func(_ int, r *sample.Row, _ *rand.Rand) { r.Intended = 0 })},
		{"intended_after_sent", wire.Warn, 60, 60, changed(openLoop, nil, func(i int, r *sample.Row, _ *rand.Rand) {
			if i%100 == 0 {
				r.Intended += 2e6
			}
		})},
		{"sampled_spans", wire.Invalid, 6000, 6000, changed(openLoop, nil, func(_ int, r *sample.Row, _ *rand.Rand) { r.Flags |= sample.Sampled })},
		{"outside_steps", wire.Info, 3000, 3000, evidence(openLoop, healthy(), steps(wire.DeclareStep{RatePerS: 100, DurationS: 30}))},
		{"telemetry_lost", wire.Invalid, 0.25, 0.25, scheduled(8000)},
		{"counted_twice", wire.Warn, 1, 1, scheduled(3000)},
		{"late_sends", wire.Warn, 0.05, 0.05, changed(openLoop, nil, func(i int, r *sample.Row, _ *rand.Rand) {
			if i%20 == 0 {
				r.Sent += 20e6
				r.Done += 20e6
			}
		})},
		{"generator_backlog", wire.Invalid, 0.9, 1, changed(openLoop, nil, func(i int, r *sample.Row, rng *rand.Rand) {
			r.Sent = start + int64(i)*11e6
			took(r, 30e6*rng.ExpFloat64())
		})},
		{"worker_cap", wire.Warn, 5, 5, capped()},
		{"declared_open", wire.Warn, 0.5, 1, evidence(openLoop, slow(1), nil)},
		{"closed_loop", wire.Warn, 1000, 1e6, evidence(closedLoop, slow(1), nil)},
		{"closed_loop_slump", wire.Warn, 0.88, 0.92, evidence(closedLoop, slow(10), nil)},
		{"hosts_disagree", wire.Warn, 0.05, 0.07, two},
		{"hosts_disagree", wire.Warn, 0.025, 0.035, tardy},
		{"stall", wire.Warn, 0.9, 1.1, stops(20)},
		{"more_stalls", wire.Info, 2, 2, stops(10, 20, 30, 40, 50)},
		{"generator_exhausted", wire.Invalid, 0.02, 0.02, changed(openLoop, nil, func(i int, r *sample.Row, _ *rand.Rand) {
			if i%50 == 0 {
				r.Outcome, r.Flags, r.Done = sample.Error, sample.LocalLimit, r.Sent+1e5
			}
		})},
		{"generator_tires", wire.Warn, 0.003, 0.004, changed(openLoop, nil, func(i int, r *sample.Row, rng *rand.Rand) {
			r.Sent += int64(4e6 * rng.Float64() * float64(i) / 6000)
			r.Done = max(r.Done, r.Sent)
		})},
		{"cold_start", wire.Info, 2, 3, changed(openLoop, nil, func(i int, r *sample.Row, rng *rand.Rand) {
			if i < 600 {
				took(r, 75e6*rng.ExpFloat64())
			}
		})},
		{"drift", wire.Warn, 0.2, 0.4, changed(openLoop, nil, func(i int, r *sample.Row, rng *rand.Rand) {
			took(r, (30e6+10e6*float64(i)/6000)*(0.8+0.4*rng.Float64()))
		})},
		{"percentile_dependent", wire.Info, 1, 6000, evidence(openLoop, fifo(poisson(100, 0, 60, 4), 7e6, exponential), nil)},
		{"users_feel", wire.Info, 0.64, 0.65, evidence(openLoop, healthy(), nil)},
		{"lossy_step", wire.Fail, 0.05, 0.05, changed(openLoop, nil, func(i int, r *sample.Row, _ *rand.Rand) {
			if i%20 == 0 {
				r.Outcome, r.Status = sample.Error, 500
			}
		})},
		{"shedding_step", wire.Warn, 0.2, 0.2, changed(openLoop, nil, func(i int, r *sample.Row, _ *rand.Rand) {
			if i%5 == 0 {
				r.Outcome, r.Status = sample.Shed, 503
			}
		})},
		{"not_drained", wire.Warn, 500, 700, evidence(openLoop, fifo(append(every(120, 0, 30), every(95, 30, 10)...), 10e6, fixed),
			steps(wire.DeclareStep{RatePerS: 120, DurationS: 30}, wire.DeclareStep{RatePerS: 95, DurationS: 10}))},
		{"paced_arrivals", wire.Info, 90, 130, rising(every)},
		{"next_rate", wire.Info, 60, 130, rising(every)},
	} {
		v := judge(t, c.ev, query.Options{})
		f := finding(v, c.code)
		switch {
		case f == nil:
			t.Errorf("%s: not in %s", c.code, codes(v))
		case f.Severity != c.severity || f.Value == nil || *f.Value < c.lo-1e-9 || *f.Value > c.hi+1e-9:
			t.Errorf("%s: %s %v: %s", c.code, f.Severity, *f.Value, f.Message)
		}
		if f != nil && c.code == "worker_cap" && !strings.Contains(f.Message, "the workers set this load, and at least 7") {
			t.Errorf("%s", f.Message)
		}
		if well := judge(t, evidence(openLoop, healthy(), nil), query.Options{}); c.code != "users_feel" && finding(well, c.code) != nil {
			t.Errorf("%s of a healthy run", c.code)
		}
	}
}

// TestArrivalsAsSeen: that arrivals are paced is seen, whatever was not declared.
func TestArrivalsAsSeen(t *testing.T) {
	t.Parallel()
	random := rising(func(perS, from, seconds float64) []int64 { return poisson(perS, from, seconds, uint64(perS)) })
	if v := judge(t, random, query.Options{}); v.Audit.ArrivalProcess != "poisson" || finding(v, "paced_arrivals") != nil {
		t.Errorf("%s: %s", v.Audit.ArrivalProcess, codes(v))
	}
}

func codes(v *wire.Verdict) (out []string) {
	for _, f := range v.Findings {
		out = append(out, f.Code)
	}
	return out
}

// clockAt is a time after the start of the run.
func clockAt(seconds int64) *time.Time {
	t := time.Unix(0, start+seconds*1e9).UTC()
	return &t
}

// TestDispersedDepartures: where departures come in bunches, the interval of the
// capacity is wider than that of a Poisson stream.
func TestDispersedDepartures(t *testing.T) {
	t.Parallel()
	width := func(law func(rng *rand.Rand) float64) float64 {
		d := &wire.Declaration{ID: "r", Start: clockAt(0)}
		var due []int64
		for i, perS := range []float64{60, 80, 150} {
			d.Steps = append(d.Steps, wire.DeclareStep{RatePerS: perS, DurationS: 60, PauseS: 60})
			due = append(due, every(perS, float64(i)*120, 60)...)
		}
		c := judge(t, evidence(openLoop, fifo(due, 10e6, law), d), query.Options{}).Knee.Capacity
		return (*c.Hi - *c.Lo) / math.Sqrt(*c.Value/60)
	}
	bunched := func(rng *rand.Rand) float64 { // of mean 1 and variance 9
		if rng.IntN(10) == 0 {
			return 5.5 * rng.ExpFloat64()
		}
		return 0.5 * rng.ExpFloat64()
	}
	if one, many := width(exponential), width(bunched); math.Abs(one-4) > 0.01 || many < 6 {
		t.Errorf("widths of 4·√(C/T): %.3g for Poisson departures, %.3g for bunched ones", one/4, many/4)
	}
}

// TestPartAsked: what the generator counted over the whole run is not held against
// a part of it.
func TestPartAsked(t *testing.T) {
	t.Parallel()
	ev := evidence(openLoop, steady(12_000, 10e6, 5e6), nil)
	counters(ev, map[string]float64{"loadtest.arrivals.scheduled": 12_600, "loadtest.arrivals.dropped": 600}, start+120e9)
	if f := finding(judge(t, ev, query.Options{To: clockAt(60)}), "telemetry_lost"); f != nil {
		t.Error(f.Message)
	}
}
