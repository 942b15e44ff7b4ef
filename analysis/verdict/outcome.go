package verdict

import (
	"fmt"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/knee"
	"github.com/plimsoll/plimsoll/analysis/metastability"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// shape of a run: what it exists to find out.
type shape int

const (
	plain         shape = iota // every step has to be carried
	sweep                      // three or more rising rates: where is the knee?
	pushAndReturn              // past capacity and back: does it recover?
)

// shape is read from the rates of the steps and from what became of them.
func (j *judge) shape() shape {
	if _, _, ok := j.push(); ok {
		return pushAndReturn
	}
	rates, top := 0, 0.0
	for i, t := range j.steps {
		offered := value(t.wire.Offered)
		top = max(top, offered)
		switch {
		case i == len(j.steps)-1 && offered < metastability.LeastReturn*top: // what came after the end of the load
		case t.Mark != "": // the same rate goes on
		case i > 0 && value(t.wire.Offered) <= value(j.steps[i-1].wire.Offered):
			return plain
		default:
			rates++
		}
	}
	if rates >= 3 {
		return sweep
	}
	return plain
}

// must reports whether the step had to be carried.
func (j *judge) must(t *judged) bool {
	if len(j.goals) > 0 {
		for i := range j.goals {
			if j.goals[i].covers(t) {
				return true
			}
		}
		return false
	}
	return j.shape() == plain
}

// outcome decides the run and puts it into one sentence.
func (j *judge) outcome() {
	d := j.doc
	var failed, undecided *judged
	for _, t := range j.steps {
		if !j.must(t) {
			continue
		}
		switch t.wire.Class {
		case wire.ClassUnstable, wire.ClassLossy, wire.ClassShedding:
			if failed == nil {
				failed = t
			}
		case wire.ClassInconclusive:
			if undecided == nil {
				undecided = t
			}
		}
	}
	d.Objectives = j.held()
	missed, open := j.missedGoal(), j.openGoal()
	switch {
	case d.Metastability.State == string(metastability.Sustained), d.Metastability.State == string(metastability.Degraded):
		d.Outcome, d.Headline = wire.OutcomeFail, j.afterPush()
	case failed != nil:
		d.Outcome, d.Headline = wire.OutcomeFail, j.trouble(failed)
	case missed != nil:
		d.Outcome, d.Headline = wire.OutcomeFail, missed.why
	case !d.Audit.Valid:
		d.Outcome, d.Headline = wire.OutcomeInvalid, j.invalidity()
	case j.st.Rows == 0:
		d.Outcome, d.Headline = wire.OutcomeInconclusive, "No request has been seen yet."
	case len(j.steps) == 0:
		d.Outcome, d.Headline = wire.OutcomeInconclusive, "No step has settled yet: the requests seen so far lie past the horizon or outside what was asked for."
	case undecided != nil:
		d.Outcome, d.Headline = wire.OutcomeInconclusive, j.doubt(undecided)
	case open != nil:
		d.Outcome, d.Headline = wire.OutcomeInconclusive, open.why
	case len(j.goals) == 0 && j.shape() == sweep:
		d.Outcome, d.Headline = j.sweepOutcome()
	case len(j.goals) == 0 && j.shape() == pushAndReturn:
		d.Outcome, d.Headline = wire.OutcomeInconclusive, j.afterPush()
		if d.Metastability.State == string(metastability.Recovered) {
			d.Outcome, d.Headline = j.recovered()
		}
	case j.unjudged():
		d.Outcome = wire.OutcomeInconclusive
		d.Headline = "Nothing says whether requests failed, so it cannot be said whether the service keeps up."
	case j.unproven():
		d.Outcome = wire.OutcomeInconclusive
		d.Headline = "Nothing went wrong, but nothing says that the load was an open one: when requests were due is not known, and neither is how they were sent. Set loadtest.arrival.model, or declare the run."
	default:
		d.Outcome, d.Headline = wire.OutcomePass, j.praise()
	}
}

// trouble is the headline of a step that was not carried.
func (j *judge) trouble(t *judged) string {
	w := t.wire
	if w.Class != wire.ClassUnstable {
		return sentence("%s %s.", t.at(), j.lost(t))
	}
	if t.outrun() {
		return sentence("%s %s were never sent: %s.", t.at(), share(w.DroppedRatio), w.Stability.Reason)
	}
	s := fmt.Sprintf("%s the backlog grew to %s requests", t.at(), human(t.backlog()))
	switch given := t.Outcomes[sample.Timeout] + t.Outcomes[sample.Cancelled]; {
	case 2*given > t.OpenAtEnd: // a backlog that its clients leave does not drain
		s += fmt.Sprintf(", and %s were given up before they were answered", human(given))
	case w.DrainS != nil:
		s += fmt.Sprintf(" and took %s to drain", lasting(*w.DrainS))
	}
	if c := j.doc.Knee.Capacity; c != nil && c.Value != nil && *c.Value < value(w.Offered) {
		s += fmt.Sprintf(": more than the %s (%s to %s) this service carries", rate(*c.Value), bound(value(c.Lo)), bound(value(c.Hi)))
	} else if u := w.Stability.Utilisation; u != nil && u.Value != nil {
		s += fmt.Sprintf(": %.3g times what this service carries", *u.Value)
	}
	return s + "."
}

// invalidity is the headline of a run whose rig cannot be trusted.
func (j *judge) invalidity() string {
	for _, f := range j.doc.Findings {
		if f.Severity == wire.Invalid {
			return f.Message
		}
	}
	for _, t := range j.steps {
		if t.invalid != "" {
			return t.invalid
		}
	}
	return "The rig cannot be trusted."
}

// doubt is the headline of a step that could not be decided.
func (j *judge) doubt(t *judged) string {
	w := t.wire
	s := fmt.Sprintf("%s it cannot be said whether the service keeps up", t.at())
	if w.Stability.NeedS != nil {
		return s + fmt.Sprintf(": %s are too few, about %s would decide.", lasting(w.DurationS), lasting(*w.Stability.NeedS))
	}
	if w.Stability.Reason != "" {
		s += ": " + strings.TrimSuffix(w.Stability.Reason, ".")
	}
	return s + "."
}

// sweepOutcome decides a sweep: it passes when its knee is found or not reached.
func (j *judge) sweepOutcome() (outcome, headline string) {
	switch r := &j.swept; {
	case r.State == knee.Found && r.Offered != nil:
		if t := j.unsure(); t != nil {
			return wire.OutcomeInconclusive, kneeSentence(r) + ", as far as counts tell. " + j.doubt(t)
		}
		return wire.OutcomePass, kneeSentence(r) + "."
	case r.State == knee.NotReached && r.ServedInFull != nil:
		headline = fmt.Sprintf("Every rate up to %s was served in full: the knee was not reached", rate(*r.ServedInFull))
		if top := j.steps[len(j.steps)-1]; top.wire.Class == wire.ClassInconclusive {
			return wire.OutcomeInconclusive, headline + ", as far as counts tell. " + j.doubt(top)
		}
		return wire.OutcomePass, headline + "."
	}
	return wire.OutcomeInconclusive, "The knee could not be found in these rates."
}

// unsure is a step that fell short and cannot be decided, where no other step was
// seen to be past the limit of the service: it may only not have filled up.
func (j *judge) unsure() *judged {
	var open *judged
	for _, t := range j.steps {
		switch t.wire.Class {
		case wire.ClassUnstable, wire.ClassLossy, wire.ClassShedding:
			return nil
		case wire.ClassInconclusive:
			open = t
		}
	}
	return open
}

// afterPush is the headline of a run that was pushed past capacity and back.
func (j *judge) afterPush() string {
	push, back, _ := j.push()
	m := j.doc.Metastability
	from, to := rate(j.peak(push, back)), rate(value(j.steps[back].wire.Offered))
	switch metastability.State(m.State) {
	case metastability.Recovered:
		s := fmt.Sprintf("Pushed to %s and back to %s, the service recovered", from, to)
		switch after := m.RecoveredAfterS; {
		case after == nil:
		case *after < 1:
			s += " within a second"
		default:
			s += fmt.Sprintf(" after %s", lasting(*after))
		}
		return s + "."
	case metastability.Sustained:
		return fmt.Sprintf("Pushed to %s and back to %s, the service did not recover in %s: retries keep it overloaded.", from, to, lasting(value(m.WatchedS)))
	case metastability.Degraded:
		return fmt.Sprintf("Pushed to %s and back to %s, the service did not recover in %s: it is slower than before the push.", from, to, lasting(value(m.WatchedS)))
	case metastability.Draining:
		s := fmt.Sprintf("Pushed to %s and back to %s, the service is still draining its backlog after %s", from, to, lasting(value(m.WatchedS)))
		if m.EtaS != nil {
			s += fmt.Sprintf("; about %s more would show whether it recovers", lasting(*m.EtaS))
		}
		return s + "."
	}
	return fmt.Sprintf("Pushed to %s and back to %s: %s of watching do not tell whether the service recovers.", from, to, lasting(value(m.WatchedS)))
}

// recovered is the outcome of a run that came back to what it was before the
// push, which is good news only if all was well then.
func (j *judge) recovered() (outcome, headline string) {
	push, back, _ := j.push()
	headline = j.afterPush()
	if t := j.before(push, back); t != nil && t.wire.Class != wire.ClassStable {
		return wire.OutcomeInconclusive, fmt.Sprintf("%s, to what was not well before it: %s %s.", strings.TrimSuffix(headline, "."), t.at(), j.lost(t))
	}
	return wire.OutcomePass, headline
}

// unproven reports whether the load may have been a closed one: sent times stand
// in for due times, and nobody says how the generator works. A loop that waits
// for answers looks like an open one until the service stops.
func (j *judge) unproven() bool {
	return j.st.Grade == fold.GradeS && j.st.Model == sample.UnknownModel && j.st.OfferedSource != "declared" && j.st.OfferedSource != "configured"
}

// praise is the headline of a run that passed.
func (j *judge) praise() string {
	top := j.steps[0] // outcome has made sure that there is one
	for _, t := range j.steps {
		higher := value(t.wire.Offered) > value(top.wire.Offered)
		worse := value(t.wire.Offered) == value(top.wire.Offered) && value(t.wire.ResponseTime.P99.Value) > value(top.wire.ResponseTime.P99.Value)
		if (j.must(t) || t.wire.Class == wire.ClassStable) && (higher || worse) {
			top = t
		}
	}
	w := top.wire
	s := fmt.Sprintf("%s the service kept up", top.at())
	good := ratio(top.Outcomes[sample.OK], top.Rows+top.Dropped)
	if p := w.ResponseTime.P99; w.ResponseTime.Valid && p.Value != nil {
		what := "p99 response time"
		if top.Grade == fold.GradeS {
			what = "p99 service time"
		}
		s += fmt.Sprintf(": %s %s", what, lasting(*p.Value))
		if good < 1 {
			s += fmt.Sprintf(", %s answered", share(good))
		}
	} else if good < 1 {
		s += fmt.Sprintf(": %s answered", share(good))
	}
	return s + "."
}
