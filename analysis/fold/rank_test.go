package fold_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/stability"
)

// plan declares paced steps, or ramps, with or without pauses.
func plan(rng *rand.Rand) *wire.Declaration {
	d := &wire.Declaration{Arrival: &wire.Arrival{Model: "open", Process: "constant"}}
	for range 1 + rng.IntN(3) {
		s := wire.DeclareStep{RatePerS: float64(20 * (1 + rng.IntN(10))), DurationS: float64(2 + rng.IntN(3)), PauseS: float64(rng.IntN(2))}
		if rng.IntN(3) == 0 {
			to := float64(20 * (1 + rng.IntN(10)))
			s.ToRate = &to
		}
		d.Steps = append(d.Steps, s)
	}
	return d
}

// late are the requests of a plan, sent by a generator that lags behind while its
// workers are taken, and catches up.
func late(rng *rand.Rand, d *wire.Declaration, share, at int) []sample.Row {
	due := fold.DeclaredSchedule(d.Steps)
	total := due.Count(0, due.Length())
	workers := make([]int64, 1+rng.IntN(8))
	stall := start + rng.Int64N(due.Length())
	var rows []sample.Row
	for i := int64(at); i < total; i += int64(share) {
		when := start + due.Offset(i)
		w := slices.Index(workers, slices.Min(workers))
		sent := when
		if len(rows) > 0 {
			sent = max(when, workers[w])
		}
		took := int64(rng.ExpFloat64() * 5e6)
		if sent < stall && sent+took > stall || sent >= stall && sent < stall+1e9 {
			took = stall + 1e9 - sent + rng.Int64N(1e6) // no two sends at once: which was which is not known
		}
		workers[w] = sent + took
		r := foldtest.Row(when, sent, sent+took)
		if rng.IntN(9) == 0 {
			r.Outcome = sample.Error
		}
		rows = append(rows, r)
	}
	return rows
}

// again has every request that failed tried once more.
func again(rows []sample.Row) []sample.Row {
	var out []sample.Row
	for i, r := range rows {
		r.Key = uint64(i + 1)
		out = append(out, r)
		if r.Outcome == sample.Error {
			r.Attempt, r.Sent, r.Done, r.Outcome = 1, r.Done+1e6, r.Done+5e6, sample.OK
			out = append(out, r)
		}
	}
	return out
}

// bare takes from rows what says when they were due, and shuffles them.
func bare(rng *rand.Rand, rows []sample.Row) []sample.Row {
	out := slices.Clone(rows)
	for i := range out {
		out[i].Intended = 0
	}
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func declared(d *wire.Declaration, batches ...[]*sample.Batch) *foldtest.Evidence {
	return &foldtest.Evidence{Of: fold.Run{ID: "r", Finished: true, Declaration: d}, Batches: slices.Concat(batches...)}
}

// sameTimes compares what was measured of the requests of two states.
func sameTimes(t interface{ Errorf(string, ...any) }, got, want *fold.State) {
	for i, w := range append(slices.Clone(want.Steps), want.Totals) {
		g := append(slices.Clone(got.Steps), got.Totals)[i]
		if g.Rows != w.Rows || g.Outcomes != w.Outcomes || g.Ended != w.Ended || g.LateSends != w.LateSends || g.InFlight != w.InFlight {
			t.Errorf("step %d: %d rows, %v, %d late; want %d, %v, %d", w.Index, g.Rows, g.Outcomes, g.LateSends, w.Rows, w.Outcomes, w.LateSends)
		}
		for _, q := range []float64{0.5, 0.99, 1} {
			if x, y := at(g, q), at(w, q); x != y {
				t.Errorf("step %d: response time at %g is %v, want %v", w.Index, q, x, y)
			}
		}
		if d := cmp.Diff(w.Window, g.Window, cmp.AllowUnexported(fold.Sum{}, stability.Occupancy{})); d != "" {
			t.Errorf("step %d: window: %s", w.Index, d)
		}
	}
}

// at is the response time at a quantile.
func at(s *fold.Step, q float64) int64 {
	h := s.Response.Exact
	return h.ValueAtRank(uint64(q * float64(h.Count())))
}

// TestRanksAreTheSchedule takes the due times from the rows of a generator that
// lagged and caught up: the declared schedule gives all of them back.
func TestRanksAreTheSchedule(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 7))
		d := plan(rng)
		g := sample.Group{Source: "gen"}
		rows := late(rng, d, 1, 0)
		arrivals := len(rows)
		if rng.IntN(2) == 0 {
			rows = again(rows)
		}
		want := build(t, declared(d, foldtest.Batches(g, rows, 1000)), query.Options{})
		got := build(t, declared(d, foldtest.Batches(g, bare(rng, rows), 1+rng.IntN(300))), query.Options{})
		if got.Grade != fold.GradeB || got.Ranks == nil || got.Ranks.Numbered != int64(arrivals) {
			rt.Fatalf("grade %v, ranks %+v", got.Grade, got.Ranks)
		}
		sameTimes(rt, got, want)
	})
}

// TestRanksOfHosts has two hosts send every second arrival each.
func TestRanksOfHosts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 8))
		d := &wire.Declaration{Steps: []wire.DeclareStep{{RatePerS: 100, DurationS: 6}}}
		a, b := late(rng, d, 2, 0), late(rng, d, 2, 1)
		hosts := func(a, b []sample.Row) *fold.State {
			return build(t, declared(d, foldtest.Batches(sample.Group{Source: "a"}, a, 70), foldtest.Batches(sample.Group{Source: "b"}, b, 90)), query.Options{})
		}
		got := hosts(bare(rng, a), bare(rng, b))
		if got.Grade != fold.GradeB {
			rt.Fatalf("grade %v, ranks %+v", got.Grade, got.Ranks)
		}
		sameTimes(rt, got, hosts(a, b))
	})
}

// TestRanksOfCoarseClocks has many requests sent in one millisecond.
func TestRanksOfCoarseClocks(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 9))
	d := &wire.Declaration{Steps: []wire.DeclareStep{{RatePerS: 3000, DurationS: 4}}}
	rows := late(rng, d, 1, 0)
	for i := range rows {
		rows[i].Sent -= rows[i].Sent % 1e6
		rows[i].Done -= rows[i].Done % 1e6
		rows[i].Intended = min(rows[i].Intended, rows[i].Sent)
	}
	g := sample.Group{Source: "gen"}
	want := build(t, declared(d, foldtest.Batches(g, rows, 1000)), query.Options{})
	for range 3 {
		got := build(t, declared(d, foldtest.Batches(g, bare(rng, rows), 1000)), query.Options{})
		for _, q := range []float64{0.5, 0.99, 1} {
			x, y := at(got.Totals, q), at(want.Totals, q)
			if d := float64(x - y); d > 1.1e6+float64(y)/1000 || d < -1.1e6-float64(y)/1000 {
				t.Errorf("response time at %g is %v, want %v within a millisecond and a bucket", q, x, y)
			}
		}
		if got.Grade != fold.GradeB {
			t.Errorf("grade %v", got.Grade)
		}
	}
}

// TestDroppedArrivalsAreNoLateness has a generator leave arrivals out, as one
// does that has no worker free: nothing that was sent may be called late.
func TestDroppedArrivalsAreNoLateness(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 10))
		d := plan(rng)
		due := fold.DeclaredSchedule(d.Steps)
		var rows []sample.Row
		lost := 0
		for i := range due.Count(0, due.Length()) {
			if i > 0 && lost < 10 && rng.IntN(20) == 0 {
				lost++
				continue
			}
			at := start + due.Offset(i) + int64(rng.ExpFloat64()*50e3)
			rows = append(rows, sample.Row{Sent: at, Done: at + 3e6, Index: sample.NoIndex})
			if lost > 0 && rng.IntN(4) == 0 {
				lost = 10 // and the rest comes through
			}
		}
		st := build(t, declared(d, foldtest.Batches(sample.Group{Source: "gen"}, bare(rng, rows), 100)), query.Options{})
		if st.Totals.LateSends > 0 || st.EarlyIntended > 0 {
			rt.Fatalf("%d late, %d early; ranks %+v", st.Totals.LateSends, st.EarlyIntended, st.Ranks)
		}
	})
}

// TestRanksAtEdges has a generator make one arrival more or less of a step than
// its plan.
func TestRanksAtEdges(t *testing.T) {
	t.Parallel()
	d := &wire.Declaration{Steps: []wire.DeclareStep{{RatePerS: 100, DurationS: 2}, {RatePerS: 300, DurationS: 2}, {RatePerS: 50, DurationS: 2}}}
	for name, more := range map[string]int{"one less": -1, "as planned": 0, "one more": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var rows []sample.Row
			at := start
			for _, s := range d.Steps {
				for i := range int(s.RatePerS*s.DurationS) + more {
					sent := at + int64(float64(i)/s.RatePerS*1e9)
					rows = append(rows, sample.Row{Sent: sent, Done: sent + 2e6, Index: sample.NoIndex})
				}
				at += int64(s.DurationS * 1e9)
			}
			st := build(t, declared(d, foldtest.Batches(sample.Group{Source: "gen"}, rows, 100)), query.Options{})
			if st.Grade != fold.GradeB || st.Totals.LateSends > 0 {
				t.Errorf("grade %v, %d late, ranks %+v", st.Grade, st.Totals.LateSends, st.Ranks)
			}
		})
	}
}

// TestNoRanks has what the order of sends says nothing of.
func TestNoRanks(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 11))
	d := func(process string) *wire.Declaration {
		return &wire.Declaration{Steps: []wire.DeclareStep{{RatePerS: 100, DurationS: 20}}, Arrival: &wire.Arrival{Process: process}}
	}
	rows := late(rng, d("constant"), 1, 0)
	random := slices.Clone(rows)
	at := start
	for i := range random {
		random[i].Sent, random[i].Done = at, at+4e6
		at += int64(rng.ExpFloat64() * 10e6)
	}
	cases := map[string]struct {
		d    *wire.Declaration
		g    sample.Group
		rows []sample.Row
		why  bool
	}{
		"Poisson arrivals, declared":     {d("poisson"), sample.Group{}, rows, false},
		"Poisson arrivals, not declared": {d("constant"), sample.Group{}, random, true},
		"a closed loop":                  {d("constant"), sample.Group{Model: sample.Closed}, rows, false},
		"another rate":                   {&wire.Declaration{Steps: []wire.DeclareStep{{RatePerS: 90, DurationS: 20}}}, sample.Group{}, rows, true},
		"cut while behind":               {d("constant"), sample.Group{}, stuck(rows), true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(5, 12))
			st := build(t, declared(c.d, foldtest.Batches(c.g, bare(rng, c.rows), 100)), query.Options{})
			if st.Grade != fold.GradeS || c.why != (st.Ranks != nil && st.Ranks.Why != "") {
				t.Errorf("grade %v, ranks %+v", st.Grade, st.Ranks)
			}
		})
	}
}

// ticks are n sends at a rate from a time on, with a timer's jitter.
func ticks(rng *rand.Rand, from int64, rate float64, n int, jitter float64) []sample.Row {
	out := make([]sample.Row, n)
	for i := range out {
		at := from + int64(float64(i)/rate*1e9) + int64(rng.ExpFloat64()*jitter)
		out[i] = sample.Row{Sent: at, Done: at + 3e6, Index: sample.NoIndex}
	}
	return out
}

// TestNobodyIsAccused has generators that sent what they sent in time, though it
// is not what was declared, or not when.
func TestNobodyIsAccused(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(6, 1))
	steady := &wire.Declaration{Steps: []wire.DeclareStep{{RatePerS: 100, DurationS: 60}}}
	slow := &wire.Declaration{Steps: []wire.DeclareStep{{RatePerS: 10, DurationS: 60}}}
	fast := &wire.Declaration{Steps: []wire.DeclareStep{{RatePerS: 10, DurationS: 60}, {RatePerS: 2000, DurationS: 10}}}
	const usual = 50e3
	without := func(rows []sample.Row, lost ...int) []sample.Row {
		for i := range lost {
			rows = slices.Delete(rows, lost[i]-i, lost[i]-i+1)
		}
		return rows
	}
	for name, c := range map[string]struct {
		d    *wire.Declaration
		rows []sample.Row
	}{
		"one dropped, and one more at the end": {steady, without(ticks(rng, start, 100, 6001, usual), 3)},
		"ticks dropped for 10 s, then on to the number": {
			steady, append(ticks(rng, start, 100, 2000, usual), ticks(rng, start+30e9, 100, 4000, usual)...),
		},
		"a warm-up 30 s before":            {steady, append(ticks(rng, start-30e9, 1, 1, 0), ticks(rng, start, 100, 6000, usual)...)},
		"five warm-ups, five dropped":      {steady, append(ticks(rng, start-30e9, 1, 5, 0), ticks(rng, start, 100, 5995, usual)...)},
		"0.1 % slow, to the number":        {steady, ticks(rng, start, 99.9, 6000, usual)},
		"0.1 % slow, to the time":          {steady, ticks(rng, start, 99.9, 5994, usual)},
		"1 % slow, to the number":          {steady, ticks(rng, start, 99, 6000, usual)},
		"a slow clock":                     {slow, ticks(rng, start, 10*(1-200e-6), 600, usual)},
		"a loose timer":                    {slow, ticks(rng, start, 10, 600, 20e6)},
		"one dropped while slow":           {fast, append(without(ticks(rng, start, 10, 600, usual), 300), ticks(rng, start+60e9, 2000, 20_000, usual)...)},
		"first late and second dropped":    {slow, without(append([]sample.Row{{Sent: start + 30e6, Done: start + 33e6, Index: sample.NoIndex}}, ticks(rng, start+100e6, 10, 599, usual)...), 1)},
		"three quarters of a gap too late": {slow, append([]sample.Row{{Sent: start - 75e6, Done: start - 70e6, Index: sample.NoIndex}}, ticks(rng, start+100e6, 10, 599, usual)...)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(6, 2))
			st := build(t, declared(c.d, foldtest.Batches(sample.Group{Source: "gen"}, bare(rng, c.rows), 500)), query.Options{})
			if late := st.Totals.LateSends; late > int64(len(c.rows)/1000) {
				t.Errorf("%d late of %d; grade %v, ranks %+v", late, len(c.rows), st.Grade, st.Ranks)
			}
		})
	}
}

// stuck sends half of the rows a second late and the rest not at all.
func stuck(rows []sample.Row) []sample.Row {
	out := slices.Clone(rows[:len(rows)/2])
	for i := range out {
		if i > len(out)/2 {
			out[i].Sent, out[i].Done = out[i].Intended+1e9, out[i].Intended+1e9+1e6
		}
	}
	return out
}
