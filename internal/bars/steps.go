package bars

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/sim"
)

// Tally counts verdicts by name.
type Tally map[string]int

// N is the number of verdicts.
func (t Tally) N() int {
	n := 0
	for _, v := range t {
		n += v
	}
	return n
}

// Percent is the share of a verdict, in percent; 0 when there are none.
func (t Tally) Percent(state string) float64 { return 100 * float64(t[state]) / float64(max(1, t.N())) }

// Add adds what another tally counted.
func (t Tally) Add(o Tally) {
	for s, n := range o {
		t[s] += n
	}
}

// The verdicts on a step.
const (
	stable       = "stable"
	inconclusive = "inconclusive"
	unstable     = "unstable"
)

// String is stable/inconclusive/unstable in percent.
func (t Tally) String() string {
	return fmt.Sprintf("%.1f/%.1f/%.1f", t.Percent(stable), t.Percent(inconclusive), t.Percent(unstable))
}

// Cell is one combination of offered rate, length of step and load.
type Cell struct{ Lambda, Seconds, Rho float64 }

// Run is one simulated step; Rand gives it its own numbers.
type Run struct {
	System sim.System
	Cell
	Seed uint64
}

// Rand returns the random numbers of the run.
func (r Run) Rand() *rand.Rand {
	return rand.New(rand.NewPCG(r.Seed, math.Float64bits(r.Lambda)^math.Float64bits(r.Rho)<<1^math.Float64bits(r.Seconds)<<2))
}

// Each calls judge for every run, two at a time where there are two processors,
// and collect for every answer, one at a time, in the order of the runs.
func Each[A any](runs []Run, judge func(Run) A, collect func(Run, A)) {
	answers := make([]A, len(runs))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(2, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := range next {
				answers[i] = judge(runs[i])
			}
		})
	}
	for i := range runs {
		next <- i
	}
	close(next)
	wg.Wait()
	for i := range runs {
		collect(runs[i], answers[i])
	}
}

// Steps measures how single steps are judged, bars 1 to 7.
type Steps struct {
	Judge func(Run) string // returns the verdict on a step
	Slack float64          // percentage points of noise that the limits allow
	Note  string           // who judged
	First uint64           // seed of the first run of every cell

	all, sharp map[Cell]Tally
}

// Measure judges reps runs of each system of the grid at every load.
func (b *Steps) Measure(t testing.TB, lambda, seconds float64, reps int, rhos ...float64) {
	t.Helper()
	if b.all == nil {
		b.all, b.sharp = map[Cell]Tally{}, map[Cell]Tally{}
	}
	for _, rho := range rhos {
		c := Cell{lambda, seconds, rho}
		b.all[c], b.sharp[c] = Tally{}, Tally{}
		var runs []Run
		for _, s := range sim.Grid() {
			for i := range reps {
				runs = append(runs, Run{s, c, b.First + uint64(i)})
			}
		}
		Each(runs, b.Judge, func(r Run, state string) {
			b.all[c][state]++
			if r.System.Sharp {
				b.sharp[c][state]++
			}
		})
		t.Logf("%s: %v/s %v s rho %v: %v, sharp %v (%d runs)", b.Note, lambda, seconds, rho, b.all[c], b.sharp[c], len(runs))
	}
}

// pool sums the cells of some rates whose load lies within [from, to].
func pool(cells map[Cell]Tally, rate func(float64) bool, from, to float64) Tally {
	sum := Tally{}
	for c, t := range cells {
		if rate(c.Lambda) && c.Rho >= from && c.Rho <= to {
			sum.Add(t)
		}
	}
	return sum
}

// Check holds what was measured against bars 1 to 7 of the procedure.
func (b *Steps) Check(t testing.TB) {
	t.Helper()
	fast := func(l float64) bool { return l >= 100 }
	at := func(want float64) func(float64) bool { return func(l float64) bool { return l == want } }
	bar := func(number, text string, n Tally) Bar {
		return Bar{Number: number, Text: text + ", " + b.Note, Of: fmt.Sprintf("%d runs", n.N()), Slack: b.Slack}
	}
	atMost := func(number, text string, n Tally, state string, limit float64) {
		t.Helper()
		bar(number, text+": "+state, n).AtMost(t, n.Percent(state), limit)
	}
	atLeast := func(number, text string, n Tally, state string, limit float64) {
		t.Helper()
		bar(number, text+": "+state, n).AtLeast(t, n.Percent(state), limit)
	}
	atMost("1", "100/s and more, rho <= 0.9", pool(b.all, fast, 0, 0.9), unstable, 0.5)
	atLeast("2", "100/s and more, rho <= 0.8, sharp limit", pool(b.sharp, fast, 0, 0.8), stable, 99)
	atLeast("3", "100/s and more, rho 0.9, sharp limit", pool(b.sharp, fast, 0.9, 0.9), stable, 95)
	atMost("4", "100/s and more, rho >= 1.05", pool(b.all, fast, 1.05, 9), stable, 0.5)
	atLeast("5", "100/s 60 s, rho 1.05", b.all[Cell{100, 60, 1.05}], unstable, 70)
	atLeast("5", "100/s 60 s, rho 1.1", b.all[Cell{100, 60, 1.1}], unstable, 93)
	// The study found 192 of 192, which says no more than 98.1 % at 95 %.
	atLeast("5", "100/s and more, rho >= 1.25", pool(b.all, fast, 1.25, 9), unstable, 99.8)
	atMost("6", "20/s 60 s, rho <= 0.9", pool(b.all, at(20), 0, 0.9), unstable, 1.5)
	atLeast("6", "20/s 60 s, rho >= 1.25", pool(b.all, at(20), 1.25, 9), unstable, 93)
	atMost("6", "20/s 60 s, rho >= 1.25", pool(b.all, at(20), 1.25, 9), stable, 0)
	atMost("7", "4/s 60 s, rho <= 0.9", pool(b.all, at(4), 0, 0.9), unstable, 5)
	atMost("7", "4/s 60 s, rho >= 1.02", pool(b.all, at(4), 1.02, 9), stable, 3)
}
