package audit

import "math"

// Law is N = X·(R + Z) for a closed loop of N users who think for Z seconds
// between an answer after R seconds and the next send, at X requests/s (Little's
// law over the whole cycle; Denning and Buzen, 1978).
type Law struct {
	Users     float64 // N
	ThinkS    float64 // Z
	ResponseS float64 // R, mean
	PerS      float64 // X, seen
}

// LawResult compares what a closed loop did with what its users could have sent.
type LawResult struct {
	ExpectedPerS float64 // N/(R + Z)
	Shortfall    float64 // 1 − X/expected; below 0 when it sent more
	LostS        float64 // N/X − R − Z: seconds per cycle spent in neither
	ActiveUsers  float64 // X·(R + Z): users that the requests account for
}

// Check applies the law. It reports false where N, X or R + Z is not positive.
func (l Law) Check() (LawResult, bool) {
	cycle := l.ResponseS + l.ThinkS
	if l.Users <= 0 || l.PerS <= 0 || cycle <= 0 {
		return LawResult{}, false
	}
	expected := l.Users / cycle
	return LawResult{
		ExpectedPerS: expected,
		Shortfall:    1 - l.PerS/expected,
		LostS:        l.Users/l.PerS - cycle,
		ActiveUsers:  l.PerS * cycle,
	}, true
}

// Stretch is a piece of a run: its length, the requests sent in it and the sum
// of their response times.
type Stretch struct {
	Seconds   float64
	Sent      int64
	ResponseS float64 // sum over the requests
}

func (s Stretch) rate() float64 { return float64(s.Sent) / s.Seconds }
func (s Stretch) mean() float64 { return s.ResponseS / float64(s.Sent) }

func (s *Stretch) add(o Stretch, sign float64) {
	s.Seconds += sign * o.Seconds
	s.Sent += int64(sign) * o.Sent
	s.ResponseS += sign * o.ResponseS
}

// SlumpResult compares the slowest stretch of a run with its fastest.
type SlumpResult struct {
	FastPerS, SlowPerS float64
	FastS, SlowS       float64 // mean response times
	Fell               float64 // share by which the load fell
	Rose               float64 // factor by which the response time rose
	First              int     // first cell of the slow stretch
}

// Slump finds the two stretches of a tenth of the run (at least three cells) in
// which the response time was lowest and highest, and says by how much the load
// fell from the one to the other: "load fell 65 % while response time rose 40x".
// It reports false where the time rose by less than a factor of two, or the load
// fell by less than a tenth or less than 4σ of its counts.
func Slump(cells []Stretch) (SlumpResult, bool) {
	width := max(3, len(cells)/10)
	if len(cells) < 2*width {
		return SlumpResult{}, false
	}
	var window Stretch
	var fast, slow Stretch
	first := -1
	for i, c := range cells {
		window.add(c, 1)
		if i >= width {
			window.add(cells[i-width], -1)
		}
		if i < width-1 || window.Sent <= 0 || window.Seconds <= 0 {
			continue
		}
		if first < 0 || window.mean() < fast.mean() {
			fast = window
		}
		if first < 0 || window.mean() > slow.mean() {
			slow, first = window, i-width+1
		}
	}
	if first < 0 || fast.mean() <= 0 {
		return SlumpResult{}, false
	}
	r := SlumpResult{
		FastPerS: fast.rate(), SlowPerS: slow.rate(), FastS: fast.mean(), SlowS: slow.mean(),
		Fell: 1 - slow.rate()/fast.rate(), Rose: slow.mean() / fast.mean(), First: first,
	}
	noise := math.Sqrt(fast.rate()/fast.Seconds + slow.rate()/slow.Seconds)
	ok := r.Rose >= 2 && r.Fell >= 0.1 && fast.rate()-slow.rate() >= sigmas*noise
	return r, ok
}

// Saturation is what a closed or capped generator got through: a lower bound of
// capacity, since the generator asked for no more.
type Saturation struct {
	PerS float64
	Lo   float64 // one-sided 95 % bound of the rate
}

// Saturated returns the throughput of a stretch with the given number of
// completions and dispersion of their counts (1 when unknown):
// Lo = X − 1.645·√(φ·X/T).
func Saturated(completed int64, seconds, dispersion float64) (Saturation, bool) {
	if completed <= 0 || seconds <= 0 {
		return Saturation{}, false
	}
	x := float64(completed) / seconds
	return Saturation{x, max(0, x-1.645*math.Sqrt(max(dispersion, 0)*x/seconds))}, true
}

// Cap is a limit M of requests that a generator keeps outstanding at once.
type Cap struct {
	Workers     float64 // M: stated, or the ceiling of in flight
	OfferedPerS float64
	PerS        float64 // completions/s while it was reached; 0 when unknown
	ServiceS    float64 // mean service time (from send) seen then; 0 when unknown
}

// CapResult says what a cap allows.
type CapResult struct {
	HoldsBelowS float64 // M/λ: the offered rate is held only while requests take less
	PlateauS    float64 // M/X: mean service time at the plateau, by Little's law; 0 when unknown
	Gap         float64 // seen over predicted − 1; NaN when unknown
	Binds       bool    // seen and predicted agree within a tenth: the cap sets the load
	Bites       bool    // requests took longer than the cap allows for
	Needed      float64 // λ·(service time seen): workers that would have held the rate; 0 when unknown
}

// Predict applies Little's law to the generator: M workers that each wait for
// W hold at most M/W requests/s. Needed is at least what it says where the cap
// bound, because requests that were not sent did not slow the service.
func (c Cap) Predict() (CapResult, bool) {
	if c.Workers <= 0 || c.OfferedPerS <= 0 {
		return CapResult{}, false
	}
	r := CapResult{HoldsBelowS: c.Workers / c.OfferedPerS, Gap: math.NaN()}
	if c.ServiceS > 0 {
		r.Bites = c.ServiceS > r.HoldsBelowS
		r.Needed = c.OfferedPerS * c.ServiceS
	}
	if c.PerS > 0 {
		r.PlateauS = c.Workers / c.PerS
		if c.ServiceS > 0 {
			r.Gap = c.ServiceS/r.PlateauS - 1
			r.Binds = math.Abs(r.Gap) <= 0.1
		}
	}
	return r, true
}

// Plateau reads a worker cap off the number in flight by send: its ceiling,
// where it lay there for over a third of the time and at least two requests
// were sent late or dropped in a hundred.
func (r *LoopResult) Plateau() (workers int64, ok bool) {
	ok = r.CeilingShare > 1.0/3 && (r.Late > 2*lateShare || r.Dropped > 2*lateShare)
	return r.Ceiling, ok
}

// leastBelow is how many completions below the ceiling Flat takes.
const leastBelow = 100

// Flat reports whether throughput no longer rose with the number in flight before
// the workers ran out: the service itself was saturated, and more workers would
// only have waited longer. A service that is not completes in proportion to what
// is in flight: at half to three quarters of the ceiling at most 0.75 of what it
// completes there. Flat takes two standard errors of the lower rate above 0.8.
func (r *LoopResult) Flat() bool {
	_, plateau := r.Plateau()
	return plateau && r.BelowEnds >= leastBelow && r.Below*(1-2/math.Sqrt(r.BelowEnds)) >= 0.8*r.AtCeiling
}
