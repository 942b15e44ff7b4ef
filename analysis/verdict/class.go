package verdict

import (
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
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
	case j.closed() && !j.fixed():
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

// carried reports whether the step began with a backlog.
func (j *judge) carried(t *judged) bool {
	return t.Index > 0 && t.CarriedIn > 0 && float64(t.CarriedIn) > 2*j.st.Floor(t.Step)
}

// load is the offered rate that stability is judged against: the nominal one
// where arrivals bear it out, else the counted one.
func (j *judge) load(s *fold.Step) stability.Rate {
	seconds := s.Seconds()
	counted := float64(s.Rows) / seconds
	if !s.Nominal || s.Rate <= 0 || s.Rate != s.ToRate {
		return stability.Rate{PerS: counted}
	}
	n := s.Rate * seconds
	if math.Abs(float64(s.Rows)-n) > max(0.02*n, 4*math.Sqrt(n)) {
		return stability.Rate{PerS: counted}
	}
	return stability.Rate{PerS: s.Rate, Known: true}
}

// classify gives the step its class: the first that holds.
func (j *judge) classify(t *judged) {
	w := t.wire
	j.losses(t)
	switch {
	case t.Rows == 0 && t.Dropped == 0:
		w.Class = wire.ClassInconclusive
	case w.DroppedRatio > dropLimit:
		w.Class = j.dropped(t)
	case t.invalid != "":
		w.Class = wire.ClassInvalid
	case w.Stability.State == wire.Unstable:
		w.Class = wire.ClassUnstable
	case t.lossy && t.shed:
		w.Class = wire.ClassShedding
	case t.lossy:
		w.Class = wire.ClassLossy
	case w.Stability.State == wire.Stable:
		w.Class = wire.ClassStable
	default:
		w.Class = wire.ClassInconclusive
	}
	if t.Index < 0 && len(j.steps) > 1 {
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
