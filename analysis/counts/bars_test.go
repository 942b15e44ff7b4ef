package counts_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/counts"
	"github.com/plimsoll/plimsoll/analysis/sim"
	"github.com/plimsoll/plimsoll/analysis/stability"
	"github.com/plimsoll/plimsoll/internal/bars"
)

// The bars are the rates that docs/counts.md publishes. The short form runs
// always, with few runs and room for their noise; the full form is
//
//	go test ./analysis/counts -run Bars -bars -v
var fullBars = flag.Bool("bars", false, "measure the bars of the rule of counts in full")

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

// bar is the published share of a state at a load, in percent.
type bar struct {
	set   int
	rho   float64
	state stability.State
	least float64
}

// published are cells of the table with room for the noise of 140 runs; the
// short form, of 14 runs, allows 30 points more.
func published() []bar {
	const s, u = stability.Stable, stability.Unstable
	return []bar{
		{0, 0.7, s, 87},
		{0, 0.9, s, 56},
		{0, 1.05, u, 60},
		{0, 1.25, u, 99},
		{1, 0.7, s, 94},
		{1, 0.9, s, 70},
		{1, 1.05, u, 70},
		{1, 1.25, u, 98},
		{2, 0.7, s, 99},
		{2, 0.9, s, 75},
		{2, 1.05, u, 94},
		{2, 1.25, u, 99},
		{3, 0.7, s, 92},
		{3, 0.9, s, 67},
		{3, 1.05, u, 68},
		{3, 1.25, u, 98},
		{4, 0.7, s, 88},
		{4, 0.9, s, 54},
		{4, 1.05, u, 65},
		{4, 1.25, u, 98},
		{6, 0.7, s, 99},
		{6, 0.9, s, 85},
		{6, 1.05, u, 94},
		{6, 1.25, u, 99},
		{7, 0.7, s, 76},
		{7, 0.9, s, 44},
		{7, 1.25, u, 80},
		{8, 0.7, s, 92},
		{8, 0.9, s, 61},
		{8, 2, u, 67},
		{10, 2, u, 80},
		{11, 0.7, s, 62},
		{11, 0.9, s, 16},
		{11, 2, u, 44},
		// Exports that meet flushes in turn must not cost what they showed.
		{12, 0.7, s, 80},
		{12, 0.9, s, 56},
		{12, 1.05, u, 55},
		{12, 1.25, u, 95},
		{13, 0.7, s, 90},
		{13, 0.9, s, 60},
		{13, 1.05, u, 65},
		{13, 1.25, u, 98},
	}
}

func TestBars(t *testing.T) {
	t.Parallel()
	reps, rhos, slack := 2, []float64{0.7, 0.9, 1.05, 1.25}, 30.0
	if *fullBars {
		reps, rhos, slack = 20, []float64{0.3, 0.7, 0.8, 0.9, 0.95, 1, 1.02, 1.05, 1.1, 1.25, 2}, 0
	}
	for k, s := range sets() {
		n := reps
		if s.lambda*s.seconds > 10000 {
			n = max(1, reps/3)
		}
		line := ""
		below, above := bars.Tally{}, bars.Tally{}
		cell := map[float64]bars.Tally{}
		for _, rho := range rhos {
			cell[rho] = bars.Tally{}
			for _, l := range laws() {
				for i := range n {
					r := s.judge(l, rho, uint64(777+i))
					cell[rho][string(r.State)]++
					switch {
					case rho <= 0.95:
						below[string(r.State)]++
					case rho >= 1.02:
						above[string(r.State)]++
					}
				}
			}
			line += fmt.Sprintf("  %v: %v", rho, cell[rho])
		}
		fu, fs := below.Percent("unstable"), above.Percent("stable")
		t.Logf("%-36s%s  FU %.1f%% FS %.1f%%", s.name, line, fu, fs)
		if s.lambda >= 100 {
			bar := bars.Bar{Number: "counts", Text: s.name + ", rho <= 0.95: unstable", Of: fmt.Sprintf("%d runs", below.N()), Slack: slack / 5}
			bar.AtMost(t, fu, 1)
			bar.Text, bar.Of = s.name+", rho >= 1.02: stable", fmt.Sprintf("%d runs", above.N())
			bar.AtMost(t, fs, 1)
		}
		for _, b := range published() {
			if got, ok := cell[b.rho]; ok && b.set == k {
				bars.Bar{
					Number: "counts", Text: fmt.Sprintf("%s, rho %v: %s", s.name, b.rho, b.state), Of: fmt.Sprintf("%d runs", got.N()), Slack: slack,
				}.AtLeast(t, got.Percent(string(b.state)), b.least)
			}
		}
	}
}

// TestBarsHeldOut measures laws, a rate and a window that set no constant.
func TestBarsHeldOut(t *testing.T) {
	t.Parallel()
	reps, slack := 2, 6.0
	if *fullBars {
		reps, slack = 20, 0
	}
	for _, intervalS := range []float64{1, 10} {
		s := set{lambda: 150, seconds: 90, exports: exporter{intervalS: intervalS}}
		for _, rho := range []float64{0.75, 0.9, 1.05, 1.15, 1.4} {
			n := bars.Tally{}
			for _, h := range sim.HeldOut() {
				s.arrivals = h.Arrivals
				for i := range reps {
					n[string(s.judge(law{name: h.Name, server: h.Server}, rho, uint64(i)).State)]++
				}
			}
			t.Logf("held out 150/90 E%v rho %v: %v", intervalS, rho, n)
			if rho < 1 && n.Percent("unstable") > 1+slack || rho > 1 && n.Percent("stable") > 1+slack {
				t.Errorf("held out E%v rho %v: %v", intervalS, rho, n)
			}
		}
	}
}
