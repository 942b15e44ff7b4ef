package verdict

import (
	"fmt"
	"math"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// goal is an objective and what became of it.
type goal struct {
	wire.Objective
	state  *fold.State // the run narrowed to the objective's scenario; nil when it has none
	alone  bool        // the run has one step
	missed bool
	open   bool // neither met nor missed
	absent bool // the run does not have its scenario
	why    string
}

// covers reports whether the objective is about the step.
func (g *goal) covers(t *judged) bool {
	switch {
	case g.Step != "":
		return g.Step == t.Name
	case g.MustCarryPerS != nil && g.Quantile == nil && g.ErrorRatioMax == nil && g.GoodputRatioMin == nil:
		return g.offered(t) <= *g.MustCarryPerS*1.01
	}
	return true
}

// sameStretch is by how much of a step its edges may differ from those that a
// scenario of it shows.
const sameStretch = 0.05

// offered is the rate that a step offered to what the objective is about: that of
// the step, or of one scenario as it was counted; NaN where that is not known. What
// was dropped has no scenario.
func (g *goal) offered(t *judged) float64 {
	if g.state == nil {
		return value(t.wire.Offered)
	}
	if s := g.step(t); s != nil && s.Seconds() > 0 {
		return float64(s.Rows) / s.Seconds()
	}
	return math.NaN()
}

// step is the step as the objective's scenario saw it: the only one of both, the
// one of the same name, or the one at about the same time. Nil when there is none:
// steps found in the arrivals of a scenario need not be those of the run.
func (g *goal) step(t *judged) *fold.Step {
	room := sameStretch * t.Seconds() * 1e9
	for _, s := range g.state.Steps {
		only := g.alone && len(g.state.Steps) == 1
		if only || t.Name != "" && s.Name == t.Name || math.Abs(float64(s.From-t.From)) <= room && math.Abs(float64(s.To-t.To)) <= room {
			return s
		}
	}
	return nil
}

// hold holds every step against the objectives about it. The worst answer
// counts: missed before open before met.
func (j *judge) hold() {
	for i := range j.goals {
		g := &j.goals[i]
		if g.absent {
			continue
		}
		seen := false
		for _, t := range j.steps {
			if !g.covers(t) {
				continue
			}
			seen = true
			on := t
			if g.state != nil {
				if on = j.narrowed(g, t); on == nil {
					continue
				}
			}
			here := goal{Objective: g.Objective}
			j.holdOn(&here, on)
			if here.missed || here.open {
				g.settle(here.missed, here.why)
			}
			t.missed = t.missed || here.missed
		}
		if !seen && g.MustCarryPerS == nil {
			g.settle(false, fmt.Sprintf("No step answers the objective %q.", g.title()))
		}
	}
}

// narrowed is the step as the objective's scenario saw it.
func (j *judge) narrowed(g *goal, t *judged) *judged {
	s := g.step(t)
	if s == nil {
		g.settle(false, fmt.Sprintf("The requests of scenario %q make no step of their own beside %s: declare the steps to hold it against %q.", g.Scenario, t.title(), g.title()))
		return nil
	}
	other := &judge{st: g.state, doc: j.doc, seen: j.seen}
	return other.judge(s)
}

// settle records an answer that is not "met".
func (g *goal) settle(missed bool, why string) {
	if g.missed || g.open && !missed {
		return
	}
	g.missed, g.open, g.why = missed, !missed, why
}

func (g *goal) title() string {
	switch {
	case g.Quantile != nil && g.MaxS != nil:
		return fmt.Sprintf("p%g<%s", *g.Quantile*100, lasting(*g.MaxS))
	case g.ErrorRatioMax != nil:
		return "error<" + share(*g.ErrorRatioMax)
	case g.GoodputRatioMin != nil:
		return "goodput>=" + share(*g.GoodputRatioMin)
	case g.MustCarryPerS != nil:
		return "carry>=" + rate(*g.MustCarryPerS)
	}
	return "objective"
}

func (g *goal) kind() string {
	switch {
	case g.Quantile != nil:
		return wire.QuantileKind
	case g.ErrorRatioMax != nil:
		return wire.ErrorKind
	case g.GoodputRatioMin != nil:
		return wire.GoodputKind
	}
	return wire.CarryKind
}

func (j *judge) holdOn(g *goal, t *judged) {
	if j.closed() && !j.fixed() && (g.Quantile != nil || g.GoodputRatioMin != nil) {
		g.settle(false, fmt.Sprintf("A closed loop cannot answer %q: it sends less when the service is slow.", g.title()))
		return
	}
	if g.Quantile != nil && g.MaxS != nil {
		j.quantile(g, t)
	}
	due := t.Rows + t.Dropped
	if due == 0 || j.st.SampledRows > 0 {
		g.settle(false, fmt.Sprintf("No requests to hold against %q.", g.title()))
		return
	}
	if g.ErrorRatioMax != nil {
		of, thinned := due, ratio(t.Dropped, due) > dropLimit && !j.allowDrops()
		if thinned {
			of = t.Rows // what was sent has an answer; only bad news counts
		}
		if r := ratio(t.Rows-t.Outcomes[sample.OK], of); r > *g.ErrorRatioMax {
			g.settle(true, fmt.Sprintf("%s %s of requests failed, over the objective of %s.", t.at(), share(r), share(*g.ErrorRatioMax)))
		} else if thinned {
			g.settle(false, fmt.Sprintf("%s %s of arrivals were never sent: that %s of the others failed cannot meet %q.", t.at(), share(ratio(t.Dropped, due)), share(r), g.title()))
		} else if most := ratio(t.Unjudged, due); most > *g.ErrorRatioMax {
			g.settle(false, fmt.Sprintf("%s nothing says of %s of requests whether they failed, so %q cannot be decided.", t.at(), share(most), g.title()))
		} else if most := t.mayHaveFailed(due); most > *g.ErrorRatioMax {
			g.settle(false, fmt.Sprintf("%s at most %s of iterations failed: which ones the failed requests belong to is not known, so %q cannot be decided.",
				t.at(), share(most), g.title()))
		}
	}
	if g.GoodputRatioMin != nil {
		j.goodput(g, t, due)
	}
}

func (j *judge) goodput(g *goal, t *judged, due int64) {
	if t.Deadlines < t.Rows {
		g.settle(false, fmt.Sprintf("%q needs a deadline: declare one, or pass --deadline.", g.title()))
		return
	}
	if most := ratio(t.Unjudged, due); most > 1-*g.GoodputRatioMin {
		g.settle(false, fmt.Sprintf("%s nothing says of %s of requests whether they failed, so %q cannot be decided.", t.at(), share(most), g.title()))
		return
	}
	if r := ratio(t.Good, due); r < *g.GoodputRatioMin {
		g.settle(true, fmt.Sprintf("%s only %s of requests were answered within the deadline, below the objective of %s.",
			t.at(), share(r), share(*g.GoodputRatioMin)))
	}
}

// quantile is missed when the whole interval lies above the limit, met when it
// lies at or below. Where percentiles are refused, the sent requests' quantile
// is a lower bound and can only miss.
func (j *judge) quantile(g *goal, t *judged) {
	limit := *g.MaxS
	e := t.quantile(*g.Quantile)
	name := fmt.Sprintf("p%g", *g.Quantile*100)
	if !t.wire.ResponseTime.Valid {
		if lo := t.atLeast(*g.Quantile); t.Rows > 0 && lo != nil && *lo > limit && !j.closed() {
			g.settle(true, fmt.Sprintf("%s %s was over %s even among the requests that were sent, against an objective of %s.",
				t.at(), name, lasting(*lo), lasting(limit)))
			return
		}
		g.settle(false, fmt.Sprintf("%s cannot be held against %s: %s.", name, lasting(limit), t.wire.ResponseTime.Reason))
		return
	}
	if t.Counts != nil {
		j.bucket(g, t, name)
		return
	}
	switch {
	case e.Lo != nil && *e.Lo > limit:
		g.settle(true, fmt.Sprintf("%s %s was %s, over the objective of %s.", t.at(), name, among(e.Value, *e.Lo), lasting(limit)))
	case e.Hi != nil && *e.Hi <= limit && e.Need == 0:
	case e.Need > 0:
		g.settle(false, fmt.Sprintf("%s needs %s requests to be held against %s; %s has %s.",
			name, human(e.Need), lasting(limit), t.title(), human(int64(t.Response.N()))))
	default:
		n := int64(t.Response.N())
		g.settle(false, fmt.Sprintf("%s %s lies too close to the objective of %s to tell with %s requests: about %s would be needed.",
			t.at(), name, lasting(limit), human(n), human(4*n)))
	}
}

// atLeast is a lower bound of a quantile by the requests that were sent: nil when
// they do not bound it.
func (t *judged) atLeast(q float64) *float64 {
	if t.Counts == nil {
		sent := *t.Response
		sent.Never = 0
		return sent.Quantile(q, confidence).Lo
	}
	if b, ok := t.Counts.Service.Buckets.Quantile(q); ok && t.Counts.Service.LeftOut() <= dropLimit {
		return some(b.Lo)
	}
	return nil
}

// bucket holds a quantile that is known by its bucket: the bounds are certain.
func (j *judge) bucket(g *goal, t *judged, name string) {
	limit := *g.MaxS
	b, ok := t.Counts.Response.Buckets.Quantile(*g.Quantile)
	switch {
	case ok && b.Lo >= limit:
		g.settle(true, fmt.Sprintf("%s %s was over %s as the tool corrected it, over the objective of %s.", t.at(), name, lasting(b.Lo), lasting(limit)))
	case ok && b.Hi <= limit:
	default:
		g.settle(false, fmt.Sprintf("%s %s lies somewhere between %s and %s as the tool reports it: the objective of %s lies between.",
			t.at(), name, lasting(b.Lo), lasting(b.Hi), lasting(limit)))
	}
}

// among prints a quantile that may lie among requests whose end was not seen.
func among(v *float64, lo float64) string {
	if v == nil {
		return "over " + lasting(lo)
	}
	return lasting(*v)
}

// carries holds the classified steps against the rates that had to be carried.
func (j *judge) carries() {
	for i := range j.goals {
		if g := &j.goals[i]; g.MustCarryPerS != nil && !g.absent {
			j.carry(g)
		}
	}
}

// carry is met by a stable step at or above the rate, and missed by a step at or
// below it that was not carried.
func (j *judge) carry(g *goal) {
	want := *g.MustCarryPerS
	met := false
	for _, t := range j.steps {
		if g.Step != "" && g.Step != t.Name {
			continue
		}
		off := g.offered(t)
		switch t.wire.Class {
		case wire.ClassStable:
			met = met || off >= want*0.99
		case wire.ClassUnstable, wire.ClassLossy, wire.ClassShedding:
			if off <= want*1.01 {
				g.settle(true, fmt.Sprintf("%s the service was %s, so it does not carry the %s of the objective.", t.at(), t.wire.Class, rate(want)))
			}
		}
	}
	if !met {
		g.settle(false, fmt.Sprintf("No step at %s or more was proved stable, so %q cannot be decided.", rate(want), g.title()))
	}
}

// held lists the objectives with what became of them.
func (j *judge) held() []wire.Held {
	out := make([]wire.Held, 0, len(j.goals))
	for i := range j.goals {
		g := &j.goals[i]
		h := wire.Held{Kind: g.kind(), Title: g.title(), Scenario: g.Scenario, Step: g.Step, State: wire.Met, Message: g.why}
		switch {
		case g.missed:
			h.State = wire.Missed
		case g.open, g.absent:
			h.State = wire.Undecided
		}
		out = append(out, h)
	}
	return out
}

func (j *judge) missedGoal() *goal {
	for i := range j.goals {
		if j.goals[i].missed {
			return &j.goals[i]
		}
	}
	return nil
}

func (j *judge) openGoal() *goal {
	for i := range j.goals {
		if j.goals[i].open {
			return &j.goals[i]
		}
	}
	return nil
}
