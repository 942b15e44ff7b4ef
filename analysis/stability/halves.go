package stability

import (
	"fmt"
	"math"
)

// halvesZ is the one-sided 5 % bar of the growth test.
const halvesZ = 1.645

// Halves is what a summary of one load level says when no exact record exists:
// mean in flight of both halves, offered rate, departures per second and window.
type Halves struct {
	First, Second float64 // m1, m2
	Offered       float64 // λ, per second
	Ended         float64 // X, per second
	WindowS       float64 // T
	IA, ID        float64 // dispersion of arrivals and departures; 0 stands for 1
}

// FromHalves judges a summary by growth alone, z_g against the noise of a queue
// that is exactly saturated. No stable load exceeds the bar by more than its
// 5 %. It can say unstable and never stable: not seeing growth is not the same
// as its absence.
func FromHalves(h Halves) Result {
	if h.IA <= 0 {
		h.IA = 1
	}
	if h.ID <= 0 {
		h.ID = 1
	}
	r := Result{State: Inconclusive, Evidence: Evidence{
		Offered: h.Offered, Ended: h.Ended, WindowS: h.WindowS,
		FirstHalf: h.First, SecondHalf: h.Second, Mean: (h.First + h.Second) / 2,
		GrowthZ: h.growth(),
	}}
	if r.GrowthZ > halvesZ {
		r.State = Unstable
		r.Reason = fmt.Sprintf("in flight grew from %.4g to %.4g between halves of %.3g s, %.2g times the noise of a saturated queue",
			h.First, h.Second, h.WindowS, r.GrowthZ)
		return r
	}
	// Growth of an overload is proportional to T and its noise to √T.
	more := (halvesZ + power) / max(r.GrowthZ, leastZ)
	r.NeedS = h.WindowS * max(needMore, more*more)
	r.Reason = fmt.Sprintf("in flight went from %.4g to %.4g between halves of %.3g s, within the noise of a saturated queue (z %.2g); a summary cannot show that it is stable, and about %.0f s would show growth at this pace",
		h.First, h.Second, h.WindowS, r.GrowthZ, r.NeedS)
	return r
}

// growth is z_g = (m2 − m1)/√((I_a·λ + I_d·X)·T/3): how the difference of halves
// compares with that of a queue which is exactly saturated.
func (h Halves) growth() float64 {
	v := (h.IA*h.Offered + h.ID*h.Ended) * h.WindowS / 3
	if v <= 0 {
		return 0
	}
	return (h.Second - h.First) / math.Sqrt(v)
}
