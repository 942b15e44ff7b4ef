package verdict_test

import (
	"context"
	"flag"
	"fmt"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/sim"
	"github.com/plimsoll/plimsoll/analysis/verdict"
	"github.com/plimsoll/plimsoll/internal/bars"
)

// The bars of single steps, measured through the fold and the verdict: rows in,
// document out, the rate declared. The short form runs always; the full form is
//
//	go test ./analysis/verdict -run Bars -bars -v
var fullBars = flag.Bool("bars", false, "measure the bars of single steps in full")

// firstSeed moves to runs on which nothing was set.
var firstSeed = flag.Uint64("seed", 60_000, "first seed of the runs that are simulated for bars")

func reps(short, full int) int {
	if *fullBars {
		return full
	}
	return short
}

func slack(points float64) float64 {
	if *fullBars {
		return 0
	}
	return points
}

// process is what a plan would call the arrivals of a system.
func process(s sim.System) string {
	switch s.Name {
	case "D/M/8":
		return "constant"
	case "jittered":
		return "jittered"
	case "batches of 5", "MMPP 3x on 4":
		return "bursty"
	}
	return "poisson"
}

// document judges a simulated step at a declared rate.
func document(s sim.System, lambda, seconds float64, requests []sim.Request) *wire.Verdict {
	rows := make([]sample.Row, len(requests))
	for i, q := range requests {
		rows[i] = foldtest.Row(q.Intended, q.Sent, q.Done)
	}
	d := &wire.Declaration{
		ID: "r", Arrival: &wire.Arrival{Model: "open", Process: process(s)},
		Steps: []wire.DeclareStep{{RatePerS: lambda, DurationS: seconds}},
	}
	v, err := verdict.Analysis{}.Judge(context.Background(), &foldtest.Evidence{
		Of: fold.Run{ID: "r", Finished: true, Declaration: d}, Batches: foldtest.Batches(openLoop, rows, 512),
	}, query.Options{})
	if err != nil || len(v.Steps) != 1 {
		panic(fmt.Sprintf("%v, %d steps", err, len(v.Steps)))
	}
	return v
}

// judged is the verdict on a run, with what the step would need; one that the
// verdict calls invalid is not decided.
type judged struct {
	state string
	needS float64
}

func judgeRun(r bars.Run) judged {
	requests := sim.Run(sim.Config{
		StartNS: start, Steps: []sim.Step{{RatePerS: r.Lambda, DurationS: r.Seconds}}, Arrivals: r.System.Arrivals,
		Server: r.System.Server(r.Lambda / r.Rho),
	}, r.Rand())
	step := document(r.System, r.Lambda, r.Seconds, requests).Steps[0]
	out := judged{state: step.Stability.State}
	if need := step.Stability.NeedS; need != nil {
		out.needS = *need
	}
	if step.Class == wire.ClassInvalid { // what came is not the load that was planned, and is not passed for it
		out = judged{state: wire.Inconclusive, needS: r.Seconds}
	}
	return out
}

// TestBars is bars 1 to 7 through the verdict.
func TestBars(t *testing.T) {
	t.Parallel()
	b := &bars.Steps{Judge: func(r bars.Run) string { return judgeRun(r).state }, Slack: slack(8), Note: "verdict", First: *firstSeed}
	if *fullBars {
		b.Measure(t, 100, 60, 60, 0.5, 0.7, 0.8, 0.9, 0.95, 1.02, 1.05, 1.1, 1.25, 2)
		b.Measure(t, 20, 60, 60, 0.5, 0.7, 0.8, 0.9, 0.95, 1.05, 1.25, 2)
		b.Measure(t, 4, 60, 60, 0.5, 0.7, 0.8, 0.9, 0.95, 1.02, 1.05, 1.1, 1.25, 2)
		b.Measure(t, 100, 300, 8, 0.8, 0.9, 1.05, 1.1, 1.25)
		b.Measure(t, 500, 60, 6, 0.8, 0.9, 1.05, 1.1, 1.25)
	} else {
		b.Measure(t, 100, 60, 3, 0.8, 0.9, 1.05, 1.1, 1.25)
		b.Measure(t, 20, 60, 3, 0.9, 1.25)
		b.Measure(t, 4, 60, 4, 0.9, 1.02)
	}
	b.Check(t)
}

// TestBarsHeldOut is bars 1 and 4 on laws, a rate and a window that set no
// constant, and on bursts and stalls.
func TestBarsHeldOut(t *testing.T) {
	t.Parallel()
	measure := func(name string, systems []sim.System, lambda, seconds float64, n int, rhos ...float64) {
		t.Helper()
		below, above := bars.Tally{}, bars.Tally{}
		for _, rho := range rhos {
			cell := bars.Tally{}
			var runs []bars.Run
			for _, s := range systems {
				for i := range n {
					runs = append(runs, bars.Run{System: s, Cell: bars.Cell{Lambda: lambda, Seconds: seconds, Rho: rho}, Seed: *firstSeed + uint64(i)})
				}
			}
			bars.Each(runs, judgeRun, func(_ bars.Run, j judged) { cell[j.state]++ })
			t.Logf("verdict, %s: %v/s %v s rho %v: %v (%d runs)", name, lambda, seconds, rho, cell, len(runs))
			switch {
			case rho <= 0.9:
				below.Add(cell)
			case rho >= 1.05:
				above.Add(cell)
			}
		}
		bar := func(number, text string, of bars.Tally) bars.Bar {
			return bars.Bar{Number: number, Text: name + ", " + text + ", verdict", Of: fmt.Sprintf("%d runs", of.N()), Slack: slack(12)}
		}
		bar("1", "rho <= 0.9: unstable", below).AtMost(t, below.Percent("unstable"), 0.5)
		bar("4", "rho >= 1.05: stable", above).AtMost(t, above.Percent("stable"), 0.5)
	}
	if *fullBars {
		measure("held out 150/s 45 s", sim.HeldOut(), 150, 45, 24, 0.4, 0.75, 0.85, 0.92, 1.03, 1.07, 1.15, 1.4)
		measure("bursts and stalls 100/s 60 s", sim.Uneven(), 100, 60, 80, 0.5, 0.8, 0.9, 0.97, 1.1, 1.25)
		return
	}
	measure("held out 150/s 45 s", sim.HeldOut(), 150, 45, 1, 0.85, 1.07)
	measure("bursts and stalls 100/s 60 s", sim.Uneven(), 100, 60, 2, 0.8, 1.25)
}
