package verdict_test

import (
	"fmt"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/sim"
	"github.com/plimsoll/plimsoll/internal/bars"
)

// breaks judges steps at 100/s and rho 0.8 whose server loses capacity in their
// last seconds, down to a load of rho.
func breaks(seconds, last, rho float64, n int) bars.Tally {
	grid := sim.Grid()
	var runs []bars.Run
	for _, k := range []int{0, 1, 2, 4, 6} { // M/M/1, M/M/16, M/D/8, lognormal cv 2, sharing
		for i := range n {
			runs = append(runs, bars.Run{System: grid[k], Cell: bars.Cell{Lambda: 100, Seconds: seconds, Rho: rho}, Seed: *firstSeed + 900 + uint64(i)})
		}
	}
	out := bars.Tally{}
	bars.Each(runs, func(r bars.Run) string {
		const before = 0.8
		server := r.System.Server(r.Lambda / before)
		server.Factor = func(t float64) float64 {
			if t > seconds-last {
				return r.Rho / before
			}
			return 1
		}
		requests := sim.Run(sim.Config{
			StartNS: start, Steps: []sim.Step{{RatePerS: r.Lambda, DurationS: seconds}}, Arrivals: r.System.Arrivals, Server: server,
		}, r.Rand())
		return document(r.System, r.Lambda, seconds, requests).Steps[0].Stability.State
	}, func(_ bars.Run, state string) { out[state]++ })
	return out
}

// TestBarsBreaks measures what is seen of a break at the end of a step: where the
// backlog that it leaves takes 2 s and 2 % of the step to work off, the step must
// not pass.
func TestBarsBreaks(t *testing.T) {
	t.Parallel()
	missed, clear := bars.Tally{}, bars.Tally{}
	for _, c := range [][2]float64{{60, 3}, {60, 6}, {60, 12}, {60, 18}, {300, 15}, {300, 30}, {300, 60}} {
		if !*fullBars && c != [2]float64{60, 12} {
			continue
		}
		line := ""
		for _, rho := range []float64{1.1, 1.25, 1.5, 2} {
			n := breaks(c[0], c[1], rho, reps(1, int(720/c[0])))
			line += fmt.Sprintf("  %v: %v", rho, n)
			if drain := c[1] * (rho - 1); drain > max(2, 0.02*c[0]) {
				missed.Add(n)
			}
			if c[1]*(rho-1) > 6 {
				clear.Add(n)
			}
		}
		t.Logf("breaks in the last %v of %v s: %s", c[1], c[0], line)
	}
	bar := bars.Bar{Number: "end", Text: "breaks that leave over 2 s and 2 % to drain: stable all the same", Of: fmt.Sprintf("%d runs", missed.N()), Slack: slack(10)}
	bar.AtMost(t, missed.Percent("stable"), 3)
	bar.Text, bar.Of = "breaks that leave over 6 s to drain: unstable", fmt.Sprintf("%d runs", clear.N())
	bar.Slack = slack(30)
	bar.AtLeast(t, clear.Percent("unstable"), 80)
}
