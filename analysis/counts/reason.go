package counts

import (
	"fmt"
	"math"

	"github.com/plimsoll/plimsoll/analysis/stability"
)

// reason says in one sentence what decided, or what kept it from being decided.
func (r *Result) reason(in *Input, calm bool) string {
	grew := fmt.Sprintf("in flight by Little's law went from %.4g to %.4g between halves of %.3g s", r.First, r.Second, r.WindowS)
	switch {
	case in.one() && r.Loop == LoopClosed:
		return fmt.Sprintf("a closed loop: %.4g/s is what the service let it send; no rate was offered", r.EndedPerS)
	case in.one():
		return fmt.Sprintf("the tool says one thing of %.4g s, at the end: whether the backlog grew cannot be seen", r.WindowS)
	case r.Ended < leastEnded:
		return fmt.Sprintf("only %.0f ended after the warm-up; at least %d are needed", r.Ended, leastEnded)
	case r.Intervals < leastExports:
		return fmt.Sprintf("only %d export intervals after the warm-up; at least %d are needed", r.Intervals, leastExports)
	case r.Loop == LoopClosed:
		return fmt.Sprintf("a closed loop: %.4g in flight throughout, so that %.4g/s is what the service let it send; no rate was offered",
			average(r.Level), r.EndedPerS)
	case r.State == stability.Unstable && calm:
		return fmt.Sprintf("%s, %.2g times the noise of a saturated queue (the bar is %.2g)", grew, r.G, r.GBar)
	case r.State == stability.Unstable:
		return fmt.Sprintf("with %.4g workers all busy %.4g/s of %.4g/s get through, and with any number at most %.4g/s",
			r.Limit, r.EndedPerS, r.Offered, r.CapacityUp)
	case r.State == stability.Stable:
		held := ""
		if r.Failed > mostFailed {
			held = fmt.Sprintf("; but %.3g %% of requests failed, and giving up holds it level in any overload", 100*r.Failed)
		}
		return fmt.Sprintf("in flight stays calm: it wanders %.2g times as far as a saturated queue would (the bar is %.2g)%s", r.V, r.VMost, held)
	case !calm:
		return r.limited(in)
	case r.Path == PathLittle:
		return grew + "; without a gauge of what is in flight, growth that is not seen is no proof of its absence"
	case r.G >= r.GBar:
		return grew + fmt.Sprintf(", %.2g times the noise of a saturated queue, but a server that is still filling up does so too", r.G)
	}
	return grew + fmt.Sprintf(", within the noise of a saturated queue, and it wanders %.2g times as far as one would (stable needs %.2g); about %.0f s would decide",
		r.V, r.VMost, r.NeedS)
}

// limited explains drops that the rules cannot see past.
func (r *Result) limited(in *Input) string {
	lost := fmt.Sprintf("%.0f of %.0f arrivals were dropped", r.Dropped, r.Dropped+r.Ended)
	name := limitName(in.Generator)
	switch {
	case r.Limit > 0 && in.growing():
		return fmt.Sprintf("%s while workers were still being added: %.4g of them get through %.4g/s of %.4g/s", lost, r.Limit, r.EndedPerS, r.Offered)
	case r.Limit > 0:
		return fmt.Sprintf("limited by %s: %.4g workers get through %.4g/s of %.4g/s; more of them may or may not carry the rest",
			name, r.Limit, r.EndedPerS, r.Offered)
	}
	return lost + " though workers were idle later: for a while none was free, so that what was sent flatters the service"
}

// growing reports workers that were still being added in the last half.
func (in *Input) growing() bool {
	n := len(in.Intervals)
	if n < 2 {
		return false
	}
	a, b := in.Intervals[n/2].Limit, in.Intervals[n-1].Limit
	return !math.IsNaN(a) && b > a
}

// advice names the options that would raise the evidence.
func (r *Result) advice(in *Input, calm bool) []string {
	var out []string
	g := known(in.Generator)
	add := func(yes bool, text string) {
		if yes && text != "" {
			out = append(out, text)
		}
	}
	if r.State == stability.Inconclusive && r.Loop != LoopClosed && !calm && g.limit != "" {
		workers := r.MeanS*r.EndedPerS + 0.1*r.Offered*r.WindowS
		add(true, fmt.Sprintf("set %s to %.0f or more, all of them allocated before the start, so that nothing is dropped", g.limit, math.Ceil(workers)))
	}
	if r.State == stability.Inconclusive && r.Loop != LoopClosed {
		add(in.Rate.PerS <= 0 && !in.one(), "declare the offered rate and how arrivals come")
		add(r.Intervals > 0 && r.WindowS/float64(r.Intervals) >= shortE && (r.WindowS < 60 || !calm), g.interval)
		add(true, g.starts)
	}
	add(r.Loop == LoopClosed, "offer a rate (an open model) to learn what it carries")
	var b *Buckets
	for i := range in.Intervals {
		b = sum(b, firstOf(in.Intervals[i].Answers, in.Intervals[i].Durations))
	}
	if why := b.Useless(); b != nil && why != "" {
		add(true, why+": "+g.histogram)
	}
	return out
}

func firstOf(a, b *Buckets) *Buckets {
	if a != nil {
		return a
	}
	return b
}
