package audit

import "math"

// MeetsPerDay is the chance that a user who sends n requests in a day meets at
// least one slower than the q-quantile: 1 − qⁿ. With p95 and 20 requests that is
// 64 %. It assumes that a user's requests are independent; where slow times come
// together, as near capacity, fewer users meet more of them.
func MeetsPerDay(q, n float64) float64 {
	if q <= 0 || n <= 0 {
		return 0
	}
	return -math.Expm1(n * math.Log(min(q, 1)))
}

// Slower is how many requests a minute wait longer than the q-quantile at a rate
// per second: 60·λ·(1 − q).
func Slower(q, ratePerS float64) float64 { return 60 * max(0, ratePerS) * max(0, 1-q) }

// RequestsUntil is how many requests it takes until a user meets one slower than
// the q-quantile with the given chance: ln(1 − chance)/ln q.
func RequestsUntil(q, chance float64) float64 {
	if q <= 0 || q >= 1 || chance <= 0 || chance >= 1 {
		return math.NaN()
	}
	return math.Log1p(-chance) / math.Log(q)
}

// Typical is the quantile that a page of n requests meets as its median worst
// one: the q with qⁿ = ½. A page of 14 requests is as slow as their p95.
func Typical(n float64) float64 {
	if n <= 0 {
		return math.NaN()
	}
	return math.Pow(0.5, 1/n)
}
