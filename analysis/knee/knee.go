package knee

import "math"

// State says whether the sweep holds a knee.
type State string

// States of a knee.
const (
	Found      State = "found"
	NotReached State = "not_reached" // every level is served in full
	NotTested  State = "not_tested"  // fewer than three rates: no sweep
)

// Shape is what completions do beyond the knee.
type Shape string

// Shapes of a sweep. None stands where every level is served.
const (
	None       Shape = ""
	Collapse   Shape = "collapse"
	Saturation Shape = "saturation"
)

// Warnings that a result may carry.
const (
	// WarnPaced says that arrivals were paced near capacity: users, who do not
	// come at equal gaps, will be carried up to less than this.
	WarnPaced = "paced_arrivals"
	// WarnShort says that levels are too short to tell apart the two rates that
	// the knee lies between.
	WarnShort = "short_levels"
	// WarnDropped says that the levels that bound the capacity dropped arrivals:
	// it is the capacity with this generator's workers.
	WarnDropped = "dropped_arrivals"
	// WarnBacklog says that a level completed more than it offered, so it did not
	// begin drained. It counts as served.
	WarnBacklog = "carried_backlog"
	// WarnOrder says that a level was not served in full though a higher one was.
	WarnOrder = "not_monotone"
	// WarnNoPlateau says that no level shows the limit itself: capacity is only
	// known to lie between two levels.
	WarnNoPlateau = "no_plateau"
	// WarnNoneServed says that the lowest level is past capacity already.
	WarnNoneServed = "none_served"
	// WarnIgnored says that some levels hold no usable numbers; see Result.Ignored.
	WarnIgnored = "ignored_levels"
)

// Constants of the procedure; see the formulas of the package.
const (
	fullShare, fullSigma       = 0.01, 2.6
	kneeShare, kneeSigma       = 0.015, 2.6
	fallenShare, fallenSigma   = 0.03, 4.0
	collapseAt, collapseSigma  = 0.9, 4.0
	promoteShare, promoteSigma = 0.98, 2.0
	intervalSigma              = 2.0
	farFromEdge                = 0.9 // of the lower bound of capacity
	leastRates                 = 3
)

// Options vary a judgement.
type Options struct {
	// CountsOnly says that completions come from periodic counts. The interval of
	// capacity then never ends inside the bracket of levels: with counts a backlog
	// that is carried from level to level cannot be seen.
	CountsOnly bool
}

// Estimate is a value with its interval.
type Estimate struct {
	Value, Lo, Hi float64
	Confidence    float64
}

// Result is the reading of a sweep. Nil pointers stand for "cannot say".
type Result struct {
	State        State
	Offered      *float64   // the knee, 1/s
	Bracket      []float64  // highest level served in full (0: none) and the next level; nil unless found
	ServedInFull *float64   // highest level served in full, 1/s
	Capacity     *Estimate  // C, 1/s; nil when every level is served
	Shape        Shape      //
	Recommended  *float64   // a level to operate at, 1/s
	Best         float64    // X*, 1/s
	SaturatedS   float64    // T_C, seconds behind Capacity
	Rates        int        // distinct offered rates
	Next         []Rung     // what to run next
	Warnings     []string   //
	Ignored      int        // levels without usable numbers
	Levels       []Standing // one per distinct rate, rising
}

// Standing is how one offered rate stands in the sweep.
type Standing struct {
	Offered, Rate, Seconds float64
	Served, Fallen, Stable bool
}

// Judge reads a sweep. The order of levels does not matter.
func Judge(levels []Level, opt Options) Result {
	s := sweep{rungs: rungs(levels), opt: opt}
	s.State = NotTested
	for i := range levels {
		if !levels[i].usable() {
			s.Ignored++
		}
	}
	s.Rates = len(s.rungs)
	if s.Rates > 0 {
		s.read()
	}
	s.Next = s.next()
	s.warn()
	return s.Result
}

// sweep is a judgement in the making.
type sweep struct {
	Result
	rungs     []rung
	opt       Options
	bestS     float64 // seconds of the best level
	noPlateau bool
}

func (s *sweep) read() {
	for i := range s.rungs {
		if r := &s.rungs[i]; r.rate > s.Best || s.bestS == 0 {
			s.Best, s.bestS = r.rate, r.seconds
		}
	}
	all := true
	for i := range s.rungs {
		r := &s.rungs[i]
		full := r.served()
		all = all && full
		if full {
			s.ServedInFull = &r.offered
		}
		s.Levels = append(s.Levels, Standing{
			Offered: r.offered, Rate: r.rate, Seconds: r.seconds, Served: full, Fallen: s.below(r, fallenShare, fallenSigma), Stable: r.stable,
		})
	}
	switch {
	case s.Rates < leastRates:
	case all:
		s.State = NotReached
	default:
		s.State = Found
	}
	if !all {
		s.capacity()
		s.shape()
	}
	if s.State == Found {
		s.knee()
	}
	s.recommend()
}

// below reports whether a level completes less than the best by more than a
// share and more than so many standard deviations of a count.
func (s *sweep) below(r *rung, share, sigmas float64) bool {
	sigma := math.Sqrt(s.Best / min(r.seconds, s.bestS))
	return s.Best-r.rate > max(share*s.Best, sigmas*sigma)
}

func (s *sweep) knee() {
	for i := range s.rungs {
		if r := &s.rungs[i]; !s.below(r, kneeShare, kneeSigma) {
			s.Offered = &r.offered
			break
		}
	}
}

// bracket is the highest level served in full and the lowest one above it; the
// second is +Inf when the highest level of all is served.
func (s *sweep) bracket() (lo, hi float64) {
	hi = math.Inf(1)
	for i := len(s.Levels) - 1; i >= 0; i-- {
		if s.Levels[i].Served {
			return s.Levels[i].Offered, hi
		}
		hi = s.Levels[i].Offered
	}
	return 0, hi
}

// capacity fits min(λ, C) to the levels that have not fallen off.
func (s *sweep) capacity() {
	var kept []rung
	for i, l := range s.Levels {
		if !l.Fallen {
			kept = append(kept, s.rungs[i])
			s.noPlateau = l.Served // of the last one kept
		}
	}
	c, seconds, dispersion := fit(kept)
	s.SaturatedS = seconds
	e := Estimate{Value: c, Lo: c, Hi: c, Confidence: 0.95}
	if seconds > 0 {
		half := intervalSigma * math.Sqrt(dispersion*c/seconds)
		e.Lo, e.Hi = max(0, c-half), c+half
	}
	lo, hi := s.bracket()
	for i, l := range s.Levels {
		if l.Served || l.Fallen || l.Offered < c {
			continue
		}
		up := s.rungs[i].capacityHi
		if math.IsInf(up, 1) {
			up = s.rungs[len(s.rungs)-1].offered
		}
		e.Hi = max(e.Hi, up)
	}
	if !math.IsInf(hi, 1) {
		if s.Rates >= leastRates {
			s.Bracket = []float64{lo, hi}
		}
		if s.noPlateau || s.opt.CountsOnly {
			e.Hi = max(e.Hi, hi)
		}
		if s.opt.CountsOnly {
			e.Lo = min(e.Lo, lo)
		}
	}
	s.Capacity = &e
}

// fit minimises Σ T·(X − min(λ, C))² over C, exactly: between two neighbouring
// levels it is a parabola whose lowest point is the mean rate of the levels
// above. It returns C, the seconds of the levels above it and their mean
// dispersion. Levels are in rising order; the last one counts as above.
func fit(levels []rung) (c, seconds, dispersion float64) {
	least := math.Inf(1)
	for k := range levels {
		floor := 0.0
		if k > 0 {
			floor = levels[k-1].offered
		}
		var t, x, d float64
		for _, r := range levels[k:] {
			t += r.seconds
			x += r.seconds * r.rate
			d += r.busyDispersion
		}
		at := min(max(x/t, floor), levels[k].offered)
		var sum float64
		for _, r := range levels {
			miss := r.rate - min(r.offered, at)
			sum += r.seconds * miss * miss
		}
		if sum < least {
			least, c, seconds, dispersion = sum, at, t, d/t
		}
	}
	return c, seconds, dispersion
}

func (s *sweep) shape() {
	last := &s.rungs[len(s.rungs)-1]
	c := s.Capacity.Value
	s.Shape = Saturation
	if last.rate < collapseAt*c-collapseSigma*math.Sqrt(c/last.seconds) {
		s.Shape = Collapse
	}
}

// recommend picks the highest level that is stable, served, meets the objectives
// and keeps its distance from the lower bound of capacity.
func (s *sweep) recommend() {
	bound := s.Best - intervalSigma*math.Sqrt(s.Best/s.bestS)
	if s.Capacity != nil {
		bound = s.Capacity.Lo
	}
	for i := range s.rungs {
		if r := &s.rungs[i]; r.stable && r.meets && s.Levels[i].Served && r.offered <= farFromEdge*bound {
			s.Recommended = &r.offered
		}
	}
}
