package littleslaw_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll/plimsoll/analysis/littleslaw"
	"github.com/plimsoll/plimsoll/analysis/sim"
	"github.com/plimsoll/plimsoll/analysis/stability"
)

// sums cuts [from, to) out of a simulated run, with the integral from the step
// function, which is computed apart.
func sums(requests []sim.Request, from, to int64) littleslaw.Sums {
	var stays []littleslaw.Stay
	for _, q := range requests {
		stays = append(stays, littleslaw.Stay{From: q.Intended, To: q.Done})
	}
	s := littleslaw.SumsOf(stays, from, to)
	a, d := sim.Paths(requests)
	w := stability.FromPath(a, d, from, to)
	s.IntegralNS = 0
	for i := range w.Spans {
		s.IntegralNS += w.Spans[i].IntegralNS
	}
	return s
}

func TestExactFormHoldsOnAnyPath(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "n")
		var requests []sim.Request
		for range n {
			from := rapid.Int64Range(0, 1000).Draw(t, "from")
			requests = append(requests, sim.Request{Intended: from, Done: from + rapid.Int64Range(0, 1500).Draw(t, "stay")})
		}
		from := rapid.Int64Range(0, 900).Draw(t, "window")
		to := from + rapid.Int64Range(1, 1500).Draw(t, "length")
		s := sums(requests, from, to)
		if s.WaitNS+s.CarryInNS-s.CarryOutNS != s.IntegralNS {
			t.Fatalf("not an identity: %+v", s)
		}
		if r := littleslaw.Check(s, littleslaw.Count{}, littleslaw.Load{}); !r.OK || r.Exact > 1e-12 || r.Independent {
			t.Fatalf("%+v", r)
		}
	})
}

// TestOverload is bar 13: in overload the plain form is off by ρ − 1, while the
// corrected form agrees.
func TestOverload(t *testing.T) {
	t.Parallel()
	for _, rho := range []float64{1.1, 1.25, 2} {
		var gap float64
		const runs = 20
		for i := range runs {
			rng := rand.New(rand.NewPCG(uint64(i), 11))
			requests := sim.Grid()[1].Run(100, rho, 60, rng)
			r := littleslaw.Check(sums(requests, 0, 60e9), littleslaw.Count{}, littleslaw.Load{})
			if r.Exact > 1e-12 || !r.OK {
				t.Errorf("rho %v: exact residual %v", rho, r.Exact)
			}
			gap += r.PlainGap / runs
		}
		if math.Abs(gap-(rho-1)) > 0.03*rho {
			t.Errorf("plain gap %v at rho %v, want %v", gap, rho, rho-1)
		}
	}
}

// TestPlainToleranceIsHonest uses systems of several servers: the relative
// standard deviation of the gap is about W/T there, and more for a single one or
// where service varies much.
func TestPlainToleranceIsHonest(t *testing.T) {
	t.Parallel()
	outside, windows := 0, 0
	for _, system := range sim.Grid()[1:4] {
		for i := range 12 {
			rng := rand.New(rand.NewPCG(uint64(i), 12))
			requests := system.Run(100, 0.8, 66, rng)
			r := littleslaw.Check(sums(requests, 6e9, 66e9), littleslaw.Count{}, littleslaw.Load{})
			if r.Exact > 1e-12 {
				t.Errorf("%s: exact residual %v", system.Name, r.Exact)
			}
			windows++
			if math.Abs(r.PlainGap) > r.PlainTolerance {
				outside++
			}
		}
	}
	if outside*20 > windows {
		t.Errorf("%d of %d steady windows lie outside the plain tolerance", outside, windows)
	}
}

// level makes sums whose corrected form is n in flight over a minute.
func level(n float64) littleslaw.Sums {
	ns := int64(n * 60e9)
	return littleslaw.Sums{WindowNS: 60e9, Arrivals: 6000, WaitNS: ns, IntegralNS: ns}
}

func TestIndependentCount(t *testing.T) {
	t.Parallel()
	integral := func(mean float64) littleslaw.Count {
		return littleslaw.Count{Source: littleslaw.Integral, Mean: mean}
	}
	check := func(s littleslaw.Sums, c littleslaw.Count, l littleslaw.Load, ok bool, words string) {
		t.Helper()
		r := littleslaw.Check(s, c, l)
		if r.OK != ok || !r.Independent || !strings.Contains(r.Note, words) {
			t.Errorf("%v against %v: ok %v, note %q, want %v with %q", r.Counted, r.Corrected, r.OK, r.Note, ok, words)
		}
	}
	// Little's law expects 15, 40 were counted: the records miss requests.
	check(level(15), integral(40), littleslaw.Load{}, false, "records are missing")
	check(level(40), integral(15), littleslaw.Load{}, false, "counted twice")
	// 64 closed users: 63.38 against 63.40 agree, as the design makes them.
	check(level(63.38), integral(63.40), littleslaw.Load{Closed: true, Users: 64}, true, "in flight is fixed by the load design (at most 64)")
	check(level(100), integral(100.1), littleslaw.Load{}, true, "in_flight_time")
	check(level(100), integral(100.3), littleslaw.Load{}, false, "")
	// Several counters are read between their exports.
	several := littleslaw.Count{Source: littleslaw.Integral, Mean: 100.8, Sources: 4}
	check(level(100), several, littleslaw.Load{}, true, "")
	several.Mean = 102
	check(level(100), several, littleslaw.Load{}, false, "")
	// Waits of 1 ms are stamped to 0.05 ms.
	check(level(0.1), integral(0.104), littleslaw.Load{}, true, "")
	check(level(0.1), integral(0.12), littleslaw.Load{}, false, "")
	check(level(0), integral(0), littleslaw.Load{}, true, "")
	check(level(0), integral(3), littleslaw.Load{}, false, "missing")
}

func TestEdges(t *testing.T) {
	t.Parallel()
	if r := littleslaw.Check(littleslaw.Sums{}, littleslaw.Count{}, littleslaw.Load{}); r.OK || r.Note == "" {
		t.Errorf("an empty window passes: %+v", r)
	}
	s := level(10)
	s.IntegralNS = -1
	if r := littleslaw.Check(s, littleslaw.Count{}, littleslaw.Load{}); !math.IsNaN(r.Exact) || !r.OK {
		t.Errorf("without an integral: %+v", r)
	}
	s.IntegralNS = 11 * 60e9
	s.Open = 2
	r := littleslaw.Check(s, littleslaw.Count{}, littleslaw.Load{})
	if r.OK || r.Exact < 0.09 || !strings.Contains(r.Note, "do not add up") || !strings.Contains(r.Note, "2 requests") {
		t.Errorf("a broken record passes: %+v", r)
	}
	for i, want := range []string{"none", "in_flight_time"} {
		if got := littleslaw.Source(i).String(); got != want {
			t.Errorf("source %d is %q", i, got)
		}
	}
}
