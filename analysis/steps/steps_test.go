package steps_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll/plimsoll/analysis/sim"
	"github.com/plimsoll/plimsoll/analysis/steps"
	"github.com/plimsoll/plimsoll/internal/bars"
)

// The short form of the bars runs always; the full form is
//
//	go test ./analysis/steps -run Bars -bars -v
var fullBars = flag.Bool("bars", false, "measure the bars of the search for steps in full")

// firstSeed moves to runs on which nothing was set: -bars -seed 1000.
var firstSeed = flag.Int("seed", 0, "first seed of the runs that are simulated for bars")

func reps(short, full int) int {
	if *fullBars {
		return full
	}
	return short
}

const start = int64(1_800_000_000e9) + 123_456_789

func draw(seed int, a sim.Arrivals, st ...sim.Step) (due []int64, to int64) {
	var seconds float64
	for _, s := range st {
		seconds += s.DurationS
	}
	for _, at := range sim.Schedule(st, a, rand.New(rand.NewPCG(uint64(seed), 17))) {
		due = append(due, start+int64(at*1e9))
	}
	to = start + int64(seconds*1e9)
	if n := len(due); n > 0 {
		to = max(to, due[n-1]+1)
	}
	return due, to
}

func find(due []int64, to int64) []steps.Segment {
	c := steps.NewCounts(start, to)
	for _, at := range due {
		c.Add(at, 1)
	}
	return c.Find()
}

// ramp draws even arrivals whose rate changes from a to b.
func ramp(from int64, a, b, seconds float64) (due []int64) {
	slope := (b - a) / seconds
	for k := 0.0; ; k++ {
		at := k / a
		if slope != 0 {
			at = 2 * k / (a + math.Sqrt(a*a+2*slope*k))
		}
		if at >= seconds || math.IsNaN(at) {
			return due
		}
		due = append(due, from+int64(at*1e9))
	}
}

func TestNothing(t *testing.T) {
	t.Parallel()
	if got := steps.NewCounts(start, start).Find(); got != nil {
		t.Errorf("%+v", got)
	}
	if got := steps.NewCounts(start, start+60e9).Find(); got != nil {
		t.Errorf("%+v", got)
	}
	got := find([]int64{start, start - 1, start + 2e9}, start+2e9)
	want := []steps.Segment{{From: start, To: start + 2e9, Rate: 0.5, ToRate: 0.5}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestLadder(t *testing.T) {
	t.Parallel()
	for _, a := range []sim.Arrivals{sim.Constant(), sim.Jittered(1), sim.Poisson()} {
		rates := []float64{200, 300, 400, 450, 500, 550, 600, 300}
		var st []sim.Step
		for _, r := range rates {
			st = append(st, sim.Step{RatePerS: r, DurationS: 30.25})
		}
		due, to := draw(1, a, st...)
		got := find(due, to)
		if len(got) != len(rates) {
			t.Fatalf("%d segments: %+v", len(got), got)
		}
		for i, g := range got {
			if g.Ramp() || math.Abs(g.Rate-rates[i]) > 0.03*rates[i] || math.Abs(float64(g.From-start)/1e9-30.25*float64(i)) > 1 {
				t.Errorf("segment %d: from %v s, %v to %v/s", i, float64(g.From-start)/1e9, g.Rate, g.ToRate)
			}
		}
	}
}

func TestRefineToTheGap(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]float64{{100, 110}, {110, 100}, {100, 300}, {500, 450}, {10, 20}} {
		due, to := draw(1, sim.Constant(), sim.Step{RatePerS: c[0], DurationS: 40.3}, sim.Step{RatePerS: c[1], DurationS: 40})
		got := find(due, to)
		if len(got) != 2 {
			t.Fatalf("%v: %+v", c, got)
		}
		var near []int64
		for _, w := range steps.Windows(got) {
			for _, at := range due {
				if at >= w.From && at < w.To {
					near = append(near, at)
				}
			}
		}
		exact := steps.Refine(got, near)
		off := float64(exact[1].From-start)/1e9 - 40.3
		if math.Abs(off) > 1.5/c[0]+1.5/c[1] || exact[0].To != exact[1].From {
			t.Errorf("%v: edge %v s off, %v s before, %d due times", c, off, float64(got[1].From-start)/1e9-40.3, len(near))
		}
	}
}

func TestRamps(t *testing.T) {
	t.Parallel()
	at := func(s float64) int64 { return start + int64(s*1e9) }
	check := func(name string, due []int64, to float64, want []steps.Segment) {
		t.Helper()
		got := find(due, at(to))
		if len(got) != len(want) {
			t.Fatalf("%s: %+v", name, got)
		}
		for i, g := range got {
			w := want[i]
			if math.Abs(float64(g.From-w.From)/1e9) > 2 || math.Abs(g.Rate-w.Rate) > 4 || math.Abs(g.ToRate-w.ToRate) > 4 {
				t.Errorf("%s: segment %d from %v s, %v to %v/s", name, i, float64(g.From-start)/1e9, g.Rate, g.ToRate)
			}
		}
	}
	check("one ramp", ramp(start, 10, 200, 120), 120, []steps.Segment{{From: start, Rate: 10, ToRate: 200}})
	due := append(ramp(start, 50, 50, 60), ramp(at(60), 50, 200, 60)...)
	due = append(due, ramp(at(120), 200, 200, 60)...)
	check("up and hold", due, 180, []steps.Segment{
		{From: start, Rate: 50, ToRate: 50}, {From: at(60), Rate: 50, ToRate: 200}, {From: at(120), Rate: 200, ToRate: 200},
	})
	due = append(ramp(start, 20, 100, 60), ramp(at(60), 100, 20, 60)...)
	check("up and down", due, 120, []steps.Segment{{From: start, Rate: 20, ToRate: 100}, {From: at(60), Rate: 100, ToRate: 20}})
}

// TestRandomRamp is a ramp whose arrivals are Poisson.
func TestRandomRamp(t *testing.T) {
	t.Parallel()
	const a, b, seconds = 20.0, 200.0, 120.0
	slope := (b - a) / seconds
	for seed := range 10 {
		rng := rand.New(rand.NewPCG(uint64(seed), 3))
		var due []int64
		for k := rng.ExpFloat64(); ; k += rng.ExpFloat64() {
			at := 2 * k / (a + math.Sqrt(a*a+2*slope*k))
			if at >= seconds {
				break
			}
			due = append(due, start+int64(at*1e9))
		}
		got := find(due, start+int64(seconds*1e9))
		if len(got) != 1 || math.Abs(got[0].Rate-a) > 12 || math.Abs(got[0].ToRate-b) > 20 {
			t.Errorf("seed %d: %+v", seed, got)
		}
	}
}

func TestSilence(t *testing.T) {
	t.Parallel()
	due, _ := draw(1, sim.Poisson(), sim.Step{RatePerS: 100, DurationS: 30.4}, sim.Step{DurationS: 8.3}, sim.Step{RatePerS: 100, DurationS: 30})
	got := find(due, start+68_700_000_000)
	if len(got) != 1 || got[0].Silent < 7e9 || math.Abs(got[0].Rate-100) > 5 {
		t.Errorf("a stall of sends: %+v", got)
	}
	// Another rate after a pause is another step, and the pause is in neither.
	due, to := draw(1, sim.Constant(), sim.Step{RatePerS: 100, DurationS: 30}, sim.Step{DurationS: 10}, sim.Step{RatePerS: 200, DurationS: 30})
	got = find(due, to)
	if len(got) != 2 || got[1].From-got[0].To < 9e9 || math.Abs(got[0].Rate-100) > 1 || math.Abs(got[1].Rate-200) > 1 {
		t.Errorf("a pause: %+v", got)
	}
}

func TestSpread(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.Int64Range(1, 30).Draw(t, "seconds")
		n := rapid.Int64Range(0, 1000).Draw(t, "n")
		from := rapid.Int64Range(0, seconds*1e9-1).Draw(t, "from")
		to := rapid.Int64Range(from+1, seconds*1e9).Draw(t, "to")
		c := steps.NewCounts(0, seconds*1e9)
		c.Spread(from, to, n)
		var sum, all float64
		for _, g := range c.Find() {
			covered := float64(g.To-g.From-g.Silent) / 1e9
			sum += covered * (g.Rate + g.ToRate) / 2
			all += covered
		}
		whole := all == float64(seconds) // else a silence took arrivals beside it along
		if n > 0 && seconds < 5 && whole && math.Abs(sum-float64(n)) > 1e-6*float64(n) {
			t.Fatalf("%v of %d", sum, n)
		}
	})
}

// TestLadderWithPauses: rates that rise a little at a time are steps and no ramp,
// when there are pauses between them.
func TestLadderWithPauses(t *testing.T) {
	t.Parallel()
	right := 0
	for seed := range 20 {
		var st []sim.Step
		for _, rate := range []float64{84, 103, 120, 145, 176} {
			st = append(st, sim.Step{RatePerS: rate, DurationS: 60}, sim.Step{DurationS: 15})
		}
		got := find(draw(seed, sim.Poisson(), st[:len(st)-1]...))
		if len(got) == 5 && !slices.ContainsFunc(got, steps.Segment.Ramp) {
			right++
		}
	}
	if right < 18 {
		t.Errorf("%d of 20 ladders found", right)
	}
}

// TestCover checks that segments are in order, cover the run and do not depend
// on the order of arrivals.
func TestCover(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var st []sim.Step
		for range rapid.IntRange(1, 5).Draw(t, "steps") {
			st = append(st, sim.Step{
				RatePerS:  rapid.SampledFrom([]float64{0, 0.5, 5, 40, 100, 300}).Draw(t, "rate"),
				DurationS: rapid.Float64Range(0.5, 60).Draw(t, "seconds"),
			})
		}
		a := rapid.SampledFrom([]sim.Arrivals{sim.Constant(), sim.Poisson(), sim.Batches(5), sim.Bursts(3, 1, 4)}).Draw(t, "arrivals")
		due, to := draw(rapid.IntRange(0, 1000).Draw(t, "seed"), a, st...)
		got := find(due, to)
		if (got == nil) != (len(due) == 0) {
			t.Fatalf("%d arrivals, %+v", len(due), got)
		}
		for i, g := range got {
			if g.From >= g.To || g.Rate < 0 || g.ToRate < 0 || math.IsNaN(g.Rate+g.ToRate) || g.Silent > g.To-g.From {
				t.Fatalf("%+v", g)
			}
			if i > 0 && got[i-1].To > g.From {
				t.Fatalf("overlap: %+v", got)
			}
		}
		if n := len(got); n > 0 && (got[0].From != start || got[n-1].To != to) {
			t.Fatalf("the run is [%d, %d): %+v", start, to, got)
		}
		c := steps.NewCounts(start, to)
		for i := range due {
			c.Add(due[len(due)-1-i], 1)
		}
		if d := cmp.Diff(got, c.Find()); d != "" {
			t.Fatal(d)
		}
		steps.Refine(got, due)
	})
}

// TestBarsSteady counts splits of runs whose rate does not change: at most 1 %.
func TestBarsSteady(t *testing.T) {
	t.Parallel()
	runs, split := 0, 0
	for _, c := range []struct {
		name string
		a    sim.Arrivals
	}{
		{"constant", sim.Constant()},
		{"jittered", sim.Jittered(1)},
		{"Poisson", sim.Poisson()},
		{"batches of 5", sim.Batches(5)},
		{"MMPP 3x, cycle 5 s", sim.Bursts(3, 1, 4)},
		{"MMPP 2x, cycle 10 s", sim.Bursts(2, 3, 7)},
		{"MMPP 3x, cycle 1 s", sim.Bursts(3, 0.2, 0.8)},
	} {
		n, bad := 0, 0
		for _, rate := range []float64{5, 100, 1000} {
			for _, seconds := range []float64{60, 120, 300} {
				for i := range reps(2, 60) {
					due, to := draw(*firstSeed+i, c.a, sim.Step{RatePerS: rate, DurationS: seconds})
					n++
					if got := find(due, to); len(got) > 1 || len(got) == 1 && got[0].Ramp() {
						bad++
					}
				}
			}
		}
		runs, split = runs+n, split+bad
		t.Logf("%-22s %d of %d steady runs were split", c.name, bad, n)
	}
	bar := bars.Bar{Number: "steps", Text: "steady runs that are split", Of: fmt.Sprintf("%d runs", runs)}
	if !*fullBars {
		bar.Slack = 1.5
	}
	bar.AtMost(t, 100*float64(split)/float64(runs), 1)
}

// TestBarsEdges measures how often a change is found and how far off its edge is.
func TestBarsEdges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		a      sim.Arrivals
		change float64
		least  float64 // share found within a second
	}{
		{"constant +10 %", sim.Constant(), 1.1, 1},
		{"constant -10 %", sim.Constant(), 0.9, 1},
		{"jittered +10 %", sim.Jittered(1), 1.1, 1},
		{"Poisson +10 %", sim.Poisson(), 1.1, 0},
		{"Poisson +20 %", sim.Poisson(), 1.2, 0},
		{"Poisson +50 %", sim.Poisson(), 1.5, 0.85},
		{"Poisson +100 %", sim.Poisson(), 2, 0.95},
		{"batches of 5 +100 %", sim.Batches(5), 2, 0},
		{"MMPP 3x, cycle 5 s +100 %", sim.Bursts(3, 1, 4), 2, 0},
	} {
		found, sharp, n := 0, 0, reps(10, 100)
		for i := range n {
			due, to := draw(*firstSeed+i, c.a, sim.Step{RatePerS: 100, DurationS: 60}, sim.Step{RatePerS: 100 * c.change, DurationS: 60})
			got := find(due, to)
			if len(got) == 2 {
				found++
				if math.Abs(float64(got[1].From-start)/1e9-60) <= 1 {
					sharp++
				}
			}
		}
		t.Logf("%-26s found %d of %d, %d within 1 s", c.name, found, n, sharp)
		if c.least > 0 {
			bars.Bar{Number: "steps", Text: c.name + ": found within 1 s", Of: fmt.Sprintf("%d runs", n), Slack: float64(reps(10, 0))}.
				AtLeast(t, 100*float64(sharp)/float64(n), 100*c.least)
		}
	}
}

func BenchmarkFind(b *testing.B) {
	due, to := draw(1, sim.Poisson(), sim.Step{RatePerS: 10, DurationS: 43200}, sim.Step{RatePerS: 12, DurationS: 43200})
	c := steps.NewCounts(start, to)
	for _, at := range due {
		c.Add(at, 1)
	}
	for b.Loop() {
		c.Find()
	}
}
