package counts

import (
	"math"

	"github.com/plimsoll/plimsoll/analysis/stability"
)

// Warnings that a result may carry.
const (
	// WarnFewEnded says that fewer than 100 ended after the warm-up.
	WarnFewEnded = "few_ended"
	// WarnFewExports says that fewer than four export intervals are judged.
	WarnFewExports = "few_exports"
	// WarnRateCounted says that the offered rate was counted, not declared.
	WarnRateCounted = "rate_counted"
	// WarnUneven says that exports met the generator's own flushes in turn before
	// and after: they were joined, or their counts placed by the pace.
	WarnUneven = "exports_uneven"
	// WarnAllocated says that the gauge counts workers that are idle.
	WarnAllocated = "gauge_counts_idle"
	// WarnOverflow says that attributes were folded into one series by a limit.
	WarnOverflow = "attributes_overflow"
	// WarnFailures says that more than 1 % failed: giving up holds the number in
	// flight level in any overload, so that stable says nothing about service.
	WarnFailures = "held_by_failures"
	// WarnNoGauge says that in flight is known by Little's law alone.
	WarnNoGauge = "no_gauge"
)

// Result is the judgement of one step from counts.
type Result struct {
	Evidence

	State    stability.State
	Loop     Loop
	Reason   string   // one plain sentence
	Advice   []string // what would raise the evidence, most useful first
	Warnings []string
	Omission float64 // dropped over offered, of the whole input
	Failed   float64 // share of requests, else of what ended, that failed
	NeedS    float64 // seconds of step that would decide; 0 where no length would
}

const (
	leastEnded   = 100
	leastExports = 4
	noDrops      = 0.002 // of the offered
	mostDrops    = 0.01  // above which nothing is called stable
	growE        = 1.0
	growZ        = -0.7
	capSigma     = 2.6
	sameLevel    = 0.15 // between a gauge and Little's law
	mostFailed   = 0.01
)

// Judge decides whether the backlog grows without end, by the five rules of
// docs/counts.md.
func Judge(in Input) Result {
	uneven := false
	w, ev := measure(in)
	loop := w.loop()
	if n := joining(w); n > 1 {
		joined := in.merged(n)
		joined.UnloadedS = ev.UnloadedS // the shortest interval shows it best
		joined.uneven = true
		jw, jev := measure(joined)
		if jev.Intervals >= leastExports {
			jev.Offered, jev.EndedPerS = ev.Offered, ev.EndedPerS // single exports show them best
			w, ev, uneven = jw, jev, true
		}
	}
	r := Result{Evidence: ev, State: stability.Inconclusive, Loop: loop}
	if t := in.Totals(); t.Ended+t.Dropped > 0 {
		r.Omission = t.Dropped / (t.Ended + t.Dropped)
	}
	r.Failed = in.failedShare()
	r.warn(w, uneven || w.uneven)
	offered := ev.Offered * ev.WindowS
	calm := ev.Dropped <= noDrops*offered
	switch {
	case ev.Ended < leastEnded || ev.Intervals < leastExports || r.Loop == LoopClosed:
	case calm && ev.G >= ev.GBar && ev.E >= growE && ev.Z <= growZ:
		r.State = stability.Unstable
	case !calm && ev.CapacityUp > 0 && ev.Offered-ev.CapacityUp > r.capNoise():
		r.State = stability.Unstable
	case ev.Path != PathLittle && ev.V < ev.VMost && ev.R < ev.RMost && ev.G < ev.GBar && r.Omission <= mostDrops:
		r.State = stability.Stable
	}
	if r.State == stability.Inconclusive {
		r.NeedS = r.need(calm, in.one())
	}
	r.Reason = r.reason(&in, calm)
	r.Advice = r.advice(&in, calm)
	return r
}

// capNoise is how far the offered rate must exceed the capacity that a limit of
// workers allows.
func (r *Result) capNoise() float64 {
	return capSigma * r.CapacityUp / r.EndedPerS * math.Sqrt(r.S2*r.EndedPerS/r.WindowS)
}

func (r *Result) warn(w *window, uneven bool) {
	add := func(yes bool, warning string) {
		if yes {
			r.Warnings = append(r.Warnings, warning)
		}
	}
	add(r.Ended < leastEnded, WarnFewEnded)
	add(r.Intervals < leastExports, WarnFewExports)
	add(w.in.Rate.PerS <= 0, WarnRateCounted)
	add(uneven, WarnUneven)
	add(r.Ended > 0 && w.allocated(), WarnAllocated)
	add(w.in.Overflow, WarnOverflow)
	add(r.Path == PathLittle, WarnNoGauge)
	add(r.Failed > mostFailed, WarnFailures)
}

// need is the length of step that is expected to decide: growth of an overload
// rises over its noise like √T, and what wanders about a level falls like √T.
func (r *Result) need(calm, one bool) float64 {
	if r.Loop == LoopClosed || !calm || r.WindowS <= 0 || one {
		return 0
	}
	factor := 1.5
	switch {
	case r.Ended < leastEnded:
		factor = max(factor, 1.5*leastEnded/max(r.Ended, 1))
	case r.Intervals < leastExports:
		factor = max(factor, 1.5*leastExports/float64(max(r.Intervals, 1)))
	case r.G > growE:
		factor = max(factor, math.Pow((r.GBar+1)/r.G, 2))
	case r.VMost > 0:
		factor = max(factor, math.Pow(max(r.V/r.VMost, r.R/r.RMost), 2))
	}
	return r.WindowS * min(factor, 100) / (1 - warmUp)
}

// loop tells closed from open: workers that are always all busy, without a drop,
// or as many users as ever, decide themselves when to send.
func (w *window) loop() Loop {
	switch {
	case w.in.Loop != LoopUnknown:
		return w.in.Loop
	case w.in.Rate.PerS > 0:
		return LoopOpen
	case w.ev.Dropped > 0 || w.ev.Intervals == 0:
		return LoopUnknown
	case w.in.one() && w.ev.MeanS > 0 && w.ev.Mean >= (1-sameLevel)*w.in.Intervals[0].Limit:
		return LoopClosed
	}
	if n, ok := w.level(); ok && math.Abs(w.ev.Mean-n) <= sameLevel*n {
		return LoopClosed
	}
	return LoopUnknown
}

// level returns the number that the gauge showed nearly all the time while no
// worker was idle, or all the time where nobody says how many workers there are;
// false when it moved, was zero or was seen less than three times. A light paced
// load may show one number all the time, with workers idle beside it.
func (w *window) level() (float64, bool) {
	seen, same, busy, idle := 0, 0, 0, 0
	mode := mostCommon(w.ends)
	for i, n := range w.ends {
		if math.IsNaN(n) {
			continue
		}
		seen++
		if n != mode {
			continue
		}
		same++
		if at := w.cut + i - 1; at >= 0 && w.in.Intervals[at].Limit == n {
			busy++
		} else if at >= 0 && w.in.Intervals[at].Limit > n {
			idle++
		}
	}
	full := float64(busy) >= 0.8*float64(seen)
	return mode, mode >= 1 && (seen >= 3 && full || seen >= 8 && same == seen && idle == 0)
}

// allocated reports a gauge that counts workers which wait for work: as many as
// exist, from the first second, without a drop, and far more than Little's law
// finds busy.
func (w *window) allocated() bool {
	if w.ev.Dropped > 0 || w.ev.Ended < leastEnded || len(w.ends) < 3 {
		return false
	}
	for i := range w.in.Intervals {
		v := &w.in.Intervals[i]
		if !math.IsNaN(v.InFlight) && !math.IsNaN(v.Limit) && v.InFlight != v.Limit {
			return false
		}
	}
	n, ok := w.level()
	return ok && !math.IsNaN(w.in.Intervals[len(w.in.Intervals)-1].Limit) && w.ev.Mean < (1-sameLevel)*n
}

// joining returns how many neighbouring intervals to join, 1 for none. A
// generator hands over its samples at a period of its own. Where exports meet it
// in turn before and after, one interval holds what the next one misses: counts
// alternate, which no queue does.
func joining(w *window) int {
	if len(w.e) < 12 || w.t/float64(len(w.e)) >= shortE {
		return 1
	}
	judged := w.in.Intervals[w.cut:]
	x := make([]float64, len(judged))
	for i := range judged {
		x[i] = judged[i].Ended / w.e[i]
	}
	if v := variance(x); v == 0 || v < average(x)*float64(len(x))/w.t || neighbours(x)/v > -0.25 {
		return 1
	}
	return max(3, int(math.Ceil(3*float64(len(w.e))/w.t)))
}
