package knee_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll/plimsoll/analysis/knee"
	"github.com/plimsoll/plimsoll/analysis/sim"
	"github.com/plimsoll/plimsoll/internal/bars"
)

// climb counts what a system of 100/s completes per second of a ramp.
func climb(s sim.System, from, to, seconds float64, seed uint64) []knee.Count {
	out := make([]knee.Count, int(seconds))
	for i := range out {
		out[i].Seconds = 1
	}
	for _, q := range sim.Run(sim.Config{
		Steps:    []sim.Step{{RatePerS: from, ToRate: to, DurationS: seconds}},
		Arrivals: s.Arrivals, Server: s.Server(100),
	}, rand.New(rand.NewPCG(seed, 41))) {
		if i := int(q.Done / 1e9); i < len(out) {
			out[i].Completed++
		}
	}
	return out
}

func TestRampOfFixedService(t *testing.T) {
	t.Parallel()
	paced := sim.NewSystem("four slots of 40 ms", true, sim.Constant(), sim.Queue(sim.Fixed(), 4))
	for _, seconds := range []float64{60, 120, 300} {
		c, ok := knee.Ramp(climb(paced, 50, 150, seconds, 1))
		if !ok || c.AtLeast < 95 || c.AtLeast > 100 || c.Rate > 100.5 || c.Seconds < max(10, seconds/4) {
			t.Errorf("%v s: %+v", seconds, c)
		}
	}
	// A ramp that the service carried to its end says about its highest rate.
	c, ok := knee.Ramp(climb(paced, 20, 80, 120, 1))
	if !ok || c.AtLeast < 60 || c.AtLeast > 80 {
		t.Errorf("carried: %+v", c)
	}
}

func TestRampOfNothing(t *testing.T) {
	t.Parallel()
	for _, counts := range [][]knee.Count{nil, {{1, 5}}, make([]knee.Count, 60), {{30, 10}, {30, 10}}} {
		if c, ok := knee.Ramp(counts); ok {
			t.Errorf("%d counts: %+v", len(counts), c)
		}
	}
}

// TestRampScales: twice as long seconds are half the rate.
func TestRampScales(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(20, 3000).Draw(t, "counts")
		a, b := make([]knee.Count, n), make([]knee.Count, n)
		highest := 0.0
		for i := range a {
			k := rapid.Float64Range(0, 500).Draw(t, "completed")
			highest = max(highest, k)
			a[i], b[i] = knee.Count{Seconds: 5, Completed: k}, knee.Count{Seconds: 10, Completed: k}
		}
		x, ok := knee.Ramp(a)
		y, also := knee.Ramp(b)
		if ok != also || math.Abs(x.AtLeast-2*y.AtLeast) > 1e-9*x.AtLeast || x.AtLeast > highest/5 || x.AtLeast > x.Rate {
			t.Fatalf("%+v, %+v", x, y)
		}
	})
}

// TestBarsRamp measures how often the bound of a ramp from 50 to 150/s on a
// capacity of 100/s holds. Processor sharing of uneven work is left out: in
// overload it completes small requests first, and more of them than it could for
// ever.
func TestBarsRamp(t *testing.T) {
	t.Parallel()
	reps, slack := 3, 8.0
	if *fullBars {
		reps, slack = 60, 0
	}
	for _, seconds := range []float64{60, 120, 300} {
		var all []float64
		for _, s := range slices.Concat(sim.Grid(), sim.HeldOut()) {
			if s.Name == "PS cv 2" {
				continue
			}
			for i := range reps {
				c, _ := knee.Ramp(climb(s, 50, 150, seconds, uint64(i)))
				all = append(all, c.AtLeast)
			}
		}
		slices.Sort(all)
		holds, _ := slices.BinarySearch(all, 100)
		bars.Bar{
			Number: "ramp", Text: fmt.Sprintf("50 to 150/s in %v s, capacity 100/s: the bound holds", seconds), Slack: slack,
			Of: fmt.Sprintf("%d runs, median bound %.1f/s, tenth %.1f/s", len(all), all[len(all)/2], all[len(all)/10]),
		}.AtLeast(t, 100*float64(holds)/float64(len(all)), 95)
	}
}
