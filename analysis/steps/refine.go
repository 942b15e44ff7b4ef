package steps

import (
	"math"
	"slices"
	"sort"
)

// refit fits pieces again after their edges moved.
func (s *series) refit(pieces []piece) {
	for i := range pieces {
		p := &pieces[i]
		if p.line {
			*p = s.straight(p.from, p.to)
		} else {
			*p = s.constant(p.from, p.to)
		}
	}
}

// move puts every edge on the cell, at most reach away, where both sides fit
// best by the rates of their inner parts.
func (s *series) move(pieces []piece, reach int) {
	for range 2 {
		for i := 1; i < len(pieces); i++ {
			a, b := s.inner(pieces[i-1], reach, true), s.inner(pieces[i], reach, false)
			edge := pieces[i].from
			lo := max(edge-reach, pieces[i-1].from+1)
			hi := min(edge+reach, pieces[i].to-1)
			// Deviance of the cells lo..hi with the edge at k.
			var cost float64
			for k := lo; k < hi; k++ {
				cost += s.cellDeviance(&b, k)
			}
			best, at := math.Inf(1), edge
			for k := lo; k <= hi; k++ {
				if cost < best {
					best, at = cost, k
				}
				if k < hi {
					cost += s.cellDeviance(&a, k) - s.cellDeviance(&b, k)
				}
			}
			pieces[i-1].to, pieces[i].from = at, at
		}
		s.refit(pieces)
	}
}

// inner fits a piece without what lies near the edge that is to be moved.
func (s *series) inner(p piece, reach int, end bool) piece {
	from, to := p.from, p.to
	if cut := min(reach, (to-from)/3); end {
		to -= cut
	} else {
		from += cut
	}
	if p.line {
		return s.straight(from, to)
	}
	return s.constant(from, to)
}

func (s *series) cellDeviance(p *piece, k int) float64 {
	if s.w[k] <= 0 {
		return 0
	}
	return deviance(s.y[k], s.floor(p, k)*s.w[k])
}

// segments turns pieces into times.
func (c *Counts) segments(s *series, pieces []piece) []Segment {
	phi, _ := s.within(pieces, 0)
	out := make([]Segment, len(pieces))
	for i := range pieces {
		p := &pieces[i]
		out[i] = Segment{From: c.time(float64(p.from)), To: c.time(float64(p.to)), Rate: p.a, ToRate: p.a}
		if p.line {
			out[i].Rate = max(0, p.at(float64(p.from)))
			out[i].ToRate = max(0, p.at(float64(p.to)))
		}
	}
	for i := 1; i < len(pieces); i++ {
		if x, ok := s.between(&pieces[i-1], &pieces[i], phi); ok {
			at := c.time(x)
			out[i-1].To, out[i].From = at, at
			for _, k := range [...]int{i - 1, i} {
				if p := &pieces[k]; p.line {
					if k == i {
						out[k].Rate = max(0, p.at(x))
					} else {
						out[k].ToRate = max(0, p.at(x))
					}
				}
			}
		}
	}
	for i := range pieces {
		c.silence(s, &out[i], i > 0, i < len(pieces)-1)
	}
	return out
}

// time is the time at a position in cells.
func (c *Counts) time(x float64) int64 {
	return min(c.to, c.from+int64(math.Round(x*float64(c.width))))
}

// between places an edge within its cells: where the lines of a ramp and its
// neighbour meet, or, where arrivals are even, where the counts of the two cells
// around the edge say that the rate changed.
func (s *series) between(a, b *piece, phi float64) (x float64, ok bool) {
	edge := float64(b.from)
	if a.line || b.line {
		slope := (b.b - a.b)
		if slope == 0 {
			return 0, false
		}
		x = edge - (b.at(edge)-a.at(edge))/slope
		if math.Abs(x-edge) <= shortest && x > float64(a.from) && x < float64(b.to) {
			return x, true
		}
	}
	i := b.from
	if phi > even || i-1 < a.from || i >= b.to || s.w[i-1] <= 0 || s.w[i] <= 0 {
		return 0, false
	}
	// The outer rates, without the cells that may hold the edge.
	ra, rb := a.at(edge), b.at(edge)
	if !a.line && i-2 > a.from {
		ra = s.constant(a.from, i-1).a
	}
	if !b.line && i+1 < b.to-1 {
		rb = s.constant(i+1, b.to).a
	}
	if ra == rb {
		return 0, false
	}
	wa := s.w[i-1]
	seconds := (s.y[i-1] + s.y[i] - rb*(s.w[i-1]+s.w[i])) / (ra - rb) // of the old rate
	x = edge - 1 + seconds/wa
	return min(max(x, edge-1), edge+1), true
}

// silence leaves silences at inner ends of a segment out and counts the others.
func (c *Counts) silence(s *series, g *Segment, before, after bool) {
	i := int((g.From - c.from) / c.width)
	j := int((g.To - c.from + c.width - 1) / c.width)
	j = min(j, len(s.w))
	first, last := i, j
	for first < last && s.w[first] <= 0 {
		first++
	}
	for last > first && s.w[last-1] <= 0 {
		last--
	}
	if first >= last {
		return
	}
	if first > i && before {
		g.From = c.time(float64(first))
	} else {
		g.Silent += int64(first-i) * c.width
	}
	if last < j && after {
		g.To = c.time(float64(last))
	} else {
		g.Silent += c.time(float64(j)) - c.time(float64(last))
	}
	for k := first; k < last; k++ {
		if s.w[k] <= 0 {
			g.Silent += c.width
		}
	}
}

// Window is a stretch around an edge.
type Window struct{ From, To int64 }

// reach is how many gaps of the slower side a window reaches from an edge.
const reach = 50

// Windows returns where the due times must be known to place edges between two
// constant rates exactly: 50 gaps or a second and a half to either side, which is
// more, and at most 2,000 gaps of the faster side. The order is that of the
// edges.
func Windows(segments []Segment) []Window {
	var out []Window
	for i := 1; i < len(segments); i++ {
		a, b := &segments[i-1], &segments[i]
		if !steady(a, b) {
			continue
		}
		slow, fast := min(a.Rate, b.Rate), max(a.Rate, b.Rate)
		half := int64(min(max(reach/slow, 1.5), max(2000/fast, 2/slow)) * 1e9)
		out = append(out, Window{max(a.From, a.To-half), min(b.To, b.From+half)})
	}
	return out
}

func steady(a, b *Segment) bool {
	return !a.Ramp() && !b.Ramp() && a.To == b.From && a.Rate > 0 && b.Rate > 0
}

// Refine moves edges between two constant rates to the arrival after which the
// gap changes. due holds the due times within Windows in ascending order; what
// lies outside is not looked at. Edges around which gaps are uneven stay.
func Refine(segments []Segment, due []int64) []Segment {
	out := slices.Clone(segments)
	for k, w := 0, Windows(segments); k < len(w); k++ {
		i := edgeOf(segments, k)
		lo := sort.Search(len(due), func(j int) bool { return due[j] >= w[k].From })
		hi := sort.Search(len(due), func(j int) bool { return due[j] >= w[k].To })
		if at, ok := change(due[lo:hi], 1e9/segments[i-1].Rate, 1e9/segments[i].Rate); ok {
			out[i-1].To, out[i].From = at, at
		}
	}
	return out
}

// edgeOf is the index of the segment that begins at the k-th refinable edge.
func edgeOf(segments []Segment, k int) int {
	for i := 1; i < len(segments); i++ {
		if !steady(&segments[i-1], &segments[i]) {
			continue
		}
		if k == 0 {
			return i
		}
		k--
	}
	return len(segments)
}

// change finds the arrival at which gaps of a ns become gaps of b ns, by least
// squares. It reports false where gaps scatter by more than a fifth, or by more
// than half of what they change by.
func change(due []int64, a, b float64) (int64, bool) {
	n := len(due) - 1 // gaps
	if n < 4 {
		return 0, false
	}
	square := func(i int, mean float64) float64 {
		d := float64(due[i+1]-due[i]) - mean
		return d * d
	}
	var cost float64
	for i := range n {
		cost += square(i, b)
	}
	best, at := math.Inf(1), 0
	for k := 0; k <= n; k++ { // gaps 0..k-1 are old
		if cost < best {
			best, at = cost, k
		}
		if k < n {
			cost += square(k, a) - square(k, b)
		}
	}
	if at == 0 || at == n {
		return 0, false
	}
	// The gap that holds the edge fits neither.
	rest := best - min(square(at, b), square(at-1, a))
	sd := math.Sqrt(max(0, rest) / float64(n-1))
	if sd > 0.2*min(a, b) || sd > 0.5*math.Abs(a-b) {
		return 0, false
	}
	return due[at], true
}
