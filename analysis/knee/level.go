package knee

import (
	"cmp"
	"math"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/stability"
)

// Level is what one offered rate of a sweep came to. Zero values stand for
// "unknown" where a field says so.
type Level struct {
	Offered   float64 // λ, 1/s
	Seconds   float64 // T, the window that Completed was counted over
	Completed float64 // answers per second that ended within the window
	OK        int64   // good answers of those due in the level, however late they ended
	CohortS   float64 // seconds over which those were due; 0: Seconds
	// DrainS is the time from the last arrival until in flight was back at its
	// floor; nil when it never was, or is not known.
	DrainS *float64
	// Due is the number of requests due in CohortS, dropped ones included; 0: λ·CohortS.
	Due int64
	// Dispersion is the variance-to-mean ratio of departures; 0 when unknown.
	Dispersion float64
	// CapacityHi is the upper end of the capacity that the in-flight curve of the
	// level allows, 1/s: a server that gains from concurrency may not have filled
	// up. 0 when unknown; +Inf when the level sets no limit.
	CapacityHi float64
	Dropped    bool // the generator dropped over 1 % of the arrivals
	Stability  stability.State
	Meets      bool // it meets the objectives, or there are none
	Paced      bool // arrivals at equal gaps
	// Returned levels came down from a rate past capacity, so they began in its
	// wake. They say nothing about the knee and are left out.
	Returned bool
}

// Rate is X: the larger of what ended within the window and what the cohort came
// to over the time that it took. Neither can exceed what the service does, and
// each is low where the other is not: the first in a processor-sharing overload,
// the second when clients give up.
func (l *Level) Rate() float64 {
	if l.DrainS == nil || l.OK <= 0 {
		return l.Completed
	}
	cohort := l.CohortS
	if cohort <= 0 {
		cohort = l.Seconds
	}
	return max(l.Completed, float64(l.OK)/(cohort+max(0, *l.DrainS)))
}

// usable reports whether the level can be reckoned with at all.
func (l *Level) usable() bool {
	ok := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	return ok(l.Offered) && ok(l.Seconds) && ok(l.Completed) && l.Offered > 0 && l.Seconds > 0 && l.Completed >= 0 &&
		(l.DrainS == nil || ok(*l.DrainS))
}

// rung is all that a sweep did at one offered rate.
type rung struct {
	offered, seconds, rate float64
	busyDispersion         float64 // Σ seconds·max(1, φ)
	capacityHi             float64 // highest of Level.CapacityHi
	lack                   float64 // by how much fewer arrived than were offered, 1/s; negative: more
	stable, meets          bool
	paced, dropped         bool
	backlog                bool // completed more than was offered
}

// tolerance is the shortfall that noise explains, 1/s.
func (r *rung) tolerance() float64 {
	return max(fullShare*r.offered, fullSigma*math.Sqrt(r.offered/r.seconds))
}

// served reports whether what arrived was completed. Arrivals that come in bursts
// miss their rate by much more than noise, which is not the service's doing.
func (r *rung) served() bool { return r.offered-r.rate-r.lack <= r.tolerance() }

// rungs pools levels by offered rate, in rising order.
func rungs(levels []Level) []rung {
	promoted := Promote(levels)
	var out []rung
	for i := range levels {
		l := &levels[i]
		if !l.usable() || l.Returned {
			continue
		}
		r := rung{
			offered: l.Offered, seconds: l.Seconds, rate: l.Rate(), busyDispersion: l.Seconds * max(1, l.Dispersion),
			stable:     l.Stability == stability.Stable || promoted[i] && l.Stability != stability.Unstable,
			capacityHi: l.CapacityHi, meets: l.Meets, paced: l.Paced, dropped: l.Dropped,
		}
		arrived := l.arrived()
		r.lack = l.Offered - arrived
		if r.rate-r.offered > max(0, arrived-l.Offered)+r.tolerance() {
			r.rate, r.backlog = r.offered, true
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b rung) int {
		return cmp.Or(cmp.Compare(a.offered, b.offered), cmp.Compare(a.rate, b.rate), cmp.Compare(a.seconds, b.seconds))
	})
	n := 0
	for _, r := range out {
		if n > 0 && out[n-1].offered == r.offered {
			out[n-1].add(&r)
			continue
		}
		out[n] = r
		n++
	}
	return out[:n]
}

// arrived is the rate at which requests were due, dropped ones included.
func (l *Level) arrived() float64 {
	cohort := l.CohortS
	if cohort <= 0 {
		cohort = l.Seconds
	}
	if l.Due <= 0 {
		return l.Offered
	}
	return float64(l.Due) / cohort
}

func (r *rung) add(o *rung) {
	sum := r.seconds + o.seconds
	r.rate = (r.rate*r.seconds + o.rate*o.seconds) / sum
	r.lack = (r.lack*r.seconds + o.lack*o.seconds) / sum
	r.seconds = sum
	r.busyDispersion += o.busyDispersion
	r.stable = r.stable && o.stable
	r.capacityHi = max(r.capacityHi, o.capacityHi)
	r.meets = r.meets && o.meets
	r.paced = r.paced || o.paced
	r.dropped = r.dropped || o.dropped
	r.backlog = r.backlog || o.backlog
}

// Promote applies the sweep rule: a level is stable if another one completed
// clearly more than it offers. The answer is in the order of the levels. The
// reverse does not hold: a plateau of completions does not make the levels below
// it unstable, since a server that gains from concurrency has not filled up there.
// A level that was seen to be unstable must stay so whatever this says.
func Promote(levels []Level) []bool {
	best := 0.0
	for i := range levels {
		if l := &levels[i]; l.usable() {
			x := l.Rate()
			best = max(best, x-promoteSigma*math.Sqrt(x/l.Seconds))
		}
	}
	out := make([]bool, len(levels))
	for i := range levels {
		out[i] = levels[i].usable() && levels[i].Offered <= promoteShare*best
	}
	return out
}
