package counts_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/counts"
	"github.com/plimsoll/plimsoll/analysis/sim"
	"github.com/plimsoll/plimsoll/analysis/stability"
)

// The bars are the rates that docs/counts.md publishes. The short form runs
// always, with few runs and room for their noise; the full form is
//
//	go test ./analysis/counts -run Bars -bars -v
var fullBars = flag.Bool("bars", false, "measure the bars of the rule of counts in full")

type tally map[stability.State]int

func (t tally) percent(s stability.State) float64 {
	n := 0
	for _, v := range t {
		n += v
	}
	return 100 * float64(t[s]) / float64(max(n, 1))
}

func (t tally) String() string {
	return fmt.Sprintf("%.0f/%.0f/%.0f", t.percent(stability.Stable), t.percent(stability.Inconclusive), t.percent(stability.Unstable))
}

// sets are rows of the published table; fast ones run in the short form too.
func sets() []set {
	paced := func(lambda float64) counts.Rate { return counts.Rate{PerS: lambda, Paced: true} }
	return []set{
		{name: "paced, declared 100/60 E1", lambda: 100, seconds: 60, exports: exporter{intervalS: 1}, arrivals: sim.Constant(), rate: paced(100)},
		{name: "paced, declared 100/60 E10", lambda: 100, seconds: 60, exports: exporter{intervalS: 10}, arrivals: sim.Constant(), rate: paced(100)},
		{name: "paced, declared 100/300 E10", lambda: 100, seconds: 300, exports: exporter{intervalS: 10}, arrivals: sim.Constant(), rate: paced(100)},
		{name: "paced, not declared 100/60 E10", lambda: 100, seconds: 60, exports: exporter{intervalS: 10}, arrivals: sim.Constant()},
		{name: "Poisson, unknown 100/60 E10", lambda: 100, seconds: 60, exports: exporter{intervalS: 10}, arrivals: sim.Poisson()},
		{name: "Poisson, declared 100/60 E10", lambda: 100, seconds: 60, exports: exporter{intervalS: 10}, arrivals: sim.Poisson(), rate: counts.Rate{PerS: 100}},
		{name: "paced, declared 500/60 E10", lambda: 500, seconds: 60, exports: exporter{intervalS: 10}, arrivals: sim.Constant(), rate: paced(500)},
		{name: "paced, declared 20/60 E10", lambda: 20, seconds: 60, exports: exporter{intervalS: 10}, arrivals: sim.Constant(), rate: paced(20)},
		{name: "roomy limit, W0 known 100/60 E10", lambda: 100, seconds: 60, exports: exporter{intervalS: 10}, arrivals: sim.Constant(), rate: paced(100), room: 0.5, unloaded: true},
		{name: "roomy limit, no W0 100/60 E10", lambda: 100, seconds: 60, exports: exporter{intervalS: 10}, arrivals: sim.Constant(), rate: paced(100), room: 0.5},
		{name: "roomy limit, no W0 100/60 E1", lambda: 100, seconds: 60, exports: exporter{intervalS: 1}, arrivals: sim.Constant(), rate: paced(100), room: 0.5},
		{name: "tight limit, W0 known 100/60 E10", lambda: 100, seconds: 60, exports: exporter{intervalS: 10}, arrivals: sim.Constant(), rate: paced(100), room: 0.1, unloaded: true},
		{name: "uneven, paced, declared 100/60 E1", lambda: 100, seconds: 60, exports: exporter{intervalS: 1, racing: true}, arrivals: sim.Constant(), rate: paced(100)},
		{name: "uneven, paced, declared 100/60 E10", lambda: 100, seconds: 60, exports: exporter{intervalS: 10, racing: true}, arrivals: sim.Constant(), rate: paced(100)},
		{name: "uneven, roomy, no W0 100/60 E1", lambda: 100, seconds: 60, exports: exporter{intervalS: 1, racing: true}, arrivals: sim.Constant(), rate: paced(100), room: 0.5},
	}
}

func TestBars(t *testing.T) {
	t.Parallel()
	reps, rhos := 1, []float64{0.7, 0.9, 1.05, 1.25}
	if *fullBars {
		reps, rhos = 20, []float64{0.3, 0.7, 0.8, 0.9, 0.95, 1, 1.02, 1.05, 1.1, 1.25, 2}
	}
	for _, s := range sets() {
		n := reps
		if *fullBars && s.lambda*s.seconds > 10000 {
			n = 6
		}
		line := ""
		fu, fs, below, above := 0, 0, 0, 0
		cell := map[float64]tally{}
		for _, rho := range rhos {
			cell[rho] = tally{}
			for _, l := range laws() {
				for i := range n {
					r := s.judge(l, rho, uint64(777+i))
					cell[rho][r.State]++
					if rho <= 0.95 {
						below++
						if r.State == stability.Unstable {
							fu++
						}
					}
					if rho >= 1.02 {
						above++
						if r.State == stability.Stable {
							fs++
						}
					}
				}
			}
			line += fmt.Sprintf("  %v: %v", rho, cell[rho])
		}
		t.Logf("%-36s%s  FU %d/%d FS %d/%d", s.name, line, fu, below, fs, above)
	}
}
