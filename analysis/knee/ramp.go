package knee

import "math"

// Count is what a service completed in a stretch of a ramp.
type Count struct{ Seconds, Completed float64 }

// Climb is what a ramp says of the capacity: a lower bound and nothing more. The
// rate at which it bends is not read off it, since a queue takes its time to show.
type Climb struct {
	AtLeast float64 // 1/s
	Rate    float64 // completed per second in the stretch that gives it
	Seconds float64 // length of that stretch
}

const (
	leastRampS   = 10.0
	leastRampN   = 4    // counts, that a dispersion is taken over
	rampShare    = 0.25 // of the ramp: shorter stretches are luck
	rampSigma    = 3.3  // of the best of many stretches
	rampFloor    = 0.25 // least dispersion that is believed
	mostRampCell = 1000 // counts; more are added up
)

// Ramp reads a lower bound of the capacity off a ramp, from counts of neighbouring
// stretches of about equal length: with n completed in s seconds and φ the variance
// over the mean of the counts among them, at least a quarter,
//
//	bound = max (n − 3.3·√(φ·n)) / s  over stretches of at least 10 s and a quarter of the ramp.
//
// What was completed so long can be completed. It reports false where the ramp is
// shorter than that, or where nothing was completed.
func Ramp(counts []Count) (Climb, bool) {
	for len(counts) > mostRampCell {
		counts = pairs(counts)
	}
	var total float64
	for _, c := range counts {
		total += c.Seconds
	}
	least := max(leastRampS, rampShare*total)
	var best Climb
	for i := range counts {
		var s, n, sq float64
		for j := i; j < len(counts); j++ {
			c := counts[j]
			if c.Seconds <= 0 {
				continue
			}
			s += c.Seconds
			n += c.Completed
			sq += c.Completed * c.Completed / c.Seconds
			k := float64(j - i + 1)
			if s < least-1e-9 || k < leastRampN || n <= 0 {
				continue
			}
			// Σ (n_i − s_i·n/s)²/s_i over the mean rate, per degree of freedom.
			phi := max(rampFloor, (sq-n*n/s)/(k-1)/(n/s))
			if bound := (n - rampSigma*math.Sqrt(phi*n)) / s; bound > best.AtLeast {
				best = Climb{AtLeast: bound, Rate: n / s, Seconds: s}
			}
		}
	}
	return best, best.AtLeast > 0
}

// pairs adds up neighbours.
func pairs(counts []Count) []Count {
	out := make([]Count, 0, len(counts)/2+1)
	for i := 0; i < len(counts); i += 2 {
		c := counts[i]
		if i+1 < len(counts) {
			c.Seconds += counts[i+1].Seconds
			c.Completed += counts[i+1].Completed
		}
		out = append(out, c)
	}
	return out
}
