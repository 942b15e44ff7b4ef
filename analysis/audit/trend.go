package audit

import "math"

// Trend is a straight line through equally spaced values.
type Trend struct {
	Slope  float64 // per value
	SE     float64 // its standard error, widened for residuals that hang together
	T      float64 // Slope/SE
	Change float64 // Slope times the number of steps between the first and the last
	N      int
}

// Line fits y by least squares. The standard error is multiplied by
// √((1 + r)/(1 − r)), r the lag-1 autocorrelation of the residuals, where that
// is positive (an AR(1) correction of the number of values; Bartlett 1935), after
// (2 + 4r)/n was added for the bias of a short series (Marriott and Pope 1954).
// It reports false below eight values.
func Line(y []float64) (Trend, bool) {
	n := float64(len(y))
	if len(y) < 8 {
		return Trend{}, false
	}
	var mean float64
	for _, v := range y {
		mean += v / n
	}
	middle := (n - 1) / 2
	var xx, xy float64
	for i, v := range y {
		x := float64(i) - middle
		xx += x * x
		xy += x * (v - mean)
	}
	t := Trend{Slope: xy / xx, N: len(y)}
	var rest, lag, last float64
	for i, v := range y {
		e := v - mean - t.Slope*(float64(i)-middle)
		rest += e * e
		if i > 0 {
			lag += e * last
		}
		last = e
	}
	t.SE = math.Sqrt(rest / (n - 2) / xx)
	if rest > 0 {
		if r := min(lag/rest+(2+4*lag/rest)/n, 0.9); r > 0 {
			t.SE *= math.Sqrt((1 + r) / (1 - r))
		}
	}
	t.Change = t.Slope * (n - 1)
	switch {
	case t.SE > 0:
		t.T = t.Slope / t.SE
	case t.Slope != 0:
		t.T = math.Copysign(math.Inf(1), t.Slope)
	}
	return t, true
}
