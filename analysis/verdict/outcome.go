package verdict

import (
	"fmt"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
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
	rising := len(j.steps) >= 3
	for i := 1; i < len(j.steps); i++ {
		if value(j.steps[i].wire.Offered) <= value(j.steps[i-1].wire.Offered) {
			rising = false
		}
	}
	if rising {
		return sweep
	}
	for i, t := range j.steps[:max(0, len(j.steps)-1)] {
		switch t.wire.Class {
		case wire.ClassUnstable, wire.ClassLossy, wire.ClassShedding:
			for _, later := range j.steps[i+1:] {
				if value(later.wire.Offered) < value(t.wire.Offered) {
					return pushAndReturn
				}
			}
		}
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
	missed, open := j.missedGoal(), j.openGoal()
	switch {
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
	case len(j.goals) == 0 && j.shape() != plain:
		d.Outcome, d.Headline = wire.OutcomeInconclusive, j.untested()
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
	s := fmt.Sprintf("%s the backlog grew to %s requests", t.at(), human(t.AtEnd))
	if w.DrainS != nil {
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

// untested is the headline of a run whose question is not answered yet.
func (j *judge) untested() string {
	if j.shape() == sweep {
		for i := len(j.steps) - 1; i >= 0; i-- {
			if t := j.steps[i]; t.wire.Class == wire.ClassStable {
				return fmt.Sprintf("The highest of %d rising rates that was proved stable is %s; where the knee lies was not tested.",
					len(j.steps), rate(value(t.wire.Offered)))
			}
		}
		return fmt.Sprintf("None of %d rising rates was proved stable; where the knee lies was not tested.", len(j.steps))
	}
	for i, t := range j.steps {
		if t.wire.Class == wire.ClassUnstable || t.wire.Class == wire.ClassLossy || t.wire.Class == wire.ClassShedding {
			last := j.steps[len(j.steps)-1]
			s := fmt.Sprintf("Pushed to %s the service was %s", rate(value(t.wire.Offered)), t.wire.Class)
			if i < len(j.steps)-1 {
				s += fmt.Sprintf("; back at %s it is %s", rate(value(last.wire.Offered)), last.wire.Class)
			}
			return s + ". Whether it recovers for good was not tested."
		}
	}
	return "What this run exists to find out was not tested."
}

// praise is the headline of a run that passed.
func (j *judge) praise() string {
	top := j.steps[0] // outcome has made sure that there is one
	for _, t := range j.steps {
		if j.must(t) && value(t.wire.Offered) > value(top.wire.Offered) {
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
