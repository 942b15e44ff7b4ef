package fold

import (
	"math"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/stability"
)

// path is the exact number of requests in flight over time. Arrivals and
// departures are handed over in any order and swept once nothing earlier can
// come. At one instant departures come first, then requests that took no time,
// then arrivals; an edge lies between departures and the rest.
type path struct {
	arrivals, departures, instants []int64
	n, t                           int64

	edges []edge // ascending by time
	next  int

	step  *Step // step that is being integrated, or nil
	total *Step
	span  *stability.Span // part of its judged window, or nil
	half  *Sum            // half of the part after its warm-up, or nil
	falls []*fall         // steps whose end is being watched
	cells *Series
}

// edge is a time at which what is accumulated changes.
type edge struct {
	at    int64
	apply func(p *path)
}

// fall records the lowest level since the end of a step.
type fall struct {
	step  *Step
	least int64
	until int64
}

// watch adds the edges of a step.
func (p *path) watch(s *Step, until int64) {
	p.edges = append(p.edges,
		edge{s.From, func(p *path) {
			p.step = s
			s.Rig.Stalls.Begin(s.From, p.n)
		}},
		edge{s.To, func(p *path) {
			p.step, p.span, p.half = nil, nil, nil
			s.AtEnd = p.n
			s.Minima = append(s.Minima, Minimum{p.n, s.To})
			p.falls = append(p.falls, &fall{s, p.n, until})
		}})
	warm := s.From + s.Warmup
	p.edges = append(p.edges,
		edge{warm, func(p *path) { p.half = &s.Halves[0] }},
		edge{warm + (s.To-warm)/2, func(p *path) { p.half = &s.Halves[1] }})
	for i := range s.Window.Spans {
		a, b := stability.Edge(s.JudgedFrom, s.To, i), stability.Edge(s.JudgedFrom, s.To, i+1)
		span := &s.Window.Spans[i]
		span.DurationNS = b - a
		if a < b {
			p.edges = append(p.edges, edge{a, func(p *path) { p.span = span }})
		}
	}
}

// begin sorts the edges; t is before everything.
func (p *path) begin(t int64) {
	p.t = t
	slices.SortStableFunc(p.edges, func(a, b edge) int { return cmp3(a.at, b.at) })
}

// add hands over one stay in flight.
func (p *path) add(from, to int64) {
	if from == to {
		p.instants = append(p.instants, from)
		return
	}
	p.arrivals = append(p.arrivals, from)
	p.departures = append(p.departures, to)
}

// waiting is the number of events not yet swept.
func (p *path) waiting() int { return len(p.arrivals) + len(p.departures) + len(p.instants) }

// sweep moves the line to h: no arrival or departure before h can still come.
func (p *path) sweep(h int64) {
	var a, d, z []int64
	a, p.arrivals = split(p.arrivals, h)
	d, p.departures = split(p.departures, h)
	z, p.instants = split(p.instants, h)
	slices.Sort(a)
	slices.Sort(d)
	slices.Sort(z)
	i, j, k := 0, 0, 0
	for i < len(a) || j < len(d) || k < len(z) {
		next := int64(math.MaxInt64)
		if i < len(a) {
			next = a[i]
		}
		if k < len(z) {
			next = min(next, z[k])
		}
		switch {
		case j < len(d) && d[j] <= next:
			p.advance(d[j], false)
			p.depart(d[j])
			j++
		case k < len(z) && z[k] == next:
			p.arrive(z[k])
			p.depart(z[k])
			k++
		default:
			p.arrive(next)
			i++
		}
	}
	// Keep the memory of the swept part for what comes next.
	p.arrivals = append(a[:0], p.arrivals...)
	p.departures = append(d[:0], p.departures...)
	p.instants = append(z[:0], p.instants...)
}

// split divides v into the times before h and the others.
func split(v []int64, h int64) (before, rest []int64) {
	k := 0
	for i, t := range v {
		if t < h {
			v[i], v[k] = v[k], t
			k++
		}
	}
	return v[:k], v[k:]
}

// finish sweeps everything and passes all edges.
func (p *path) finish() {
	p.sweep(math.MaxInt64)
	if n := len(p.edges); n > 0 {
		p.advance(p.edges[n-1].at, true)
	}
}

func (p *path) arrive(t int64) {
	p.advance(t, true)
	p.n++
	if p.step != nil {
		p.step.Rig.Arrivals.Add(t)
		p.step.Rig.Stalls.Send(t)
	}
	if p.span != nil {
		p.span.Arrivals++
	}
}

func (p *path) depart(t int64) {
	if p.span != nil {
		p.span.Departures++
		p.span.Occupancy.Add(stability.LevelOf(int(p.n)), 0, 1)
	}
	p.n--
	if p.step != nil {
		p.step.Rig.Stalls.End(t)
	}
	for i := 0; i < len(p.falls); i++ {
		f := p.falls[i]
		switch {
		case t >= f.until:
			p.falls = slices.Delete(p.falls, i, i+1)
			i--
		case p.n < f.least:
			f.least = p.n
			f.step.Minima = append(f.step.Minima, Minimum{p.n, t})
		}
	}
}

// advance integrates up to t, and passes the edges at t when they are included.
func (p *path) advance(t int64, included bool) {
	for p.next < len(p.edges) && (p.edges[p.next].at < t || included && p.edges[p.next].at == t) {
		e := &p.edges[p.next]
		p.accumulate(e.at)
		e.apply(p)
		p.next++
	}
	p.accumulate(t)
}

func (p *path) accumulate(t int64) {
	dt := t - p.t
	if dt <= 0 {
		return
	}
	p.t = t
	if p.span != nil {
		p.span.Occupancy.Add(stability.LevelOf(int(p.n)), dt, 0)
		p.span.IntegralNS += p.n * dt
	}
	if p.n == 0 {
		return
	}
	if p.step != nil {
		p.step.InFlight.AddProduct(p.n, dt)
		p.step.Exact.Integral.AddProduct(p.n, dt)
	}
	if p.half != nil {
		p.half.AddProduct(p.n, dt)
	}
	if p.total != nil {
		p.total.InFlight.AddProduct(p.n, dt)
		p.total.Exact.Integral.AddProduct(p.n, dt)
	}
	p.cells.stay(t-dt, t, p.n)
}
