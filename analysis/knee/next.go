package knee

import "math"

// Rung is a level to run next.
type Rung struct {
	RatePerS  float64
	DurationS float64
	Why       string
}

// What a rung is for.
const (
	HalveBracket  = "halves the bracket between the levels"
	HalveInterval = "halves the interval of capacity"
	Raise         = "looks for the knee above the levels so far"
	Spread        = "makes a sweep of at least three rates"
)

// Run length for a verdict on stability: T = 45/(λ·(1−ρ)²).
const lengthOfRun = 45

// next lists the rates and durations that would halve what is not known.
func (s *sweep) next() []Rung {
	if s.Rates == 0 {
		return nil
	}
	top := &s.rungs[len(s.rungs)-1]
	longest := 0.0
	for i := range s.rungs {
		longest = max(longest, s.rungs[i].seconds)
	}
	switch {
	case s.State == Found:
		return s.refine()
	case s.Capacity == nil:
		why := Raise
		if s.State == NotTested {
			why = Spread
		}
		return []Rung{{1.25 * top.offered, longest, why}, {1.5 * top.offered, longest, why}}
	case s.Capacity.Value <= 0:
		return nil
	}
	var out []Rung
	for _, rho := range []float64{0.5, 0.8, 0.9} {
		rate := rho * s.Capacity.Value
		out = append(out, Rung{rate, lengthOfRun / (rate * (1 - rho) * (1 - rho)), Spread})
	}
	return out
}

// refine halves the bracket by a level in its middle, long enough to notice a
// quarter of the bracket as a shortfall, and the interval by three times as long
// again at the level that showed the limit.
func (s *sweep) refine() []Rung {
	var out []Rung
	if len(s.Bracket) == 2 {
		lo, hi := s.Bracket[0], s.Bracket[1]
		middle := (lo + hi) / 2
		if share := (hi - lo) / 4 / middle; share > fullShare/2 {
			length := fullSigma / max(share, fullShare)
			out = append(out, Rung{middle, max(length*length/middle, s.secondsAt(hi)), HalveBracket})
		}
	}
	if s.noPlateau || s.opt.CountsOnly || s.Capacity.Value <= 0 {
		return out // the interval is the bracket
	}
	rate, best := 0.0, 0.0
	for _, l := range s.Levels {
		if l.Offered > s.Capacity.Value && !l.Fallen && l.Rate > best {
			rate, best = l.Offered, l.Rate
		}
	}
	if rate > 0 {
		out = append(out, Rung{rate, 3 * s.SaturatedS, HalveInterval})
	}
	return out
}

func (s *sweep) secondsAt(offered float64) float64 {
	for _, l := range s.Levels {
		if l.Offered == offered {
			return l.Seconds
		}
	}
	return 0
}

// warn collects the doubts, each once and in a fixed order.
func (s *sweep) warn() {
	add := func(code string, when bool) {
		if when {
			s.Warnings = append(s.Warnings, code)
		}
	}
	var paced, backlog, order bool
	bound, dropped := 0, 0
	for i := range s.rungs {
		r, l := &s.rungs[i], &s.Levels[i]
		backlog = backlog || r.backlog
		order = order || !l.Served && s.ServedInFull != nil && r.offered < *s.ServedInFull
		if s.Capacity == nil {
			continue
		}
		paced = paced || r.paced && r.offered >= collapseAt*s.Capacity.Value
		if !l.Served {
			bound++
			if r.dropped {
				dropped++
			}
		}
	}
	add(WarnPaced, paced)
	add(WarnShort, s.short())
	add(WarnDropped, bound > 0 && dropped == bound)
	add(WarnBacklog, backlog)
	add(WarnOrder, order)
	add(WarnNoPlateau, s.noPlateau)
	add(WarnNoneServed, s.Rates > 0 && s.ServedInFull == nil)
	add(WarnIgnored, s.Ignored > 0)
}

// short reports whether the noise of one of the two levels of the bracket is
// more than half of the distance between them.
func (s *sweep) short() bool {
	if len(s.Bracket) != 2 || s.Bracket[0] == 0 {
		return false
	}
	for _, at := range s.Bracket {
		noise := fullSigma * math.Sqrt(at/s.secondsAt(at))
		if noise > (s.Bracket[1]-s.Bracket[0])/2 {
			return true
		}
	}
	return false
}
