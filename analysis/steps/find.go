package steps

import (
	"math"
	"slices"
)

const (
	most     = 1024 // cells that are searched; longer runs are added up first
	shortest = 5    // cells of a segment where arrivals are even
	longer   = 10   // where they are not
	worth    = 17.0 // what a cut must gain, as the square of a normal deviate
	overfit  = 6.0  // what a step gains, in a line that is cut into steps, by chance
	even     = 0.2  // dispersion below which arrivals are paced
	bursty   = 1.5  // dispersion above which they come in bursts
)

// Segment is a stretch of a run at one rate, or a ramp.
type Segment struct {
	From, To int64
	Rate     float64 // arrivals/s while there were any
	ToRate   float64 // at the end of a ramp; else equal to Rate
	Silent   int64   // ns of silences in it, which Rate leaves out
}

// Ramp reports whether the rate changes over the segment.
func (s Segment) Ramp() bool { return s.Rate != s.ToRate }

// Find returns the segments of a run in order of time: they cover it from end to
// end, but for silences between two of them. Nothing counted gives none.
func (c *Counts) Find() []Segment {
	fine := c.series()
	if total, seconds := fine.sum(0, len(fine.y)); total == 0 || seconds == 0 {
		return nil
	}
	k := (len(fine.y) + most - 1) / most
	s := fine.coarse(k)
	pieces := s.search()
	for i := range pieces {
		pieces[i].from *= k
		pieces[i].to = min(pieces[i].to*k, len(fine.y))
	}
	fine.refit(pieces)
	fine.move(pieces, max(3, 2*k))
	if n := len(pieces); n > 2 {
		if pieces = fine.absorb(pieces, fine.dispersion()); len(pieces) < n {
			fine.move(pieces, 3)
		}
	}
	return c.segments(fine, pieces)
}

// search finds the pieces. Where arrivals are not even, a rate that keeps going
// up and down within less than twice the shortest segment is a burst and not a
// plan: segments must then be twice as long.
func (s *series) search() []piece {
	phi := s.dispersion()
	if phi > even {
		s.least = longer
	}
	for {
		pieces := s.absorb(s.prune(s.lines(s.cut(phi), phi), phi), phi)
		if phi <= even || !restless(pieces, 2*s.least) {
			return pieces
		}
		s.least *= 2
	}
}

// restless reports whether the rate turns at least twice and some piece is
// shorter than the given number of cells.
func restless(pieces []piece, cells int) bool {
	turns, short := 0, false
	for i := range pieces {
		short = short || pieces[i].to-pieces[i].from < cells
		if i > 1 && (pieces[i].a > pieces[i-1].a) != (pieces[i-1].a > pieces[i-2].a) {
			turns++
		}
	}
	return short && turns > 1
}

// cut is the best cut into constant pieces (PELT). It returns the edges.
func (s *series) cut(phi float64) []int {
	n := len(s.y)
	beta := 3 * math.Log(float64(max(n, 10)))
	best := make([]float64, n+1)
	from := make([]int, n+1)
	best[0] = -beta
	candidates := []int{0}
	cost := func(i, j int) float64 {
		y, w := s.sum(i, j)
		if y <= 0 || w <= 0 {
			return 0
		}
		return -2 * y * math.Log(y/w) / phi // Σ Y·ln Y is common to all cuts
	}
	for j := 1; j <= n; j++ {
		best[j] = math.Inf(1)
		for _, i := range candidates {
			if j-i < s.least && (i > 0 || j < n) {
				continue
			}
			if v := best[i] + cost(i, j) + beta; v < best[j] {
				best[j], from[j] = v, i
			}
		}
		kept := candidates[:0]
		for _, i := range candidates {
			if j-i < s.least || best[i]+cost(i, j) <= best[j] {
				kept = append(kept, i)
			}
		}
		candidates = kept
		if j >= s.least && j <= n-s.least {
			candidates = append(candidates, j)
		}
	}
	var edges []int
	for j := n; j > 0; j = from[j] {
		edges = append(edges, j)
	}
	edges = append(edges, 0)
	for i, j := 0, len(edges)-1; i < j; i, j = i+1, j-1 {
		edges[i], edges[j] = edges[j], edges[i]
	}
	return edges
}

// lines describes runs of pieces by straight lines where that costs less: the
// best choice over all ways to join neighbours.
func (s *series) lines(edges []int, phi float64) []piece {
	n := len(edges) - 1
	beta := 3 * math.Log(float64(max(len(s.y), 10)))
	best := make([]float64, n+1)
	last := make([]piece, n+1)
	start := make([]int, n+1)
	for j := 1; j <= n; j++ {
		best[j] = math.Inf(1)
		for i := j - 1; i >= 0 && j-i <= 64; i-- {
			p := s.constant(edges[i], edges[j])
			v := best[i] + beta + p.dev/phi
			if q := s.ramp(edges[i], edges[j]); q.line && !s.paused(edges[i], edges[j]) {
				// A ladder of equal steps is nearly a line: a line must fit as well as the
				// steps that it replaces, not only be simpler.
				cost := best[i] + beta + q.dev/phi + max(overfit, (beta-overfit)*float64(j-i-1))
				if cost < v {
					p, v = q, cost
				}
			}
			if v < best[j] {
				best[j], last[j], start[j] = v, p, i
			}
		}
	}
	var out []piece
	for j := n; j > 0; j = start[j] {
		out = append(out, last[j])
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// paused reports whether a silence lies within cells [i, j): a ramp that pauses is
// a ladder.
func (s *series) paused(i, j int) bool {
	for ; i < j && s.w[i] <= 0; i++ { // one at an end is not within
	}
	for ; i < j && s.w[j-1] <= 0; j-- {
	}
	return slices.Contains(s.w[i:j], 0)
}

// prune takes back the weakest cut or slope until each is worth its place
// against the dispersion within pieces.
func (s *series) prune(pieces []piece, least float64) []piece {
	for {
		phi, freedom := s.within(pieces, least)
		weakest, at, slope := worth, -1, false
		var into piece
		for i := range pieces {
			if p := &pieces[i]; p.line {
				flat := s.constant(p.from, p.to)
				if v := value(flat.dev-p.dev, 1, phi, freedom); v < weakest {
					weakest, at, slope, into = v, i, true, flat
				}
			}
			if i == 0 {
				continue
			}
			a, b := &pieces[i-1], &pieces[i]
			joined := []piece{s.constant(a.from, b.to)}
			if (a.line || b.line) && !s.paused(a.from, b.to) { // two constants that make a line were looked at before
				joined = append(joined, s.ramp(a.from, b.to))
			}
			for _, p := range joined {
				extra := a.parameters() + b.parameters() + 1 - p.parameters()
				v := value(p.dev-a.dev-b.dev, extra-1, phi, freedom)
				if v < weakest {
					weakest, at, slope, into = v, i, false, p
				}
			}
		}
		switch {
		case at < 0:
			return pieces
		case slope:
			pieces[at] = into
		default:
			pieces[at-1] = into
			pieces = append(pieces[:at], pieces[at+1:]...)
		}
	}
}

// absorb takes out short pieces that are no more than the cell in which the rate
// changed from one neighbour's to the other's.
func (s *series) absorb(pieces []piece, least float64) []piece {
	phi, _ := s.within(pieces, least)
	for i := 1; i < len(pieces)-1; i++ {
		p, a, b := &pieces[i], &pieces[i-1], &pieces[i+1]
		if p.to-p.from > 2*s.least {
			continue
		}
		best, at := math.Inf(1), 0
		for k := p.from; k < p.to; k++ {
			var cost float64
			for j := p.from; j < p.to; j++ {
				switch {
				case j < k:
					cost += s.cellDeviance(a, j)
				case j > k:
					cost += s.cellDeviance(b, j)
				}
			}
			if cost < best {
				best, at = cost, k
			}
		}
		if (best-p.dev)/phi >= worth {
			continue
		}
		a.to, b.from = at+1, at+1
		pieces = append(pieces[:i], pieces[i+1:]...)
		s.refit(pieces)
		i--
	}
	return pieces
}

// value is what a gain in deviance is worth as the square of a normal deviate:
// gain/φ as the square of Student's t with the freedom of φ (Wallace 1959), less
// two for every parameter beyond the first.
func value(gain, parameters, phi, freedom float64) float64 {
	t2 := max(0, gain/phi-2*max(0, parameters-1))
	c := (8*freedom + 1) / (8*freedom + 3)
	return c * c * freedom * math.Log1p(t2/freedom)
}
