package live

import "math"

// Completions is what ended over some seconds, and what should have. It is known
// up to the newest export, long before the number in flight is.
type Completions struct {
	OfferedPerS float64 // mean offered rate, scheduled or counted before
	WindowS     float64 // seconds looked at
	Ended       int64   // whatever the outcome
	Dispersion  float64 // variance to mean of counts of ends before; 0 stands for 1
	AgeS        float64 // mean time from due to end of what ends now; 0: nothing ends
	UsualAgeS   float64 // the same, before; 0: not known
}

// Shortfall is how far ends fall short of what was offered.
type Shortfall struct {
	Missing float64 // offered less ended, requests
	Z       float64 // in standard deviations, negative: short
	Older   float64 // age over the usual one; +Inf where nothing ends; 0 where the usual one is not known
}

const (
	doubtSpan  = 11  // seconds in which what ended is held against what was offered
	doubtZ     = 3.0 // standard deviations short
	doubtShort = 0.03
	doubtAge   = 1.5 // times the usual response time of what ends
)

// Short measures the shortfall, with W = WindowS, D = max(1, Dispersion):
//
//	Z = (Ended − λ·W) / √(2·D·λ·W),
//
// arrivals and ends each with a dispersion of D. It reports true where the ends
// are 3σ and 3 % short, and what ends is half as old again as usual, or nothing
// ends: a queue that grows holds back the young. It is a suspicion, which never
// becomes an alert: a jump of the load does the same until the service has
// filled up.
func (c Completions) Short() (Shortfall, bool) {
	want := c.OfferedPerS * c.WindowS
	if !(want > 0) || math.IsInf(want, 1) {
		return Shortfall{}, false
	}
	ended := float64(c.Ended)
	s := Shortfall{Missing: want - ended, Z: (ended - want) / math.Sqrt(2*max(1, c.Dispersion)*want)}
	switch {
	case c.AgeS <= 0:
		s.Older = math.Inf(1)
	case c.UsualAgeS > 0:
		s.Older = c.AgeS / c.UsualAgeS
	}
	older := s.Older > doubtAge || s.Older == 0
	return s, s.Z <= -doubtZ && ended <= (1-doubtShort)*want && older
}
