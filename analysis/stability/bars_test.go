package stability_test

import (
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/littleslaw"
	"github.com/plimsoll/plimsoll/analysis/sim"
	"github.com/plimsoll/plimsoll/analysis/stability"
	"github.com/plimsoll/plimsoll/internal/bars"
)

// The bars are what the procedure promises about single steps, here the procedure
// alone; analysis/verdict measures them through the fold and the verdict. The
// short form runs always, with few runs and room for their noise; the full form is
//
//	go test ./analysis/stability -run Bars -bars -v
var fullBars = flag.Bool("bars", false, "measure the bars of the stability procedure in full")

func full[T any](short, long T) T {
	if *fullBars {
		return long
	}
	return short
}

// judged is what became of one simulated step.
type judged struct {
	stability.Result
	exact float64 // residual of the exact form of Little's law
}

// judgeRun judges one step of a system that starts empty.
func judgeRun(r bars.Run) judged {
	requests := r.System.Run(r.Lambda, r.Rho, r.Seconds, r.Rand())
	a, d := sim.Paths(requests)
	to := int64(r.Seconds * 1e9)
	from := stability.Cut(0, to, 0)
	w := stability.FromPath(a, d, from, to)
	stays := make([]littleslaw.Stay, len(requests))
	for i, q := range requests {
		stays[i] = littleslaw.Stay{From: q.Intended, To: q.Done}
	}
	sums := littleslaw.SumsOf(stays, from, to)
	sums.IntegralNS = 0
	for i := range w.Spans {
		sums.IntegralNS += w.Spans[i].IntegralNS
	}
	return judged{
		stability.Judge(&w, stability.Rate{PerS: r.Lambda, Known: true}),
		littleslaw.Check(sums, littleslaw.Count{}, littleslaw.Load{}).Exact,
	}
}

func TestBars(t *testing.T) {
	t.Parallel()
	b := &bars.Steps{Judge: func(r bars.Run) string { return string(judgeRun(r).State) }, Slack: full(6.0, 0), Note: "procedure alone"}
	if *fullBars {
		b.Measure(t, 100, 60, 60, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1, 1.02, 1.05, 1.1, 1.25, 2)
		b.Measure(t, 20, 60, 60, 0.5, 0.7, 0.8, 0.9, 0.95, 1.05, 1.25, 2)
		b.Measure(t, 4, 60, 60, 0.5, 0.7, 0.8, 0.9, 0.95, 1.02, 1.05, 1.1, 1.25, 2)
	} else {
		b.Measure(t, 100, 60, 5, 0.7, 0.8, 0.9, 1.05, 1.1, 1.25)
		b.Measure(t, 20, 60, 4, 0.7, 0.9, 1.25, 2)
		b.Measure(t, 4, 60, 4, 0.7, 0.9, 1.02, 1.25)
	}
	b.Check(t)
}

// TestBarsExact is bar 13: the exact form of Little's law holds on every path, and
// what is inconclusive says how long would decide.
func TestBarsExact(t *testing.T) {
	t.Parallel()
	var runs []bars.Run
	for _, s := range slices.Concat(sim.Grid(), sim.HeldOut(), sim.Uneven()) {
		for _, rho := range []float64{0.5, 0.9, 1, 1.1, 2} {
			for i := range full(1, 12) {
				runs = append(runs, bars.Run{System: s, Cell: bars.Cell{Lambda: 50, Seconds: 40, Rho: rho}, Seed: uint64(i)})
			}
		}
	}
	worst := 0.0
	bars.Each(runs, judgeRun, func(r bars.Run, j judged) {
		worst = max(worst, j.exact)
		if (j.State == stability.Inconclusive) != (j.NeedS > 0) {
			t.Errorf("%s %+v: %s needs %v s", r.System.Name, r.Cell, j.State, j.NeedS)
		}
	})
	bars.Bar{Number: "13", Text: "Little's law, exact form, largest residual (the bar is 0.1 %)", Of: fmt.Sprintf("%d runs", len(runs))}.
		AtMost(t, 100*worst, 1e-10)
}

// TestBarsHeldOut measures laws, a rate and a window that set no constant.
func TestBarsHeldOut(t *testing.T) {
	t.Parallel()
	below, above := bars.Tally{}, bars.Tally{}
	for _, rho := range []float64{0.4, 0.75, 0.85, 0.92, 1.03, 1.07, 1.15, 1.4} {
		n := bars.Tally{}
		var runs []bars.Run
		for _, s := range sim.HeldOut() {
			for i := range full(2, 40) {
				runs = append(runs, bars.Run{System: s, Cell: bars.Cell{Lambda: 150, Seconds: 45, Rho: rho}, Seed: uint64(i)})
			}
		}
		bars.Each(runs, judgeRun, func(_ bars.Run, j judged) { n[string(j.State)]++ })
		t.Logf("held out 150/s 45 s rho %v: %v (%d runs)", rho, n, len(runs))
		switch {
		case rho <= 0.9:
			below.Add(n)
		case rho >= 1.05:
			above.Add(n)
		}
	}
	bar := bars.Bar{Number: "1", Text: "held out 150/s 45 s, rho <= 0.9: unstable, procedure alone", Of: fmt.Sprintf("%d runs", below.N()), Slack: full(8.0, 0)}
	bar.AtMost(t, below.Percent("unstable"), 0.5)
	bar.Number, bar.Text, bar.Of = "4", "held out 150/s 45 s, rho >= 1.05: stable, procedure alone", fmt.Sprintf("%d runs", above.N())
	bar.AtMost(t, above.Percent("stable"), 0.5)
}

// TestBarsRerun is bar 9: an inconclusive step asks for a length, and a rerun of
// that length is decided, and right.
func TestBarsRerun(t *testing.T) {
	t.Parallel()
	for _, c := range []bars.Cell{{Lambda: 100, Seconds: 20}, {Lambda: 20, Seconds: 60}} {
		for _, rho := range full([]float64{0.9, 1.1}, []float64{0.9, 0.95, 1.05, 1.1}) {
			c.Rho = rho
			right := stability.Stable
			if rho > 1 {
				right = stability.Unstable
			}
			var runs []bars.Run
			for _, s := range sim.Grid()[:7] {
				for i := range full(1, 15) {
					runs = append(runs, bars.Run{System: s, Cell: c, Seed: uint64(1000 + i)})
				}
			}
			n, wrong, asked := 0, 0, []float64{}
			bars.Each(runs, func(r bars.Run) [2]stability.Result {
				first := judgeRun(r).Result
				if first.State != stability.Inconclusive {
					return [2]stability.Result{first}
				}
				r.Seconds, r.Seed = first.NeedS, r.Seed+4000
				return [2]stability.Result{first, judgeRun(r).Result}
			}, func(_ bars.Run, j [2]stability.Result) {
				if j[1].State == "" {
					return
				}
				asked = append(asked, j[0].NeedS)
				switch j[1].State {
				case right:
					n++
				case stability.Inconclusive:
				default:
					wrong++
				}
			})
			if len(asked) == 0 {
				continue
			}
			slices.Sort(asked)
			of := fmt.Sprintf("%d reruns of %.0f s in the median", len(asked), asked[len(asked)/2])
			text := fmt.Sprintf("%v/s %v s rho %v, run again for as long as asked: ", c.Lambda, c.Seconds, rho)
			bars.Bar{Number: "9", Text: text + "right", Of: of, Slack: full(25.0, 0)}.AtLeast(t, 100*float64(n)/float64(len(asked)), 80)
			bars.Bar{Number: "9", Text: text + "wrong", Of: of}.AtMost(t, 100*float64(wrong)/float64(len(asked)), 1)
		}
	}
}

// TestBarsUneven measures bursts and stalls: no false alarm up to 0.97.
func TestBarsUneven(t *testing.T) {
	t.Parallel()
	slack := full(10.0, 0)
	for _, s := range sim.Uneven() {
		for _, rho := range []float64{0.5, 0.8, 0.9, 0.97, 1.1, 1.25} {
			n := bars.Tally{}
			var runs []bars.Run
			for i := range full(6, 100) {
				runs = append(runs, bars.Run{System: s, Cell: bars.Cell{Lambda: 100, Seconds: 60, Rho: rho}, Seed: uint64(i)})
			}
			bars.Each(runs, judgeRun, func(_ bars.Run, j judged) { n[string(j.State)]++ })
			t.Logf("%-24s rho %-4v %v", s.Name, rho, n)
			if rho <= 0.9 && n.Percent("unstable") > 0.5+slack || rho >= 1.05 && n.Percent("stable") > 0.5+slack ||
				rho <= 0.8 && n.Percent("stable") < 97-slack {
				t.Errorf("%s rho %v: %v", s.Name, rho, n)
			}
		}
	}
}
