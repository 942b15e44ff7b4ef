package counts_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll/plimsoll/analysis/counts"
	"github.com/plimsoll/plimsoll/analysis/sim"
	"github.com/plimsoll/plimsoll/analysis/stability"
)

// plain is an input of equal intervals.
func plain(n int, s int64, each func(i int, v *counts.Interval)) counts.Input {
	nan := math.NaN()
	in := counts.Input{Generator: "k6", From: 0}
	for i := range n {
		v := counts.Interval{To: int64(i+1) * s * 1e9, InFlight: nan, Limit: nan, Started: nan}
		each(i, &v)
		in.Intervals = append(in.Intervals, v)
	}
	return in
}

// TestNonsense: whatever counts say, the answer is finite and has a reason.
func TestNonsense(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Just(0.0), rapid.Just(math.NaN()), rapid.Float64Range(0, 1e6))
		count := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 1e6))
		in := plain(rapid.IntRange(0, 30).Draw(t, "n"), rapid.Int64Range(1, 60).Draw(t, "s"), func(_ int, v *counts.Interval) {
			v.Ended, v.Dropped = math.Floor(count.Draw(t, "ended")), math.Floor(count.Draw(t, "dropped"))
			v.ServiceS, v.InFlight, v.Limit = number.Draw(t, "service"), number.Draw(t, "gauge"), number.Draw(t, "limit")
		})
		in.Rate = counts.Rate{PerS: count.Draw(t, "rate"), Paced: rapid.Bool().Draw(t, "paced")}
		r := counts.Judge(in)
		for _, v := range []float64{r.G, r.E, r.Z, r.S2, r.NeedS, r.Offered, r.Mean, r.Omission} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("%+v", r)
			}
		}
		if r.Reason == "" || r.State == stability.Stable && r.Omission > 0.01 {
			t.Fatalf("%+v", r)
		}
	})
}

// TestClosedAndAllocated: workers that are all busy throughout are a closed loop;
// as many that are mostly idle are a gauge of allocated ones.
func TestClosedAndAllocated(t *testing.T) {
	t.Parallel()
	run := func(service float64) counts.Input {
		return plain(10, 10, func(_ int, v *counts.Interval) {
			v.Ended, v.ServiceS, v.InFlight, v.Limit = 1000, service, 20, 20
		})
	}
	if r := counts.Judge(run(200)); r.Loop != counts.LoopClosed || r.State != stability.Inconclusive {
		t.Errorf("busy: %+v", r)
	}
	r := counts.Judge(run(40))
	if r.Loop == counts.LoopClosed || !slices.Contains(r.Warnings, counts.WarnAllocated) || r.State != stability.Inconclusive {
		t.Errorf("idle: %+v", r)
	}
	in := run(40)
	in.Rate = counts.Rate{PerS: 100, Paced: true}
	if r := counts.Judge(in); r.State != stability.Stable || r.Path != counts.PathPace {
		t.Errorf("idle, declared: %+v", r)
	}
}

// TestPacedLightLoad: 80/s paced on a fast service shows three in flight at every
// look; workers that have nothing to do tell it from a closed loop of three.
func TestPacedLightLoad(t *testing.T) {
	t.Parallel()
	run := func(limit float64) counts.Result {
		return counts.Judge(plain(30, 1, func(_ int, v *counts.Interval) {
			v.Ended, v.ServiceS, v.InFlight, v.Limit = 80, 3.2, 3, limit
		}))
	}
	if r := run(50); r.Loop == counts.LoopClosed || r.State != stability.Stable {
		t.Errorf("50 workers: %+v", r)
	}
	if r := run(3); r.Loop != counts.LoopClosed {
		t.Errorf("3 workers: %+v", r)
	}
}

// TestNoGauge: growth can be seen by Little's law alone, its absence cannot.
func TestNoGauge(t *testing.T) {
	t.Parallel()
	grow := func(by float64) counts.Result {
		return counts.Judge(plain(12, 10, func(i int, v *counts.Interval) {
			v.Ended, v.ServiceS = 1000, 100+1000*by*float64(i)
		}))
	}
	if r := grow(0); r.State != stability.Inconclusive || r.Path != counts.PathLittle || !slices.Contains(r.Warnings, counts.WarnNoGauge) {
		t.Errorf("level: %+v", r)
	}
	if r := grow(5); r.State == stability.Stable || r.G < 1.9 {
		t.Errorf("growing: %+v", r)
	}
}

func TestRates(t *testing.T) {
	t.Parallel()
	in := plain(25, 1, func(_ int, v *counts.Interval) { v.Ended, v.ServiceS, v.InFlight = 10, 20, 20 })
	got := counts.Rates(in)
	if len(got) != 2 || got[0].To != 10e9 || got[1].To != 25e9 || math.Abs(got[0].Ended-10) > 1e-9 || math.Abs(got[0].Offered-12) > 1e-9 {
		t.Errorf("%+v", got)
	}
	long := plain(7, 10, func(_ int, v *counts.Interval) { v.Ended = 10 })
	if got := counts.Rates(long); len(got) != 2 || got[0].To != 30e9 || got[1].To != 70e9 {
		t.Errorf("%+v", got)
	}
	if got := counts.Rates(long.Between(0, 20e9)); got != nil {
		t.Errorf("two intervals: %+v", got)
	}
}

func TestBetween(t *testing.T) {
	t.Parallel()
	in := plain(12, 10, func(i int, v *counts.Interval) { v.Ended = float64(i) })
	got := in.Between(19.5e9, 61e9)
	if got.From != 20e9 || len(got.Intervals) != 4 || got.Intervals[0].Ended != 2 {
		t.Errorf("%+v", got)
	}
	if got := in.Between(21.6e9, 28e9); len(got.Intervals) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestReasons: the sentence carries the numbers that decided.
func TestReasons(t *testing.T) {
	t.Parallel()
	s := set{lambda: 100, seconds: 60, exports: exporter{intervalS: 10}, arrivals: sim.Constant(), rate: counts.Rate{PerS: 100}}
	check := func(rho float64, state stability.State, words string) {
		t.Helper()
		if r := s.judge(laws()[1], rho, 5); r.State != state || !strings.Contains(r.Reason, words) || (r.NeedS > 0) != (state == stability.Inconclusive) {
			t.Errorf("rho %v: %s, %s, needs %v s", rho, r.State, r.Reason, r.NeedS)
		}
	}
	check(0.7, stability.Stable, "in flight stays calm")
	check(1.25, stability.Unstable, "went from")
	s.room = 0.5
	r := s.judge(laws()[1], 1.25, 5)
	if r.State != stability.Inconclusive || !strings.Contains(r.Reason, "limited by maxVUs: 66 workers get through") || r.NeedS != 0 ||
		len(r.Advice) == 0 || !strings.HasPrefix(r.Advice[0], "set maxVUs to ") {
		t.Errorf("capped: %s, %s, %q", r.State, r.Reason, r.Advice)
	}
}
