package metastability_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/metastability"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/sim"
	"github.com/plimsoll/plimsoll/internal/bars"
)

// The bars are what the judgement of a push promises. The short form runs
// always, one seed per case; the full form is
//
//	go test ./analysis/metastability -run Bars -bars -v
var fullBars = flag.Bool("bars", false, "measure the bars of the judgement of a push in full")

const capacity = 100.0 // of every server below, at its best

// pushCase is a push of which the outcome is known by construction.
type pushCase struct {
	name                      string
	base, push, pushS, watchS float64
	server                    sim.Server
	retry                     sim.Retry
	lastIn                    bool
	dropAfterS                float64
	want                      metastability.State
	longS                     float64 // how long the truth is followed
}

const beforeS = 60.0

func pushCases() []pushCase {
	queue := sim.Queue(sim.Exponential(), 8)(capacity)
	room := func(s sim.Server, n int) sim.Server { s.Room = n; return s }
	// The speed of this one is highest, 10.7, at 43 requests and a ninth of that at 1,500.
	falling := sim.Sharing(sim.Exponential(), sim.Retrograde(0.05, 0.0005), 10.72)(capacity)
	thrice := sim.Retry{TimeoutS: 1, Attempts: 3, BackoffS: 0.2}
	budget := thrice
	budget.Budget = 0.1
	once := sim.Retry{TimeoutS: 1}
	return []pushCase{
		{name: "queue, watched to the end", base: 60, push: 150, pushS: 30, watchS: 120, server: queue, want: metastability.Recovered},
		{name: "queue, watched briefly", base: 60, push: 150, pushS: 30, watchS: 20, server: queue, want: metastability.Draining, longS: 100},
		{name: "excess shed", base: 60, push: 200, pushS: 30, watchS: 60, server: room(queue, 50), want: metastability.Recovered},
		{name: "three attempts at 70", base: 70, push: 150, pushS: 30, watchS: 120, server: queue, retry: thrice, want: metastability.Sustained, longS: 600},
		{name: "three attempts at 30, watched briefly", base: 30, push: 150, pushS: 20, watchS: 60, server: queue, retry: thrice, want: metastability.Draining, longS: 1500},
		{name: "three attempts at 30, watched to the end", base: 30, push: 150, pushS: 10, watchS: 600, server: queue, retry: thrice, want: metastability.Recovered},
		{name: "three attempts within a budget of a tenth", base: 70, push: 150, pushS: 30, watchS: 200, server: queue, retry: budget, want: metastability.Recovered},
		{name: "time-outs alone, watched to the end", base: 60, push: 150, pushS: 30, watchS: 120, server: queue, retry: once, want: metastability.Recovered},
		{name: "time-outs alone, watched briefly", base: 60, push: 150, pushS: 30, watchS: 20, server: queue, retry: once, want: metastability.Draining, longS: 100},
		{name: "speed lost to concurrency", base: 60, push: 150, pushS: 30, watchS: 120, server: falling, want: metastability.Degraded, longS: 300},
		{name: "speed lost to concurrency, bounded", base: 60, push: 150, pushS: 30, watchS: 120, server: room(falling, 400), want: metastability.Degraded, longS: 300},
		{name: "newest first", base: 60, push: 150, pushS: 30, watchS: 120, server: queue, retry: thrice, lastIn: true, want: metastability.Recovered},
		{name: "the stale discarded", base: 70, push: 150, pushS: 30, watchS: 120, server: queue, retry: thrice, dropAfterS: 0.6, want: metastability.Recovered},
		{name: "retries and speed lost", base: 45, push: 150, pushS: 30, watchS: 120, server: falling, retry: thrice, want: metastability.Sustained, longS: 600},
	}
}

// run simulates a case, watched and for long enough to know what becomes of it.
func (c *pushCase) run(seed uint64) (cells []metastability.Span, a sim.Aftermath) {
	long := max(c.longS, c.watchS+40)
	a = sim.RunPersistent(sim.Persistent{
		Steps:    []sim.Step{{RatePerS: c.base, DurationS: beforeS}, {RatePerS: c.push, DurationS: c.pushS}, {RatePerS: c.base, DurationS: long}},
		Arrivals: sim.Poisson(), Server: c.server, Retry: c.retry, LastIn: c.lastIn, DropAfterS: c.dropAfterS,
	}, rand.New(rand.NewPCG(seed, 3)))
	return cellsOf(a, int(beforeS+c.pushS+long)), a
}

// cellsOf counts by the second what a client could count.
func cellsOf(a sim.Aftermath, n int) []metastability.Span {
	out := make([]metastability.Span, n)
	times := make([][]float64, n)
	for i := range out {
		out[i] = metastability.Span{FromS: float64(i), ToS: float64(i + 1), MedianS: math.NaN()}
	}
	at := func(ns int64) int { return int(ns / 1e9) }
	for _, x := range a.Exchanges {
		due := at(x.Intended)
		out[due].Due++
		times[due] = append(times[due], float64(x.Done-x.Intended)/1e9)
		if x.Outcome == sample.OK {
			out[due].Good++
		}
		for _, t := range x.Attempts {
			if i := at(t); i < n {
				out[i].Attempts++
			}
		}
		if i := at(x.Done); i < n {
			switch x.Outcome {
			case sample.OK:
				out[i].Completed++
			case sample.Timeout:
				out[i].Timeouts++
			}
		}
		for i := due; i < n && float64(i)*1e9 < float64(x.Done); i++ {
			from, to := max(float64(x.Intended), float64(i)*1e9), min(float64(x.Done), float64(i+1)*1e9)
			out[i].InFlight += (to - from) / 1e9
		}
	}
	for _, t := range a.Refused {
		if i := at(t); i < n {
			out[i].Refused++
		}
	}
	for i := range out {
		if slices.Sort(times[i]); len(times[i]) > 0 {
			out[i].MedianS = times[i][len(times[i])/2]
		}
	}
	return out
}

// recovery is the oracle: the first second after the return of 30 of
// which all but two look like before the push, by the second; NaN when there is none.
func (c *pushCase) recovery(cells []metastability.Span) float64 {
	var n, median float64
	for _, s := range cells[12:int(beforeS)] {
		n, median = max(n, s.InFlight), max(median, s.MedianS)
	}
	first := int(beforeS + c.pushS)
	ok := make([]bool, len(cells))
	for i, s := range cells {
		ok[i] = float64(s.Good) >= 0.95*float64(s.Due) && s.InFlight <= 1.5*n+3 && !(s.MedianS > 2*median)
	}
	for i := first; i+30 <= len(cells); i++ {
		bad := 0
		for _, fine := range ok[i : i+30] {
			if !fine {
				bad++
			}
		}
		if ok[i] && bad <= 2 {
			return float64(i - first)
		}
	}
	return math.NaN()
}

// truth is the state of a case by its oracle.
func (c *pushCase) truth(cells []metastability.Span) (metastability.State, float64) {
	after := c.recovery(cells)
	switch {
	case after <= c.watchS-max(5, c.watchS/10):
		return metastability.Recovered, after
	case !math.IsNaN(after):
		return metastability.Draining, after - c.watchS
	}
	last := cells[len(cells)-50:]
	due, attempts := 0.0, 0.0
	for _, s := range last {
		due += float64(s.Due)
		attempts += float64(s.Attempts)
	}
	if attempts > 1.15*due {
		return metastability.Sustained, 0
	}
	return metastability.Degraded, 0
}

func (c *pushCase) input(cells []metastability.Span, known bool) metastability.Input {
	back := int(beforeS + c.pushS)
	in := metastability.Input{Before: cells[:int(beforeS)], Push: cells[int(beforeS):back], After: cells[back : back+int(c.watchS)], Offered: c.base}
	if known {
		in.Capacity = capacity
	}
	return in
}

// TestBarsPush is bar 14.
func TestBarsPush(t *testing.T) {
	t.Parallel()
	seeds := 1
	if *fullBars {
		seeds = 20
	}
	right, rightUnknown, wrongUnknown, all := 0, 0, 0, 0
	farthest, worstEta := 0.0, 1.0
	for _, c := range pushCases() {
		for seed := range seeds {
			all++
			cells, _ := c.run(uint64(seed))
			truth, number := c.truth(cells)
			if truth != c.want {
				t.Errorf("%s, seed %d: the oracle says %s", c.name, seed, truth)
			}
			r := metastability.Judge(c.input(cells, true))
			if r.State != c.want {
				t.Errorf("%s, seed %d: %s: %s", c.name, seed, r.State, r.Reason)
				continue
			}
			right++
			switch {
			case r.State == metastability.Recovered:
				miss := *r.RecoveredAfterS - number
				farthest = max(farthest, math.Abs(miss))
				if math.Abs(miss) > 3 {
					t.Errorf("%s, seed %d: recovered after %v s, the oracle says %v", c.name, seed, *r.RecoveredAfterS, number)
				}
			case r.State == metastability.Draining:
				ratio := max(*r.EtaS/number, number / *r.EtaS)
				worstEta = max(worstEta, ratio)
				if ratio > 2 {
					t.Errorf("%s, seed %d: eta %v s, the oracle says %v", c.name, seed, *r.EtaS, number)
				}
			}
			u := metastability.Judge(c.input(cells, false))
			switch u.State {
			case c.want:
				rightUnknown++
			case metastability.Undecided:
			default:
				wrongUnknown++
				t.Logf("capacity unknown: %s, seed %d: %s: %s", c.name, seed, u.State, u.Reason)
			}
			if seed == 0 {
				t.Logf("%-42s %s: %s", c.name, r.State, r.Reason)
			}
		}
	}
	if wrongUnknown > 0 {
		t.Errorf("capacity unknown: %d wrong", wrongUnknown)
	}
	bar := bars.Bar{Number: "14", Text: "push and return, capacity known: right", Of: fmt.Sprintf("%d runs", all)}
	bar.AtLeast(t, 100*float64(right)/float64(all), 100)
	bar.Text, bar.Unit = "recovery time off by", "s"
	bar.AtMost(t, farthest, 3)
	bar.Text, bar.Unit = "time to drain off by a factor of", "times"
	bar.AtMost(t, worstEta, 2)
	t.Logf("capacity unknown: %d right, %d undecided, %d wrong", rightUnknown, all-rightUnknown-wrongUnknown, wrongUnknown)
}

// coarse merges spans of one second into longer ones.
func coarse(cells []metastability.Span, width int) []metastability.Span {
	var out []metastability.Span
	for i := 0; i < len(cells); i += width {
		part := cells[i:min(i+width, len(cells))]
		s := part[0]
		var times []float64
		area := 0.0
		for k, p := range part {
			area += p.InFlight
			if !math.IsNaN(p.MedianS) {
				times = append(times, p.MedianS)
			}
			if k == 0 {
				continue
			}
			s.ToS = p.ToS
			s.Due, s.Good, s.Completed, s.Timeouts = s.Due+p.Due, s.Good+p.Good, s.Completed+p.Completed, s.Timeouts+p.Timeouts
			s.Attempts, s.Refused = s.Attempts+p.Attempts, s.Refused+p.Refused
		}
		s.InFlight = area / float64(len(part))
		if slices.Sort(times); len(times) > 0 {
			s.MedianS = times[len(times)/2]
		}
		out = append(out, s)
	}
	return out
}

// TestBarsPoorerData repeats the cases with what other sources give: longer
// spans, good answers counted when they come, a rate that nobody declared.
func TestBarsPoorerData(t *testing.T) {
	t.Parallel()
	seeds := 1
	if *fullBars {
		seeds = 20
	}
	const byFlow = "good answers by flow"
	flows := func(spans []metastability.Span) []metastability.Span {
		out := slices.Clone(spans)
		for i := range out {
			out[i].Good = out[i].Completed
		}
		return out
	}
	same := func(spans []metastability.Span) []metastability.Span { return spans }
	for _, v := range []struct {
		name string
		edit func([]metastability.Span) []metastability.Span
		rate bool
	}{
		{"rate not declared", same, false},
		{byFlow, flows, true},
		{"spans of 5 s", func(s []metastability.Span) []metastability.Span { return coarse(s, 5) }, true},
		{"spans of 10 s", func(s []metastability.Span) []metastability.Span { return coarse(s, 10) }, true},
	} {
		right, wrong, all, farthest, worstEta := 0, 0, 0, 0.0, 1.0
		for _, c := range pushCases() {
			for seed := range seeds {
				all++
				cells, _ := c.run(uint64(seed))
				_, number := c.truth(cells)
				in := c.input(cells, true)
				in.GoodByFlow = v.name == byFlow
				in.Before, in.Push, in.After = v.edit(in.Before), v.edit(in.Push), v.edit(in.After)
				if !v.rate {
					in.Offered = 0
				}
				r := metastability.Judge(in)
				switch {
				case r.State != c.want && r.State != metastability.Undecided:
					wrong++
					t.Logf("%s: %s, seed %d: %s: %s", v.name, c.name, seed, r.State, r.Reason)
				case r.State != c.want:
				case r.State == metastability.Recovered:
					right++
					farthest = max(farthest, math.Abs(*r.RecoveredAfterS-number))
				default:
					right++
					if r.EtaS != nil {
						worstEta = max(worstEta, *r.EtaS/number, number / *r.EtaS)
					}
				}
			}
		}
		t.Logf("%s: %d of %d right, %d wrong; recovery within %.0f s, eta within a factor of %.2f", v.name, right, all, wrong, farthest, worstEta)
		if wrong*50 > all || right*20 < all*18 {
			t.Errorf("%s: %d of %d right, %d wrong", v.name, right, all, wrong)
		}
	}
}
