package fold_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/stability"
)

const start = int64(1_796_000_000_000_000_000)

func build(t testing.TB, ev fold.Evidence, opt query.Options) *fold.State {
	t.Helper()
	st, err := fold.Build(t.Context(), ev, opt)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// constant is n answered requests due every gap, each taking what took says.
func constant(n int, gap int64, took func(i int) int64) []sample.Row {
	rows := make([]sample.Row, n)
	for i := range rows {
		due := start + int64(i)*gap
		rows[i] = foldtest.Row(due, due, due+took(i))
	}
	return rows
}

func finished(rows []sample.Row) *foldtest.Evidence {
	return &foldtest.Evidence{
		Of:      fold.Run{ID: "r", Finished: true},
		Batches: foldtest.Batches(sample.Group{Source: "gen", Model: sample.Open}, rows, 100),
	}
}

func TestConstantLoad(t *testing.T) {
	t.Parallel()
	st := build(t, finished(constant(1000, 10e6, func(int) int64 { return 25e6 })), query.Options{})
	s := st.Steps[0]
	if got, want := s.To-s.From, int64(10e9); got != want {
		t.Errorf("duration: got %d, want %d", got, want)
	}
	if s.Rows != 1000 || s.OpenAtEnd != 2 || s.AtEnd != 2 {
		t.Errorf("rows %d, open %d, at end %d; want 1000, 2, 2", s.Rows, s.OpenAtEnd, s.AtEnd)
	}
	// 1000 stays of 25 ms, less what the last three have beyond the end.
	if got, want := s.InFlight.Seconds(), 1000*0.025-0.015-0.005; got != want {
		t.Errorf("integral: got %v, want %v", got, want)
	}
	if st.Grade != fold.GradeA {
		t.Errorf("grade %v", st.Grade)
	}
}

func TestWindowAgreesWithPath(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(40, 400).Draw(rt, "n")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		rows := constant(n, 10e6, func(int) int64 { return int64(rng.ExpFloat64() * 60e6) })
		st := build(t, finished(rows), query.Options{})
		var a, d []int64
		for _, r := range rows {
			a, d = append(a, r.Intended), append(d, r.Done)
		}
		slices.Sort(d)
		s := st.Steps[0]
		want := stability.FromPath(a, d, s.JudgedFrom, s.To)
		for i := range want.Spans {
			x, y := &s.Window.Spans[i], &want.Spans[i]
			if x.DurationNS != y.DurationNS || x.Arrivals != y.Arrivals || x.Departures != y.Departures || x.IntegralNS != y.IntegralNS {
				rt.Fatalf("span %d: %+v, want %+v", i, x, y)
			}
		}
	})
}

func TestOrderAndPartitionDoNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 2))
		rows := retried(rng, 300)
		g := sample.Group{Source: "gen", Model: sample.Open, Deadline: 100e6}
		one := &foldtest.Evidence{Of: fold.Run{ID: "r", Finished: true}, Batches: foldtest.Batches(g, rows, 1000)}
		want := build(t, one, query.Options{})
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		cut := &foldtest.Evidence{Of: one.Of, Batches: foldtest.Batches(g, rows, 1+rng.IntN(50))}
		got := build(t, cut, query.Options{})
		opt := cmp.AllowUnexported(fold.Sum{}, stability.Occupancy{})
		for i := range want.Steps {
			x, y := *got.Steps[i], *want.Steps[i]
			if d := cmp.Diff(y.Window, x.Window, opt); d != "" {
				rt.Fatalf("window: %s", d)
			}
			if x.Rows != y.Rows || x.Outcomes != y.Outcomes || x.Good != y.Good || x.Ended != y.Ended || x.Retries != y.Retries ||
				x.InFlight != y.InFlight || x.Exact != y.Exact || x.CarriedIn != y.CarriedIn || x.OpenAtEnd != y.OpenAtEnd {
				rt.Fatalf("step: %+v\nwant %+v", x, y)
			}
		}
		if got.Requests != want.Requests || got.Requests >= got.Rows {
			rt.Fatalf("requests %d, want %d of %d rows", got.Requests, want.Requests, want.Rows)
		}
	})
}

// retried is n requests of which a third takes several attempts.
func retried(rng *rand.Rand, n int) []sample.Row {
	var rows []sample.Row
	for i := range n {
		due := start + int64(i)*10e6
		at := due
		for k := range 1 + rng.IntN(3) {
			took := int64(rng.ExpFloat64() * 40e6)
			r := foldtest.Row(due, at, at+took)
			r.Key, r.Attempt = uint64(i+1), uint16(k)
			if k == 0 && rng.IntN(5) == 0 {
				r.Outcome = sample.Timeout
			}
			rows = append(rows, r)
			at += took + int64(rng.IntN(20e6))
		}
	}
	return rows
}

// balanced checks that the balance line of a step adds up.
func balanced(t testing.TB, st *fold.State) {
	t.Helper()
	for _, s := range append(slices.Clone(st.Steps), st.Totals) {
		var ended int64
		for _, n := range s.Ended {
			ended += n
		}
		if s.Rows+s.CarriedIn != ended+s.OpenAtEnd {
			t.Errorf("step %d: %d due + %d carried in, but %d ended + %d open", s.Index, s.Rows, s.CarriedIn, ended, s.OpenAtEnd)
		}
		if s.AtEnd != s.OpenAtEnd {
			t.Errorf("step %d: path ends at %d, %d open", s.Index, s.AtEnd, s.OpenAtEnd)
		}
		l := s.Exact
		if l.Integral.Seconds() == 0 {
			continue
		}
		rhs := l.Wait.Seconds() + l.CarryIn.Seconds() - l.CarryOut.Seconds()
		if r := (l.Integral.Seconds() - rhs) / l.Integral.Seconds(); r > 1e-9 || r < -1e-9 {
			t.Errorf("step %d: Little residual %g", s.Index, r)
		}
	}
}

func TestBalance(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 3))
		ev := finished(retried(rng, 200))
		ev.Of.Declaration = steps(rng)
		balanced(t, build(t, ev, query.Options{}))
	})
}

// TestOneRequestTriedTwice: the attempts of a run's only request begin apart, and
// no gap between requests follows from that.
func TestOneRequestTriedTwice(t *testing.T) {
	t.Parallel()
	st := build(t, finished([]sample.Row{
		{Sent: start, Done: start + 1e9, Index: sample.NoIndex, Key: 7, Outcome: sample.Error},
		{Sent: start + 2e9, Done: start + 3e9, Index: sample.NoIndex, Key: 7, Attempt: 1},
	}), query.Options{})
	if st.Requests != 1 || st.Totals.Retries != 1 {
		t.Errorf("%d requests, %d retries; want 1 and 1", st.Requests, st.Totals.Retries)
	}
}
