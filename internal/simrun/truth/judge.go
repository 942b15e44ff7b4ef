package truth

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// leg is the one that a step lies in, or nil when it spans several.
func (c *Case) leg(from, to int64) *Leg {
	for i := range c.Legs {
		l := &c.Legs[i]
		if both := min(to, l.To) - max(from, l.From); both > 0 && float64(both) > 0.9*float64(to-from) {
			return l
		}
	}
	return nil
}

// load is the range of the rate over the true capacity that a step may be said
// to have: the nominal one, and what really came.
func (c *Case) load(l *Leg, w *seen) (lo, hi float64) {
	real := float64(w.due) / w.seconds / c.Capacity
	lo, hi = min(l.Rho, real), max(l.Rho, real)
	if l.ToRate > 0 {
		lo, hi = l.Rho, l.ToRate/c.Capacity
	}
	switch c.Server {
	case Leak: // at the last speed
		hi *= 1 + (c.LeakTo-1)*float64(l.To-Start)/float64(c.end()-Start)
	case Cold, Stop, Wedge:
		hi = max(hi, 1) // for some time it was too much
	case Retrograde:
		if hi > 0.7 {
			hi = max(hi, 1) // may tip at any moment
		}
	}
	return lo, hi
}

// end is when the load ends.
func (c *Case) end() int64 { return c.Legs[len(c.Legs)-1].To }

// room is how far below capacity a server must stay to be safe from being
// called unstable by what a short test happens to see.
func (c *Case) room() float64 {
	switch {
	case c.Server == Gradual || c.Server == Pool || c.Server == Retrograde:
		return 0.9
	case c.Arrivals == Bursty || c.Arrivals == Batches || c.Server == Lognormal || c.Server == Pareto:
		return 0.9
	}
	return 0.95
}

// class compares the class of a step with what its construction allows.
func (k *checker) class(s *wire.Step) {
	from, to := s.From.UnixNano(), s.To.UnixNano()
	l := k.c.leg(from, to)
	if l == nil {
		return
	}
	w := k.c.window(from, to)
	lo, hi := k.c.load(l, w)
	lost, n := w.lost(), float64(w.due-w.dropped)
	noise := 2.6 * math.Sqrt(lost*(1-lost)/max(n, 1))
	carried := k.c.carried(from)
	why := ""
	dropped := w.dropped*100 > w.due
	drain := max(0, float64(w.drainedAt-to)/1e9)
	switch s.Class {
	case wire.ClassStable:
		switch {
		case dropped:
			why = "arrivals were dropped"
		case lost-noise > 0.012:
			why = "requests were lost"
		case lo >= 1.02 && lost < 0.01 && !k.c.closed():
			why = "the backlog grows"
		case hi > 1.05 && drain > max(2, 0.05*w.seconds) && k.c.Server != Cold:
			why = "a backlog was left"
		}
	case wire.ClassUnstable:
		if hi < k.c.room() && !carried && !k.c.overloaded(w) {
			why = "the server keeps up"
		}
	case wire.ClassLossy:
		switch {
		case lost+noise < 0.01 && !dropped:
			why = "nothing was lost"
		case w.shed() && !dropped:
			why = "the loss was shed"
		}
	case wire.ClassShedding:
		switch {
		case dropped:
			why = "arrivals were dropped"
		case lost+noise < 0.01:
			why = "nothing was lost"
		case !w.shed():
			why = "the loss was not shed"
		}
	case wire.ClassInvalid:
		if !dropped && k.c.Client != WorkersLate && !k.c.unstated() {
			why = "nothing is wrong with the measurement"
		}
	}
	truth := fmt.Sprintf("load %.3g, lost %.2g %%, drain %.2g s", hi, 100*lost, drain)
	mark := Right
	switch {
	case why != "" && k.c.Client == WorkersLate && s.Class == wire.ClassUnstable:
		mark, truth = Odd, truth+": "+why+", but its generator has too few workers"
	case why != "":
		mark, truth = Wrong, truth+": "+why
	case s.Class == wire.ClassInconclusive && k.c.decidable(l, w):
		mark, truth = Odd, truth+": could be decided"
	case s.Class == wire.ClassInconclusive:
		mark = Open
	}
	k.line(mark, fmt.Sprintf("step %d class", s.Index), truth, s.Class)
}

// decidable reports whether a step of a sharp server that nothing disturbs is long
// enough for a verdict (stability.md 2.5), with a half to spare.
func (c *Case) decidable(l *Leg, w *seen) bool {
	phi := map[string]float64{Single: 1, Queue: 1, Fixed: 1, Lognormal: 2, Sharing: 1}[c.Server]
	if phi == 0 || c.Client != Patient || c.Knowing != Declared || l.ToRate > 0 || c.Arrivals == Bursty || c.Arrivals == Batches {
		return false
	}
	x, need := l.Rate*w.seconds*(1-l.Rho)*(1-l.Rho), 90*phi
	if l.Rho > 1 {
		need = 135 * phi
	}
	return x > need && float64(w.due) > 1000
}

// unstated reports whether arrivals come in bursts and the plan does not say so:
// those that a burst leaves out look like those that were lost.
func (c *Case) unstated() bool {
	return c.Knowing == Planned && (c.Arrivals == Bursty || c.Arrivals == Batches)
}

// carried reports whether requests of before were still open at a time.
func (c *Case) carried(at int64) bool {
	if at <= Start {
		return false
	}
	return c.window(at-1, at).atEnd > 20
}

// overloaded reports whether attempts of clients who try again, or requests that
// nobody waits for any more, make more of a stretch than its arrivals.
func (c *Case) overloaded(w *seen) bool {
	return c.persistent() && w.lost() > 0.005
}

// knee compares what a sweep found with the true capacity.
func (k *checker) knee() {
	n := &k.v.Knee
	c := k.c.Capacity
	known := k.c.Server != Retrograde && k.c.Server != Stop && k.c.Server != Wedge && k.c.Server != Leak && k.c.Server != Cold && k.c.Client != WorkersDrop && k.c.Client != WorkersLate
	shares := slices.Contains([]string{Gradual, Pool, Sharing}, k.c.Server)
	bursts := k.c.Arrivals == Bursty || k.c.Arrivals == Batches
	known = known && !(k.c.Client == TimeOut && (shares || bursts || k.c.Slow)) // work for those who have gone takes its share
	known = known && !(k.c.Server == Shedding && bursts)                        // no room for a burst
	if e := n.Capacity; e != nil && e.Value != nil && known && !k.c.persistent() {
		within := 0.05
		switch {
		case shares:
			within = 0.15
		case k.c.Server == Lognormal || k.c.Server == Pareto:
			within = 0.1
		case k.c.Client == TimeOut:
			within = 0.2
		case k.c.Server == Stalls || k.c.Arrivals == Bursty:
			within = 0.08
		}
		mark := Right
		if off := math.Abs(*e.Value - c); off > within*c && (e.Lo == nil || e.Hi == nil || c < *e.Lo || c > *e.Hi) {
			mark = Wrong
		}
		k.line(mark, "capacity", number(c), fmt.Sprintf("%s (%s to %s)", show(e.Value), show(e.Lo), show(e.Hi)))
	}
	if r := n.Recommended; r != nil {
		mark := Right
		if *r > 0.97*c || k.c.Server == Retrograde && *r > c {
			mark = Wrong
		}
		k.line(mark, "recommended", "below "+number(c), number(*r))
	}
	if k.c.Plan != Sweep {
		return
	}
	top := k.c.Legs[len(k.c.Legs)-1]
	w := k.c.window(top.From, top.To)
	switch {
	case n.State == "not_tested":
		k.line(Open, "knee", "", n.State)
	case k.v.Outcome == wire.OutcomeInconclusive:
		k.line(Open, "knee", fmt.Sprintf("top load %.3g", top.Rho), n.State)
	case n.State == "not_reached" && top.Rho > 1.05 && (w.lost() > 0.02 || float64(w.ok) < 0.97*float64(w.due)) && known:
		k.line(Wrong, "knee", fmt.Sprintf("top load %.3g", top.Rho), n.State)
	case n.State == "found" && top.Rho < 0.9 && known && k.c.Client == Patient:
		k.line(Wrong, "knee", fmt.Sprintf("top load %.3g", top.Rho), n.State)
	default:
		k.line(Right, "knee", fmt.Sprintf("top load %.3g", top.Rho), n.State+" "+show(n.Offered))
	}
}

// recovery compares the state after a push with what a longer watch saw.
func (k *checker) recovery() {
	if k.c.Plan != Push {
		return
	}
	m := &k.v.Metastability
	t := &k.c.Recovery
	truth := fmt.Sprintf("recovers after %.0f s, %.0f s watched", t.AfterS, t.WatchS)
	if t.Never {
		truth = fmt.Sprintf("not in %.0f s", t.WatchS+t.BeyondS)
	}
	mark := Right
	inTime := !t.Never && t.AfterS < t.WatchS-20
	switch m.State {
	case "not_tested", "undecided":
		mark = Open
	case "recovered":
		switch {
		case t.Never || t.AfterS > t.WatchS:
			mark = Wrong
		case m.RecoveredAfterS != nil && math.Abs(*m.RecoveredAfterS-t.AfterS) > 6+0.1*t.AfterS:
			mark = Odd
		}
	case "draining":
		switch {
		case t.Never && k.c.Server == Retrograde:
			mark = Odd // the client cannot tell a server that got slower from one with work to do
		case inTime && (k.c.Arrivals == Bursty || k.c.Arrivals == Batches):
			mark = Odd // a burst near the end
		case t.Never || inTime:
			mark = Wrong
		}
	case "sustained", "degraded":
		if !t.Never {
			mark = Wrong
		}
	}
	said := m.State
	if m.RecoveredAfterS != nil {
		said += fmt.Sprintf(" after %.0f s", *m.RecoveredAfterS)
	}
	if m.EtaS != nil {
		said += fmt.Sprintf(", eta %.0f s", *m.EtaS)
	}
	k.line(mark, "after the push", truth, said)
}

// alarms must not be raised where the load stays well below capacity.
func (k *checker) alarms() {
	n := 0
	for _, f := range k.v.Findings {
		if f.Code == "alarm" {
			n++
		}
	}
	if n == 0 {
		return
	}
	top := 0.0
	for i := range k.c.Legs {
		l := &k.c.Legs[i]
		_, hi := k.c.load(l, k.c.window(l.From, l.To))
		top = max(top, hi)
	}
	mark := Right
	if top < k.c.room() && !k.c.persistent() {
		mark = Wrong
	}
	k.line(mark, "alarms", fmt.Sprintf("top load %.3g", top), strconv.Itoa(n))
}

// generator compares what is said of the generator.
func (k *checker) generator() {
	a := &k.v.Audit
	loop := "open"
	switch {
	case k.c.closed():
		loop = "closed"
	case k.c.Client == WorkersDrop || k.c.Client == WorkersLate:
		loop = "open or capped"
	}
	mark := Right
	switch {
	case a.Loop == "unknown":
		mark = Open
	case k.c.Client == Thinking:
		if k.c.Group.Model.String() == "closed" && a.Loop != "closed" {
			mark = Wrong
		}
	case !strings.Contains(loop, a.Loop):
		mark = Wrong
	}
	k.line(mark, "loop", loop, a.Loop)
	if k.c.Arrivals == "" || k.c.Plan == Ramp || k.c.Knowing == Sent && k.c.Client == WorkersLate {
		return
	}
	truth := k.c.Arrivals
	if truth == Batches {
		truth = Bursty
	}
	switch a.ArrivalProcess {
	case truth:
		k.line(Right, "arrivals", truth, a.ArrivalProcess)
	case "unknown":
		k.line(Open, "arrivals", truth, a.ArrivalProcess)
	default:
		k.line(Odd, "arrivals", truth, a.ArrivalProcess)
	}
}

// stop compares the one stop of the server with the stalls found.
func (k *checker) stop() {
	if k.c.Stop[1] == 0 {
		return
	}
	best := math.Inf(1)
	for _, f := range k.v.Findings {
		if f.Code == "stall" && f.Value != nil {
			best = min(best, math.Abs(*f.Value-float64(k.c.Stop[1]-k.c.Stop[0])/1e9))
		}
	}
	truth := fmt.Sprintf("stop of %.2f s", float64(k.c.Stop[1]-k.c.Stop[0])/1e9)
	switch {
	case math.IsInf(best, 1):
		k.line(Odd, "stall", truth, "none found")
	case best > 0.3:
		k.line(Odd, "stall", truth, fmt.Sprintf("off by %.2f s", best))
	default:
		k.line(Right, "stall", truth, fmt.Sprintf("off by %.2f s", best))
	}
}

// outcome compares the outcome of the run.
func (k *checker) outcome() {
	why := ""
	bad, dropped := k.c.bad()
	switch k.v.Outcome {
	case wire.OutcomePass:
		switch {
		case k.c.closed():
			why = "a closed loop cannot pass"
		case k.c.Objective != nil && !*k.c.Objective:
			why = "the objective is missed"
		case k.c.Plan == One && bad != "":
			why = bad
		case k.c.Plan == Push && k.c.Recovery.Never:
			why = "it does not recover"
		}
	case wire.OutcomeFail:
		switch {
		case k.c.Objective != nil && *k.c.Objective && bad == "":
			why = "the objective is met"
		case k.c.Objective == nil && k.c.Plan == One && bad == "" && k.c.fine():
			why = "all is well"
		case k.c.Plan == Push && k.c.Recovery.Known && !k.c.Recovery.Never && k.v.Metastability.State == "recovered":
			why = "it recovers"
		case k.c.closed() && k.c.window(k.c.Legs[0].From, k.c.Legs[0].To).lost() < 0.01:
			why = "a closed loop cannot fail"
		}
	case wire.OutcomeInvalid:
		if !dropped && !k.c.closed() && k.c.Client != WorkersLate && !k.c.unstated() {
			why = "nothing is wrong with the measurement"
		}
	}
	mark, truth := Right, bad
	switch {
	case why != "":
		mark, truth = Wrong, why
	case k.v.Outcome == wire.OutcomeInconclusive:
		mark = Open
	}
	k.line(mark, "outcome", truth, k.v.Outcome)
}

// bad says what is wrong with the run of one rate, and whether arrivals dropped.
func (c *Case) bad() (why string, dropped bool) {
	for i := range c.Legs {
		w := c.window(c.Legs[i].From, c.Legs[i].To)
		dropped = dropped || w.dropped*100 > w.due
	}
	l := &c.Legs[0]
	w := c.window(l.From, l.To)
	lo, _ := c.load(l, w)
	switch {
	case c.closed():
	case dropped:
		why = "arrivals were dropped"
	case w.lost() > 0.03:
		why = "requests were lost"
	case lo > 1.02:
		why = "the backlog grows"
	}
	return why, dropped
}

// fine reports whether the one rate of a run was carried without doubt.
func (c *Case) fine() bool {
	w := c.window(c.Legs[0].From, c.Legs[0].To)
	_, hi := c.load(&c.Legs[0], w)
	return hi < c.room() && w.lost() < 0.005 && !slices.Contains([]string{Leak, Cold, Stop}, c.Server)
}
