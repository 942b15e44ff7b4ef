package metastability

import "math"

// StepRate is what is needed of a step to find a push and its return.
type StepRate struct {
	PerS float64 // offered rate
	SD   float64 // how far a count may have missed it, one standard deviation; 0: it is nominal
	Fine bool    // judged stable: it carried its load
	Past bool    // judged unstable, lossy or shedding
}

// sameRate and sameSig are how far two rates may differ and still be the same: a
// share, and standard deviations of their counts.
const sameRate, sameSig = 1.02, 3.0

// LeastReturn is the least share of a rate that was carried, or else of the push,
// that a return offers. What comes after the end of a load, a straggler or a health
// check, is none.
const LeastReturn = 0.05

// most is the highest rate that may be the same as that of s, compared with o.
func (s StepRate) most(o StepRate) float64 {
	return s.PerS*sameRate + sameSig*math.Hypot(s.SD, o.SD)
}

// Find recognises a push and its return in the steps of a run, in order of time:
// a rate past capacity, then a lower one at or below an earlier fine rate. Where
// nothing before the push was fine, any rate a tenth below every earlier one that
// was past capacity will do. It returns the first step of the push (the steps past
// capacity that follow on each other up to the return) and the step of the
// return: the first such pair.
func Find(steps []StepRate) (push, back int, ok bool) {
	for back = 1; back < len(steps); back++ {
		push = back
		for push > 0 && steps[push-1].Past && !steps[push-1].Fine && steps[push-1].PerS > steps[back].most(steps[push-1]) {
			push--
		}
		if push < back && below(steps[:push], steps[push:back], steps[back]) {
			return push, back, true
		}
	}
	return 0, 0, false
}

// below reports whether a rate is one that should be carried.
func below(before, pushed []StepRate, back StepRate) bool {
	fine := false
	for _, s := range before {
		if !s.Fine {
			continue
		}
		if back.PerS <= s.most(back) && back.PerS >= LeastReturn*s.PerS {
			return true
		}
		fine = true
	}
	if fine {
		return false
	}
	for _, s := range pushed {
		if back.PerS > 0.9*s.PerS || back.PerS < LeastReturn*s.PerS {
			return false
		}
	}
	return true
}
