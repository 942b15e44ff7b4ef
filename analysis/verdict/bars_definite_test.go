package verdict_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/sim"
	"github.com/plimsoll/plimsoll/internal/bars"
)

// noise is φ of a system: the variance over the mean of what leaves it while it
// is busy (stability.md 2.5).
func noise(s sim.System) float64 {
	switch s.Name {
	case "lognormal cv 2 on 8", "PS cv 2":
		return 4
	case "hyperexponential cv 1.5":
		return 2.25
	case "hyperexponential cv 3":
		return 9
	case "M/D/8":
		return 0.15
	case "Erlang-4 on 32":
		return 0.25
	case "uniform on 2":
		return 1.0 / 3
	}
	return 1
}

// cycle is the period of what comes and goes in a system, in seconds; 0: none.
func cycle(s sim.System) float64 {
	switch s.Name {
	case "MMPP 3x on 4", "stalls 0.2 s in 5 s on 8":
		return 5
	}
	return 0
}

// decidable is bar 8: whether a step is long enough that it must be decided.
// Far from capacity the study has a floor of 700 requests beneath all of that.
func decidable(s sim.System, c bars.Cell) bool {
	x, phi := c.Lambda*c.Seconds*(1-c.Rho)*(1-c.Rho), math.Sqrt(noise(s))
	gradual := s.Server(c.Lambda / c.Rho).MeanS // unloaded
	switch {
	case c.Lambda*c.Seconds < 700, c.Seconds < 20*cycle(s):
		return false
	case c.Rho < 1 && x < 60*phi, c.Rho > 1 && x < 90*phi:
		return false
	case !s.Sharp && c.Rho < 1:
		return c.Seconds >= 32*gradual/((1-c.Rho)*(1-c.Rho))
	}
	return true
}

// TestBarsDefinite is bar 8: where a step is long enough, 95 % are decided, and
// rightly.
func TestBarsDefinite(t *testing.T) {
	t.Parallel()
	systems := slices.Concat(sim.Grid(), sim.HeldOut(), sim.Uneven())
	var runs []bars.Run
	for _, lambda := range []float64{20, 100, 400} {
		for _, seconds := range []float64{30, 60, 120, 300} {
			if lambda*seconds > 48_000 || !*fullBars && lambda*seconds > 12_000 {
				continue
			}
			for _, rho := range []float64{0.5, 0.7, 0.8, 0.9, 0.95, 1.05, 1.1, 1.25, 1.5, 2} {
				for _, s := range systems {
					c := bars.Cell{Lambda: lambda, Seconds: seconds, Rho: rho}
					if !decidable(s, c) {
						continue
					}
					for i := range reps(1, max(1, int(24_000/(lambda*seconds)))) {
						runs = append(runs, bars.Run{System: s, Cell: c, Seed: *firstSeed + 500 + uint64(i)})
					}
				}
			}
		}
	}
	if !*fullBars { // a few of them, spread over all
		kept := runs[:0]
		for i := 0; i < len(runs); i += len(runs)/40 + 1 {
			kept = append(kept, runs[i])
		}
		runs = kept
	}
	open, byLaw, wrong := 0, map[string]bars.Tally{}, 0
	bars.Each(runs, judgeRun, func(r bars.Run, j judged) {
		n := byLaw[r.System.Name]
		if n == nil {
			n = bars.Tally{}
			byLaw[r.System.Name] = n
		}
		switch {
		case j.state == "inconclusive":
			open++
			n["open"]++
			if j.needS <= 0 {
				t.Errorf("%s %+v seed %d: open, and no length would decide", r.System.Name, r.Cell, r.Seed)
			}
		case (j.state == "stable") != (r.Rho < 1):
			wrong++
			n["wrong"]++
		default:
			n["right"]++
		}
	})
	for _, s := range systems {
		t.Logf("definite: %-26s %v", s.Name, map[string]int(byLaw[s.Name]))
	}
	of := fmt.Sprintf("%d runs", len(runs))
	decided := 100 * float64(len(runs)-open) / float64(len(runs))
	bars.Bar{Number: "8", Text: "long enough by the formula: decided, verdict", Of: of, Slack: slack(10)}.AtLeast(t, decided, 95)
	bars.Bar{Number: "8", Text: "of those decided wrongly, verdict", Of: of, Slack: slack(5)}.AtMost(t, 100*float64(wrong)/float64(len(runs)), 0.5)
}
