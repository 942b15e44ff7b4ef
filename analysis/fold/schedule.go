package fold

import (
	"math"
	"slices"
	"sort"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// Schedule is the plan of arrivals of a run: stretches of a constant or
// linearly changing rate, one after another. Offsets are nanoseconds from the
// start of the schedule.
type Schedule struct{ pieces []piece }

type piece struct {
	from, length int64   // offset and length, ns
	first        float64 // arrivals due before it
	rate, to     float64 // 1/s at its start and end
}

// arrivals is the number of arrivals due in the first s seconds of the piece.
func (p *piece) arrivals(s float64) float64 {
	return p.rate*s + (p.to-p.rate)*s*s/(2*float64(p.length)/1e9)
}

// ConstantSchedule is an endless schedule of one rate, 1/s.
func ConstantSchedule(rate float64) *Schedule {
	return &Schedule{pieces: []piece{{length: math.MaxInt64, rate: rate, to: rate}}}
}

// DeclaredSchedule is the schedule of declared steps, or nil when none are
// declared.
func DeclaredSchedule(steps []wire.DeclareStep) *Schedule {
	if len(steps) == 0 {
		return nil
	}
	s := &Schedule{}
	var at int64
	var count float64
	for i := range steps {
		p := piece{from: at, length: nanos(steps[i].DurationS), first: count, rate: steps[i].RatePerS, to: steps[i].RatePerS}
		if steps[i].ToRate != nil {
			p.to = *steps[i].ToRate
		}
		count += p.arrivals(steps[i].DurationS)
		at += p.length + nanos(steps[i].PauseS)
		s.pieces = append(s.pieces, p)
	}
	return s
}

// Offset returns when arrival index (from 0) is due. The arrivals of a piece
// start with the piece: index k of a constant rate r is due k/r after its start.
// Beyond the end of the schedule the last rate goes on.
func (s *Schedule) Offset(index int64) int64 {
	p, k := s.piece(index)
	return p.from + int64(math.Round(p.after(k)*1e9))
}

// piece returns the piece that arrival index belongs to, and its number in it.
func (s *Schedule) piece(index int64) (p *piece, k float64) {
	i := sort.Search(len(s.pieces), func(i int) bool { return s.pieces[i].first-1e-6 > float64(index) })
	p = &s.pieces[max(0, i-1)]
	return p, math.Max(0, float64(index)-p.first)
}

// gap is the time from arrival index to the next one of its piece, ns; at least
// the resolution of timers.
func (s *Schedule) gap(index int64) int64 { return max(earlyLimit, s.step(index)) }

// step is the time from arrival index to the next one of its piece, ns.
func (s *Schedule) step(index int64) int64 {
	p, k := s.piece(index)
	return int64(1e9 * (p.after(k+1) - p.after(k)))
}

// part is the schedule of one of the hosts that share it, by its share of the rate.
func (s *Schedule) part(share float64) *Schedule {
	out := &Schedule{pieces: slices.Clone(s.pieces)}
	for i := range out.pieces {
		p := &out.pieces[i]
		p.first, p.rate, p.to = p.first*share, p.rate*share, p.to*share
	}
	return out
}

// after returns the seconds after which k arrivals of the piece are due.
func (p *piece) after(k float64) float64 {
	slope := 0.0
	if p.to != p.rate {
		slope = (p.to - p.rate) / (float64(p.length) / 1e9)
	}
	if slope == 0 {
		if p.rate <= 0 {
			return float64(p.length) / 1e9
		}
		return k / p.rate
	}
	// Solve rate·s + slope·s²/2 = k in the form that does not cancel.
	d := p.rate*p.rate + 2*slope*k
	if d < 0 {
		return float64(p.length) / 1e9
	}
	if q := p.rate + math.Sqrt(d); q > 0 {
		return 2 * k / q
	}
	return 0
}

// Due returns the number of arrivals that the schedule puts in [from, to),
// both offsets in nanoseconds.
func (s *Schedule) Due(from, to int64) float64 {
	var sum float64
	for i := range s.pieces {
		p := &s.pieces[i]
		a, b := max(from, p.from)-p.from, min(to-p.from, p.length)
		if b > a {
			sum += p.arrivals(float64(b)/1e9) - p.arrivals(float64(a)/1e9)
		}
	}
	return sum
}

// Count is the whole number of arrivals that the schedule puts in [from, to);
// counts of adjoining stretches add up.
func (s *Schedule) Count(from, to int64) int64 {
	return int64(math.Round(s.Due(0, to)) - math.Round(s.Due(0, from)))
}

// Rate is the rate at an offset, 1/s; 0 in a pause and after the end.
func (s *Schedule) Rate(at int64) float64 {
	for i := range s.pieces {
		if p := &s.pieces[i]; at >= p.from && at < p.from+p.length {
			return p.rate + (p.to-p.rate)*float64(at-p.from)/float64(p.length)
		}
	}
	return 0
}

// Length is the offset at which the schedule ends.
func (s *Schedule) Length() int64 {
	last := &s.pieces[len(s.pieces)-1]
	return last.from + last.length
}

// nanos turns seconds into nanoseconds.
func nanos(s float64) int64 { return int64(math.Round(s * 1e9)) }
