package verdict

import (
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/audit"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/knee"
	"github.com/plimsoll/plimsoll/analysis/metastability"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/stability"
)

// levels are the steps as rungs of a sweep. Steps that came down from a rate
// past capacity began in its wake and are marked.
func (j *judge) levels() []knee.Level {
	_, back, pushed := j.push()
	out := make([]knee.Level, len(j.steps))
	for i, t := range j.steps {
		w := t.wire
		l := knee.Level{
			Offered: value(w.Offered), Seconds: t.WarmSeconds(), Completed: value(w.Completed), OK: j.answered(i),
			CohortS: t.Seconds(), DrainS: w.DrainS, Due: w.Due, Dropped: t.shortOfWorkers(),
			Stability: stability.State(w.Stability.State), Meets: !t.missed && !t.wasteful() && !t.lossy, Paced: j.paced(t), Dispersion: t.dispersion(),
			Returned: pushed && i >= back, CapacityHi: t.capacityHi(),
		}
		if w.Completed == nil || w.Class == wire.ClassInvalid || t.Silent > (t.To-t.From)/50 || ramps(t.Step) {
			l.Seconds = 0 // not usable
		}
		out[i] = l
	}
	return out
}

// capacityHi is the upper end of the capacity by the in-flight curve of a step
// that is not decided; 0 where requests were lost, which says what was missing, or
// nothing is known.
func (t *judged) capacityHi() float64 {
	u := t.result.Utilisation
	switch {
	case t.wire.Stability.State != wire.Inconclusive || t.lossy || t.wire.DroppedRatio > dropLimit || t.result.Departures == 0 || u.Confidence == 0:
		return 0
	case u.Lo <= 0:
		return math.Inf(1)
	}
	return t.result.Offered / u.Lo
}

// shortOfWorkers reports whether the generator dropped arrivals, or held them
// back because all its workers were waiting for answers.
func (t *judged) shortOfWorkers() bool {
	if t.wire.DroppedRatio > dropLimit {
		return true
	}
	if t.Counts != nil || t.wire.LateSendRatio == nil || *t.wire.LateSendRatio <= dropLimit {
		return false
	}
	r := t.Rig.Loop.Result()
	_, ok := r.Plateau()
	return ok && r.Kind == audit.CappedLoop
}

// promote settles steps that the sweep proves: a level is stable if another one
// completed clearly more (stability.md 3.1). The reverse inference is not safe.
func (j *judge) promote() {
	if len(j.steps) < 2 || j.closed() || j.st.SampledRows > 0 {
		return
	}
	levels := j.levels()
	for i, ok := range knee.Promote(levels) {
		t := j.steps[i]
		if !ok || levels[i].Returned || t.Rows == 0 || t.doubted {
			continue
		}
		s := &t.wire.Stability
		switch {
		case t.wire.Class == wire.ClassInconclusive:
			s.State, s.NeedS = wire.Stable, nil
			s.Reason = "another step completed clearly more than this one was offered"
			t.wire.Class = wire.ClassStable
		case t.wire.Class == wire.ClassUnstable && t.endOnly: // or was it still filling up?
			s.State, s.NeedS = wire.Inconclusive, some(2*t.Seconds())
			s.Reason += ", though another step completed clearly more than this one was offered"
			t.wire.Class = wire.ClassInconclusive
		}
	}
}

// sweep reads the steps as a sweep and fills in the knee.
func (j *judge) sweep() knee.Result {
	r := knee.Judge(j.levels(), knee.Options{})
	if j.closed() && !j.fixed() || j.st.SampledRows > 0 {
		r = knee.Result{State: knee.NotTested}
	}
	k := &j.doc.Knee
	k.State = string(r.State)
	if r.State == knee.NotTested {
		return r
	}
	k.Offered, k.Bracket, k.ServedInFull, k.Recommended = r.Offered, r.Bracket, r.ServedInFull, r.Recommended
	if r.Shape != knee.None {
		s := string(r.Shape)
		k.Shape = &s
	}
	if c := r.Capacity; c != nil && !j.declaredCapacity() {
		k.Capacity = &wire.Estimate{Value: some(c.Value), Lo: some(c.Lo), Hi: some(c.Hi), Confidence: c.Confidence}
	}
	j.kneeFindings(&r)
	return r
}

func (j *judge) kneeFindings(r *knee.Result) {
	if r.State == knee.Found && r.Offered != nil {
		j.find("knee", wire.Info, *r.Offered, "%s.", kneeSentence(r))
	}
	for _, next := range r.Next {
		j.find("next_rate", wire.Info, next.RatePerS, "To narrow the capacity, run %s for %s: %s.",
			rate(next.RatePerS), lasting(next.DurationS), next.Why)
	}
	for _, w := range r.Warnings {
		switch w {
		case knee.WarnPaced:
			j.find("paced_arrivals", wire.Info, value(r.Offered),
				"Arrivals came at equal gaps: users, who do not, will be carried up to less than this capacity.")
		case knee.WarnShort:
			j.find("short_steps", wire.Info, value(r.Offered), "The steps around the knee are too short to tell their rates apart.")
		case knee.WarnDropped:
			j.find("capacity_of_workers", wire.Warn, value(r.Offered), "In the steps that bound the capacity the generator ran out of workers: it is the capacity with so many of them.")
		}
	}
}

// kneeSentence says where the knee is and what lies beyond it.
func kneeSentence(r *knee.Result) string {
	at := rate(*r.Offered)
	s := "The knee is at " + at
	switch full := r.ServedInFull; {
	case full == nil:
	case rate(*full) == at:
		s += ", the last rate that was served in full"
	default:
		s = fmt.Sprintf("%s was served in full and %s no longer (the knee)", rate(*full), at)
	}
	if c := r.Capacity; c != nil {
		s += fmt.Sprintf(", the capacity is %s (%s to %s)", rate(c.Value), bound(c.Lo), bound(c.Hi))
	}
	if slices.Contains(r.Warnings, knee.WarnDropped) {
		s += " with this generator's workers"
	}
	switch r.Shape {
	case knee.Collapse:
		s += ", and past it completions collapse"
	case knee.Saturation:
		s += ", and past it completions stay level"
	}
	return s
}

// push finds a rate past capacity that was followed by one that should be carried.
func (j *judge) push() (push, back int, ok bool) {
	rates := make([]metastability.StepRate, len(j.steps))
	for i, t := range j.steps {
		c := t.wire.Class
		rates[i] = metastability.StepRate{
			PerS: value(t.wire.Offered), SD: t.countNoise(), Fine: c == wire.ClassStable,
			Past: c == wire.ClassUnstable || c == wire.ClassLossy || c == wire.ClassShedding,
		}
	}
	return metastability.Find(rates)
}

// recovery judges what became of the service after a push. It reads the series,
// which the state holds only when that was asked for.
func (j *judge) recovery() {
	push, back, ok := j.push()
	if !ok || j.st.Series == nil || j.st.SampledRows > 0 {
		return
	}
	in := metastability.Input{
		Before: j.spans(j.before(push, back)), Push: j.between(j.steps[push].From, j.steps[back].From),
		After: j.between(j.steps[back].From, j.lastDue(back)), Offered: j.steps[back].Rate,
	}
	if c := j.doc.Knee.Capacity; c != nil && c.Value != nil {
		in.Capacity, in.LowerBound = *c.Value, j.doc.Knee.State == wire.NotTested && !j.declaredCapacity()
	}
	j.witness(&in)
	r := metastability.Judge(in)
	m := &j.doc.Metastability
	m.State, m.RecoveredAfterS, m.EtaS, m.WatchedS = string(r.State), r.RecoveredAfterS, r.EtaS, some(r.WatchedS)
	for _, s := range r.Signals {
		m.Signals = append(m.Signals, wire.Signal{Name: s.Name, Value: some(s.Value), Unit: s.Unit})
	}
	severity := map[metastability.State]string{
		metastability.Recovered: wire.Info, metastability.Sustained: wire.Fail, metastability.Degraded: wire.Fail,
	}[r.State]
	if severity == "" {
		severity = wire.Warn
	}
	j.find("recovery", severity, r.WatchedS, "Back at %s after %s: %s.",
		rate(value(j.steps[back].wire.Offered)), rate(j.peak(push, back)), r.Reason+queued(&r))
}

// peak is the highest rate of a push.
func (j *judge) peak(push, back int) float64 {
	var top float64
	for _, t := range j.steps[push:back] {
		top = max(top, value(t.wire.Offered))
	}
	return top
}

func (j *judge) declaredCapacity() bool {
	d := j.st.Run.Declaration
	return d != nil && d.CapacityPerS != nil
}

// countNoise is how far the offered rate of a step may be off because it was
// counted, one standard deviation; 0 when it is nominal.
func (t *judged) countNoise() float64 {
	if t.Nominal && !t.Exceeds || t.Seconds() <= 0 {
		return 0
	}
	return math.Sqrt(max(1, t.result.DispersionIn) * t.Offered() / t.Seconds())
}

// returned is the highest rate that may be the same as that of the step.
func (t *judged) returned() float64 {
	return value(t.wire.Offered)*1.02 + 3*t.countNoise()
}

// before is the step that shows what the returned rate is like when all is well:
// the fine one before the push with the highest rate not above it, else the
// lowest fine one. Where none was fine, but the rate itself was seen to lose
// requests, that is what it is like. Nil when nothing tells.
func (j *judge) before(push, back int) *judged {
	var best *judged
	want := j.steps[back].returned()
	for _, t := range j.steps[:push] {
		if t.wire.Class != wire.ClassStable {
			continue
		}
		r := value(t.wire.Offered)
		switch {
		case best == nil,
			r <= want && (value(best.wire.Offered) > want || r > value(best.wire.Offered)),
			r > want && r < value(best.wire.Offered) && value(best.wire.Offered) > want:
			best = t
		}
	}
	if best != nil {
		return best
	}
	for _, t := range j.steps[:push] {
		lossy := t.wire.Class == wire.ClassLossy || t.wire.Class == wire.ClassShedding
		if r := value(t.wire.Offered); lossy && r <= want && (best == nil || r > value(best.wire.Offered)) {
			best = t
		}
	}
	return best
}

func (j *judge) spans(t *judged) []metastability.Span {
	if t == nil {
		return nil
	}
	return j.between(t.From, t.To)
}

// lastDue is the end of the steps from back on that offer no more than it.
func (j *judge) lastDue(back int) int64 {
	end := j.steps[back].To
	for _, t := range j.steps[back+1:] {
		if value(t.wire.Offered) > j.steps[back].returned() {
			break
		}
		end = t.To
	}
	return end
}

// between are the cells of the series within [from, to), as spans.
func (j *judge) between(from, to int64) []metastability.Span {
	var out []metastability.Span
	for _, c := range j.st.Series.Cells() {
		if c.From >= from && c.To <= to {
			out = append(out, span(c))
		}
	}
	return out
}

func span(c *fold.Cell) metastability.Span {
	s := metastability.Span{
		FromS: float64(c.From) / 1e9, ToS: float64(c.To) / 1e9, Due: c.Due + c.Dropped, Good: c.DueGood,
		Completed: c.Ended[sample.OK], Attempts: c.Sent, Answered: c.Answered, FromNS: c.From, ToNS: c.To, Refused: c.Ended[sample.Shed], Timeouts: c.Ended[sample.Timeout],
		InFlight: c.InFlight.Seconds() / c.Seconds(), MedianS: math.NaN(),
	}
	if c.Response != nil {
		if m := c.Response.Plain(0.5); m != nil {
			s.MedianS = *m
		}
	}
	return s
}
