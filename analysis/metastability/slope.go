package metastability

import "math"

// slope fits N over time by least squares and returns N at the end of the fit,
// its slope per second and the slope over its standard error, which allows for
// correlation (Newey and West 1987, Bartlett weights, 4·(n/100)^(2/9) lags).
func slope(spans []Span) (end, perS, z float64) {
	n := float64(len(spans))
	if n < 4 {
		return 0, 0, 0
	}
	var mt, mn float64
	at := func(s *Span) float64 { return (s.FromS + s.ToS) / 2 }
	for i := range spans {
		mt += at(&spans[i]) / n
		mn += spans[i].InFlight / n
	}
	var stt, stn float64
	for i := range spans {
		d := at(&spans[i]) - mt
		stt += d * d
		stn += d * (spans[i].InFlight - mn)
	}
	perS = stn / stt
	end = mn + perS*(spans[len(spans)-1].ToS-mt)
	moments := make([]float64, len(spans))
	for i := range spans {
		d := at(&spans[i]) - mt
		moments[i] = d * (spans[i].InFlight - mn - perS*d)
	}
	lags := int(4 * math.Pow(n/100, 2.0/9))
	var sum float64
	for lag := 0; lag <= lags && lag < len(moments); lag++ {
		var c float64
		for i := lag; i < len(moments); i++ {
			c += moments[i] * moments[i-lag]
		}
		if lag > 0 {
			c *= 2 * (1 - float64(lag)/float64(lags+1))
		}
		sum += c
	}
	se := math.Sqrt(sum*n/(n-2)) / stt
	switch {
	case perS == 0:
		return end, 0, 0
	case !(se > 1e-12*math.Abs(perS)): // a straight line
		return end, perS, math.Copysign(math.MaxFloat32, perS)
	}
	return end, perS, perS / se
}
