package audit

import (
	"math"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/stability"
)

const (
	stallAlarm  = 1e-5 // chance of one false stall in a stretch of Poisson completions
	leastStall  = 100e6
	leastHit    = 2
	keptGaps    = 1024
	fewestEnds  = 50
	joinedShare = 0.1 // stalls nearer than this share of their length are one
)

// Stall is a stretch in which nothing ended though requests were in flight.
type Stall struct {
	From, To int64
	Hit      int64   // requests that were in flight at its end
	Expected float64 // completions that the same numbers in flight give at other times
}

// Seconds is its length.
func (s Stall) Seconds() float64 { return float64(s.To-s.From) / 1e9 }

// Stalls accumulates sends and completions of one stretch in order of time,
// completions first at one instant. It keeps time and completions per pooled
// level in flight and the 1,024 largest gaps by waiting time in them.
type Stalls struct {
	n     int64
	last  int64   // last event
	since int64   // start of the open gap: last completion, or N rising from zero
	from  int64   // in flight at since
	area  float64 // ∫ N dt since then
	ends  int64
	level stability.Occupancy
	gaps  lags
	kept  []gap
	more  int64 // gaps as long as kept ones that found no room
}

type gap struct {
	from, to int64
	n0, n1   int64
	area     float64 // ∫ N dt
}

// Begin sets the start of the stretch and the number in flight at it.
func (s *Stalls) Begin(at, inFlight int64) {
	s.n, s.last, s.since, s.from = inFlight, at, at, inFlight
}

// Send counts a request that enters.
func (s *Stalls) Send(at int64) {
	s.advance(at, 0)
	if s.n == 0 {
		s.since, s.from, s.area = at, 1, 0
	}
	s.n++
}

// End counts a request that leaves.
func (s *Stalls) End(at int64) {
	s.advance(at, 1)
	s.close(at)
	s.ends++
	s.n = max(0, s.n-1)
	s.since, s.from, s.area = at, s.n, 0
}

func (s *Stalls) advance(at, departures int64) {
	if s.n > 0 {
		s.area += float64(s.n) * float64(max(0, at-s.last))
		s.level.Add(stability.LevelOf(int(s.n)), max(0, at-s.last), departures)
	}
	s.last = at
}

// close ends the open gap.
func (s *Stalls) close(at int64) {
	if s.n == 0 {
		return
	}
	s.gaps.add(at - s.since)
	if at-s.since < leastStall || s.n < leastHit {
		return
	}
	g := gap{s.since, at, s.from, s.n, s.area}
	if len(s.kept) < keptGaps {
		s.kept = append(s.kept, g)
		return
	}
	s.more++
	least := 0
	for i := range s.kept {
		if s.kept[i].area < s.kept[least].area {
			least = i
		}
	}
	if g.area > s.kept[least].area {
		s.kept[least] = g
	}
}

// Result returns the stalls in order of time, seen until the given end of the
// stretch. more is how many shorter gaps were not looked at.
//
// With D completions and time T at the levels through which the number in
// flight rose in a gap of length g, E = g·D/T completions were to be expected
// in it, and Poisson completions leave it empty with probability e⁻ᴱ. T includes
// the gap, so E errs low. A gap is a stall where E > φ·ln(K/10⁻⁵), K the number
// of gaps: one false stall in a hundred thousand stretches. φ is the larger of 1 and of
// p/(mean·ln(1/(1−q))) for p the 99th and the 99.5th percentile of the gaps: 1
// for Poisson completions, more where they come in bunches. Gaps below 0.1 s and
// with fewer than two requests in flight are left out.
func (s *Stalls) Result(to int64) (stalls []Stall, more int64) {
	kept := slices.Clone(s.kept)
	if s.n >= leastHit && to-s.since >= leastStall {
		kept = append(kept, gap{s.since, to, s.from, s.n, s.area + float64(s.n)*float64(max(0, to-s.last))})
	}
	if s.ends < fewestEnds || s.gaps.n == 0 {
		return nil, 0
	}
	mean := s.gaps.total / float64(s.gaps.n)
	phi := 1.0
	for _, q := range [...]float64{0.99, 0.995} {
		if mean > 0 {
			phi = max(phi, s.gaps.quantile(q)/mean/-math.Log1p(-q))
		}
	}
	limit := phi * math.Log(float64(s.gaps.n)/stallAlarm)
	slices.SortFunc(kept, func(a, b gap) int {
		switch {
		case a.from < b.from:
			return -1
		case a.from > b.from:
			return 1
		}
		return 0
	})
	below := s.below()
	for i := range kept {
		g := &kept[i]
		if e := g.expected(below); e > limit {
			stalls = join(stalls, Stall{g.from, g.to, g.n1, e})
		}
	}
	return stalls, s.more
}

// below are time and completions at every pooled level and all below.
func (s *Stalls) below() []stability.Cell {
	out := make([]stability.Cell, s.level.Top()+2)
	s.level.Each(func(level int, c stability.Cell) {
		if level+1 < len(out) {
			out[level+1] = c
		}
	})
	for i := 1; i < len(out); i++ {
		out[i].TimeNS += out[i-1].TimeNS
		out[i].Departures += out[i-1].Departures
	}
	return out
}

// expected is how many completions the levels that the gap passed through give
// in its length at other times.
func (g *gap) expected(below []stability.Cell) float64 {
	last := len(below) - 1
	lo := min(stability.LevelOf(int(max(1, g.n0))), last)
	// A steady rise has its mean half way up; a jump near the end has it below.
	top := min(float64(g.n1), 2*g.area/float64(g.to-g.from)-float64(g.n0))
	hi := min(stability.LevelOf(max(1, int(top), int(g.n0)))+1, last)
	d := below[hi].Departures - below[lo].Departures
	t := below[hi].TimeNS - below[lo].TimeNS
	if t <= 0 {
		return 0
	}
	return float64(d) / float64(t) * float64(g.to-g.from)
}

// join adds a stall, or lengthens the last one where hardly anything lay
// between.
func join(all []Stall, s Stall) []Stall {
	if n := len(all); n > 0 {
		last := &all[n-1]
		if float64(s.From-last.To) <= joinedShare*float64(s.To-last.From) {
			last.To, last.Expected = s.To, last.Expected+s.Expected
			last.Hit = max(last.Hit, s.Hit)
			return all
		}
	}
	return append(all, s)
}
