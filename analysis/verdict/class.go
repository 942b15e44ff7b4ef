package verdict

import (
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/live"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/stability"
)

// fixed reports whether the closed model is declared to be the right one.
func (j *judge) fixed() bool {
	d := j.st.Run.Declaration
	return d != nil && d.Population == "fixed"
}

// inFlight judges the in-flight curve of a step.
func (j *judge) inFlight(t *judged) {
	s, w := t.Step, t.wire
	w.InFlight.Source = "rows"
	w.Stability.State = wire.Inconclusive
	if s.Rows == 0 || j.st.SampledRows > 0 {
		if j.st.SampledRows > 0 {
			w.Stability.Reason = "sampled spans: how many requests were in flight cannot be known"
		}
		return
	}
	w.InFlight.Mean = per(s.InFlight.Seconds(), s.Seconds())
	w.InFlight.AtEnd = some(float64(s.AtEnd))
	if s.Index < 0 {
		w.Stability.Reason = "judged step by step"
		w.ResponseTime.Steady, w.ServiceTime.Steady = false, false
		if len(j.steps) == 1 {
			one := j.steps[0].wire
			w.InFlight.FirstHalf, w.InFlight.SecondHalf, w.InFlight.GrowthZ = one.InFlight.FirstHalf, one.InFlight.SecondHalf, one.InFlight.GrowthZ
			w.Stability = one.Stability
			w.ResponseTime.Steady, w.ServiceTime.Steady = one.ResponseTime.Steady, one.ServiceTime.Steady
		}
		return
	}
	r := t.result
	j.halves(t, &r)
	w.Stability = wire.Stability{State: string(r.State), Z: some(r.Z), Reason: r.Reason}
	if u := r.Utilisation; r.Departures > 0 && u.Confidence > 0 && some(u.Hi) != nil {
		w.Stability.Utilisation = &wire.Estimate{Hi: some(u.Hi), Confidence: u.Confidence}
		if u.Lo > 0 { // else the window does not bound the capacity from above
			w.Stability.Utilisation.Value, w.Stability.Utilisation.Lo = some(u.Value), some(u.Lo)
		}
	}
	if r.State == stability.Inconclusive {
		w.Stability.NeedS = some(r.NeedS)
	}
	j.temper(t, r.State)
	j.late(t)
	steady := w.Stability.State == wire.Stable && !slices.Contains(r.Warnings, stability.WarnRising)
	w.ResponseTime.Steady = w.ResponseTime.Valid && steady
	w.ServiceTime.Steady = w.ServiceTime.Valid && steady
}

// halves shows the means of in flight over the halves of the part after warm-up,
// and how their difference compares with the noise of a saturated queue. They
// explain the verdict; they do not vote.
func (j *judge) halves(t *judged, r *stability.Result) {
	half := t.WarmSeconds() / 2
	if half <= 0 {
		return
	}
	f := &t.wire.InFlight
	f.FirstHalf, f.SecondHalf = some(t.Halves[0].Seconds()/half), some(t.Halves[1].Seconds()/half)
	growth := stability.FromHalves(stability.Halves{
		First: *f.FirstHalf, Second: *f.SecondHalf, Offered: r.Offered, Ended: r.Ended,
		WindowS: 2 * half, IA: r.DispersionIn, ID: r.DispersionOut,
	})
	f.GrowthZ = some(growth.GrowthZ)
}

// temper takes back what the curve alone cannot prove.
func (j *judge) temper(t *judged, state stability.State) {
	w := t.wire
	set := func(reason string) {
		w.Stability.State, w.Stability.Reason = wire.Inconclusive, reason
	}
	switch {
	case j.closed() && j.fixed():
		w.Stability = wire.Stability{State: wire.Stable, Reason: "a fixed population: in flight cannot grow beyond its size"}
	case j.st.AtOnce:
		set("all requests were due at once: no rate was offered")
		w.Stability.NeedS = nil
	case j.closed():
		set("closed loop: in flight is fixed by the generator, whatever the server does")
		w.Stability.NeedS = nil
	case t.Rate != t.ToRate:
		set("ramp: the rate changes within the step")
		w.Stability.NeedS = nil
	case state == stability.Unstable:
	case j.carried(t) && t.JudgedFrom == stability.Cut(t.From, t.To, t.Warmup):
		set(fmt.Sprintf("carried backlog: the step began with %s requests of the one before and did not drain them", human(t.CarriedIn)))
		w.Stability.NeedS = nil
	}
}

// late listens to the end of the step where it tells another story than the whole
// of it: the statistics of a window give a break in its last part little weight.
// A backlog counts only where it is higher than any before, since queues near
// their capacity come and go, and where arrivals in excess of the rate do not
// explain half of it, since bursts do. With an alarm that was still standing when
// the load ended it is proof of growth; alone, like times that rose by half, it is
// a doubt about STABLE.
func (j *judge) late(t *judged) {
	w := t.wire
	undecided := w.Stability.State == wire.Inconclusive && w.Stability.NeedS != nil
	if t.Index < 0 || w.Stability.State != wire.Stable && !undecided || t.Counts != nil || j.closed() {
		return
	}
	drain, known := j.drain(t)
	record := float64(t.AtEnd) > recordLevel*t.before() && 2*t.surplus() < float64(t.AtEnd)
	long := known && drain > max(tailShare*t.Seconds(), leastTailS)
	at, standing := j.standing(t)
	if standing && record && (long || float64(t.AtEnd) > tailLevel*j.st.Floor(t.Step)) {
		w.Stability.State, w.Stability.NeedS = wire.Unstable, nil
		w.Stability.Reason = fmt.Sprintf("from %s to %s the backlog grew", clock(at).Format("15:04:05"), t.until())
		t.growing, t.broke, t.endOnly = true, true, undecided
		return
	}
	if undecided {
		return
	}
	doubt := func(format string, args ...any) {
		w.Stability.State, w.Stability.Reason = wire.Inconclusive, fmt.Sprintf(format, args...)
		w.Stability.NeedS, t.doubted = some(2*t.Seconds()), true
	}
	switch z := t.tailRise(); {
	case standing:
		doubt("an alarm of %s was still standing at %s: what became of the backlog was not seen", clock(at).Format("15:04:05"), t.until())
	case record && long:
		doubt("the backlog at the end, the highest of the step, took %s to work off: what happened in its last part is not what it was like before", lasting(drain))
	case z > tailZ:
		doubt("in flight rose in the last fifth of the step (z %.2g): where it goes was not seen", z)
	case t.Rig.Batches != nil:
		if d, ok := t.Rig.Batches.Drifts(); ok && d.Share > driftShare {
			doubt("response times rose by %s of their mean over the step: where they go was not seen", share(d.Share))
		}
	}
}

const (
	tailShare   = 0.02 // of the step: a backlog that takes longer to work off
	leastTailS  = 1.0
	recordLevel = 1.05 // times what was before: numbers in flight are pooled in steps of 3 %
	tailLevel   = 10.0 // floors: in flight at the end that a standing alarm makes proof
	tailZ       = 2.3
	driftShare  = 0.5
	tail        = stability.Spans / 5 // the last part of the judged window
)

// before is the highest number in flight until the last fifth of the judged
// window.
func (t *judged) before() float64 {
	top := 0
	for i := range stability.Spans - tail {
		top = max(top, t.Window.Spans[i].Occupancy.Top())
	}
	return stability.Value(top)
}

// surplus is the largest number of arrivals above the offered rate in a stretch
// that ends with the step and is at most the last fifth of the judged window.
func (t *judged) surplus() float64 {
	var sum, most float64
	for i := stability.Spans - 1; i >= stability.Spans-tail; i-- {
		s := &t.Window.Spans[i]
		sum += float64(s.Arrivals) - t.result.Offered*float64(s.DurationNS)/1e9
		most = max(most, sum)
	}
	return most
}

// until says up to when the step was seen.
func (t *judged) until() string {
	if t.Cut {
		return "the last look"
	}
	return "the end of the step"
}

// standing returns when the last alarm within the step was raised, if it was not
// cleared before the step ended.
func (j *judge) standing(t *judged) (at int64, ok bool) {
	for _, e := range j.st.Alarms {
		if e.At > t.To && !t.Cut { // while it goes on, the watch sees further than what is settled
			break
		}
		switch e.Kind {
		case live.Raise:
			at, ok = e.At, e.At > t.From
		case live.Clear:
			ok = false
		}
	}
	return at, ok
}

// drain is the time after the end of the step until in flight was back at its
// floor; it is known where no load followed.
func (j *judge) drain(t *judged) (float64, bool) {
	if t.Cut || !t.Paused && t.Step != j.st.Steps[len(j.st.Steps)-1] {
		return 0, false
	}
	at, ok := t.Drained(j.st.Floor(t.Step))
	return float64(at-t.To) / 1e9, ok
}

// tailRise is the growth of in flight over the last fifth of the judged window,
// against the noise of a saturated queue (stability.md 2.6).
func (t *judged) tailRise() float64 {
	var seconds, arrivals, departures float64
	for i := stability.Spans - tail; i < stability.Spans; i++ {
		s := &t.Window.Spans[i]
		seconds += float64(s.DurationNS) / 1e9
		arrivals += float64(s.Arrivals)
		departures += float64(s.Departures)
	}
	r := &t.result
	noise := math.Sqrt(max(r.DispersionIn, 0.05)*arrivals + max(min(r.DispersionOut, 4), 0.05)*departures)
	if noise == 0 || seconds == 0 {
		return 0
	}
	return (arrivals - departures) / noise
}

// carried reports whether the step began with a backlog.
func (j *judge) carried(t *judged) bool {
	return t.Index > 0 && t.CarriedIn > 0 && float64(t.CarriedIn) > 2*j.st.Floor(t.Step)
}

// load is the offered rate that stability is judged against: the nominal one
// where arrivals bear it out, else the counted one.
func (j *judge) load(s *fold.Step) stability.Rate {
	seconds := s.Seconds()
	counted := float64(s.Rows) / seconds
	if !s.Nominal || s.Rate <= 0 || s.Rate != s.ToRate || math.Abs(float64(s.Rows)-s.Want()) > s.Slack(j.st.Process) {
		return stability.Rate{PerS: counted}
	}
	return stability.Rate{PerS: s.Rate, Known: true}
}

// classify gives the step its class: the first that holds.
func (j *judge) classify(t *judged) {
	w := t.wire
	j.losses(t)
	switch {
	case t.Rows == 0 && t.Dropped == 0, j.st.SampledRows > 0: // samplers may prefer failures
		w.Class = wire.ClassInconclusive
	case w.DroppedRatio > dropLimit && !j.allowDrops():
		w.Class = j.dropped(t)
	case t.invalid != "":
		w.Class = wire.ClassInvalid
	case w.Stability.State == wire.Unstable:
		w.Class = wire.ClassUnstable
	case t.lossy && t.shed:
		w.Class = wire.ClassShedding
	case t.lossy:
		w.Class = wire.ClassLossy
	case w.Stability.State == wire.Stable && !t.unplaced():
		w.Class = wire.ClassStable
	default:
		w.Class = wire.ClassInconclusive
	}
	if t.Index < 0 && len(j.steps) > 0 {
		w.Class = worst(j.steps)
	}
}

// worst is the class that a run of several steps has as a whole.
func worst(steps []*judged) string {
	for _, c := range [...]string{
		wire.ClassInvalid, wire.ClassUnstable, wire.ClassLossy, wire.ClassShedding, wire.ClassInconclusive,
	} {
		for _, s := range steps {
			if s.wire.Class == c {
				return c
			}
		}
	}
	return wire.ClassStable
}

// allowDrops reports whether the declaration expects the generator to drop.
func (j *judge) allowDrops() bool {
	d := j.st.Run.Declaration
	return d != nil && d.AllowDrops
}

// dropped is the class of a step that lost arrivals before they were sent. It is
// judged on what was sent, and only bad news counts.
func (j *judge) dropped(t *judged) string {
	switch {
	case t.wire.Stability.State == wire.Unstable:
		return wire.ClassUnstable
	case t.lossy, t.missed:
		return wire.ClassLossy
	}
	return wire.ClassInvalid
}

// losses compares what was answered with what was due. A loss counts when it is
// over max(1 %, 2.6·sqrt(λ/T)/λ), or when the count itself puts it above 1 %
// with the same certainty: outcomes of a cohort are counted, not sampled.
func (j *judge) losses(t *judged) {
	base := t.Rows + t.Dropped
	lost := base - t.Outcomes[sample.OK]
	if t.wire.DroppedRatio > dropLimit {
		base, lost = t.Rows, t.Rows-t.Outcomes[sample.OK]
	}
	if base == 0 {
		return
	}
	n, r := float64(base), ratio(lost, base)
	noise := 2.6 * math.Sqrt(r*(1-r)/n)
	t.lossy = r > max(0.01, 2.6/math.Sqrt(n)) || r-noise > 0.01
	t.lossy = t.lossy || t.Counts != nil && t.Counts.Failed > 0.01
	t.shed = 2*t.Outcomes[sample.Shed] > lost
}

// generatorBacklog reports whether what grew is the number of requests that the
// generator had not sent, while those at the server did not grow.
func (t *judged) generatorBacklog() bool {
	half := t.WarmSeconds() / 2
	f := t.wire.InFlight
	if half <= 0 || f.FirstHalf == nil || f.SecondHalf == nil || t.wire.LateSendRatio == nil || *t.wire.LateSendRatio <= 0.01 {
		return false
	}
	u1, u2 := t.Unsent[0].Seconds()/half, t.Unsent[1].Seconds()/half
	server := (*f.SecondHalf - u2) - (*f.FirstHalf - u1)
	return u2-u1 > 0.5*(*f.SecondHalf-*f.FirstHalf) && u2-u1 > 2 && server < 0.1*(u2-u1)
}
