package stability

import (
	"fmt"
	"math"
	"slices"
)

// State is the answer to "does the backlog grow without end?".
type State string

// The three answers.
const (
	Stable       State = "stable"
	Unstable     State = "unstable"
	Inconclusive State = "inconclusive"
)

// Warnings that a result may carry.
const (
	// WarnFewArrivals says that fewer than 30 requests arrived.
	WarnFewArrivals = "few_arrivals"
	// WarnRateCounted says that the offered rate was counted, not known.
	WarnRateCounted = "rate_counted"
	// WarnRising says that in flight still rises though the load is carried:
	// percentiles of this window are not final.
	WarnRising = "still_rising"
	// WarnPath says that departures left an empty system: the record is broken.
	WarnPath = "departures_from_empty"
)

// Result is the judgement of one window.
type Result struct {
	Evidence

	State    State
	NeedS    float64 // seconds of step, first tenth included, that would decide; 0 unless inconclusive
	Reason   string  // one plain sentence
	Warnings []string
}

// Thresholds of the procedure.
const (
	minArrivals = 30

	unstableZ    = -1.3 // Z at most this, and
	unstableZAll = -0.8 // Z_A at most this, and
	unstableGrow = 0.5  // z_g above this

	stableZ     = 2.3  // Z at least this plus 8/√departures, and
	stableZMore = 8.0  //
	stableGrow  = 2.3  // z_g below this, and
	stableLate  = -1.3 // Z_late above this

	lateZ    = -2.3 // a leak that crosses late: Z_late at most this, and
	lateGrow = 2.3  // z_g above this

	power    = 1.65 // standard deviations beyond a bar for 95 % of runs
	nearest  = 0.02 // nothing is promised this close to capacity
	leastZ   = 0.2  // no extrapolation from less
	needMore = 1.5  // ask for at least this many times the window
)

// Judge decides a window from which the warm-up has been cut: steps 2 to 8.
func Judge(w *Window, rate Rate) Result {
	r := Result{Evidence: Evaluate(w, rate), State: Inconclusive}
	if !rate.Known {
		r.Warnings = append(r.Warnings, WarnRateCounted)
	}
	if r.lost > 0 {
		r.Warnings = append(r.Warnings, WarnPath)
	}
	stableBar := stableZ
	if r.Departures > 0 {
		stableBar += stableZMore / math.Sqrt(float64(r.Departures))
	}
	switch {
	case r.Arrivals < minArrivals:
		r.Warnings = append(r.Warnings, WarnFewArrivals)
	case r.Z <= unstableZ && r.ZAll <= unstableZAll && r.SecondHalf > r.FirstHalf && r.GrowthZ > unstableGrow:
		r.State = Unstable
	case r.Departures > 0 && r.Z >= stableBar && r.GrowthZ < stableGrow && r.ZLate > stableLate:
		r.State = Stable
		if r.GrowthZ > halvesZ {
			r.Warnings = append(r.Warnings, WarnRising)
		}
	case r.ZLate <= lateZ && r.GrowthZ > lateGrow:
		r.State = Unstable
	}
	if r.State == Inconclusive {
		r.NeedS = r.need(stableBar)
	}
	r.Reason = r.reason(stableBar)
	return r
}

// need is the length of step, its first tenth included, after which a rerun is
// expected to be decided: step 8.
func (r *Result) need(stableBar float64) float64 {
	bar := stableBar
	if r.Z < 0 {
		bar = -unstableZ
	}
	zd := 0.0
	if r.Dispersion > 0 {
		zd = nearest * math.Sqrt(r.Offered*r.busyS/r.Dispersion)
	}
	more := (bar + power) / max(math.Abs(r.Z), zd, leastZ)
	factor := max(needMore, more*more)
	if r.Arrivals < minArrivals {
		factor = max(factor, needMore*minArrivals/float64(max(r.Arrivals, 1)))
	}
	return r.WindowS * factor / (1 - WarmUp)
}

func (r *Result) reason(stableBar float64) string {
	if slices.Contains(r.Warnings, WarnFewArrivals) {
		return fmt.Sprintf("only %d requests arrived; at least %d are needed", r.Arrivals, minArrivals)
	}
	if r.Departures == 0 {
		return fmt.Sprintf("nothing ended in %.3g s while %.4g/s were offered", r.WindowS, r.Offered)
	}
	c := fmt.Sprintf("%.4g/s (%.4g to %.4g)", r.Capacity.Value, r.Capacity.Lo, r.Capacity.Hi)
	if math.IsInf(r.Capacity.Hi, 1) {
		c = fmt.Sprintf("at least %.4g/s", r.Capacity.Lo)
	}
	verb := "went"
	if r.State == Unstable {
		verb = "grew"
	}
	grew := fmt.Sprintf("in flight %s from %.4g to %.4g between halves", verb, r.FirstHalf, r.SecondHalf)
	more := fmt.Sprintf("about %.0f s would decide", r.NeedS)
	switch {
	case r.State == Stable:
		return fmt.Sprintf("with a longer queue it would serve %s, above the %.4g/s offered", c, r.Offered)
	case r.State == Unstable && r.Z <= unstableZ:
		return fmt.Sprintf("with a long queue it serves %s against %.4g/s offered, and %s", c, r.Offered, grew)
	case r.State == Unstable:
		return fmt.Sprintf("in the last half it fell behind the %.4g/s offered, and %s", r.Offered, grew)
	case r.Z >= stableBar && r.GrowthZ >= stableGrow:
		return fmt.Sprintf("with a longer queue it would serve %s, but %s; %s", c, grew, more)
	case r.Z >= stableBar:
		return fmt.Sprintf("over the whole window it serves %s, but not in its last half; %s", c, more)
	case r.Z <= unstableZ:
		return fmt.Sprintf("with a long queue it would serve %s against %.4g/s offered, but %s, which is no clear growth; %s",
			c, r.Offered, grew, more)
	}
	return fmt.Sprintf("with a long queue it would serve %s, too close to the %.4g/s offered for %.3g s to tell; %s",
		c, r.Offered, r.WindowS, more)
}
