package fold

import (
	"cmp"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/audit"
)

// mostSends is how many sends of a step are looked at to tell how the generator
// decided when to send: the first ones, which are enough and bound the cost.
const mostSends = 100_000

// Rig is what a step shows of the generator and of the service's stops.
type Rig struct {
	Arrivals audit.Arrivals // by due time
	Stalls   audit.Stalls
	Loop     audit.Loop // by send
	Batches  *audit.Batches

	seen    int   // sends given to Loop
	carried int64 // requests sent before the step and not ended at its start
	begun   bool
}

// full reports whether enough sends were looked at.
func (r *Rig) full() bool { return r.seen >= mostSends }

// sends is the sequence of sends and ends of the steps that are still looked at,
// in order of time, ends first at one instant.
type sends struct {
	in     bounds
	starts []send
	ends   []int64
}

type send struct{ at, due int64 }

// add hands over a request.
func (p *sends) add(q *request) {
	if i := p.in.at(q.sent); i >= 0 && !p.in.steps[i].Rig.full() {
		p.starts = append(p.starts, send{q.sent, q.due})
	}
	if i := p.in.at(q.done); i >= 0 && !p.in.steps[i].Rig.full() {
		p.ends = append(p.ends, q.done)
	}
}

// sweep moves on to h: nothing earlier can still come.
func (p *sends) sweep(h int64) {
	slices.SortFunc(p.starts, func(a, b send) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.due, b.due)) })
	slices.Sort(p.ends)
	i, j := 0, 0
	for {
		switch {
		case j < len(p.ends) && p.ends[j] < h && (i == len(p.starts) || p.ends[j] <= p.starts[i].at):
			if r := p.rig(p.ends[j]); r != nil {
				r.Loop.End(p.ends[j])
			}
			j++
		case i < len(p.starts) && p.starts[i].at < h:
			if r := p.rig(p.starts[i].at); r != nil {
				r.Loop.Send(p.starts[i].at, p.starts[i].due)
				r.seen++
			}
			i++
		default:
			p.starts = append(p.starts[:0], p.starts[i:]...)
			p.ends = append(p.ends[:0], p.ends[j:]...)
			return
		}
	}
}

// rig is that of the step at t, unless it has seen enough.
func (p *sends) rig(t int64) *Rig {
	i := p.in.at(t)
	if i < 0 {
		return nil
	}
	s := p.in.steps[i]
	r := &s.Rig
	if r.full() {
		return nil
	}
	if !r.begun {
		r.begun = true
		r.Loop.Begin(s.From, r.carried)
	}
	return r
}
