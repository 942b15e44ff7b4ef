package response

import "math"

// need returns the smallest number of independent times for which both ends of
// the two-sided interval of quantile q exist: max(q, 1−q)^n <= tail.
func need(q, tail float64) int64 {
	return int64(math.Ceil(math.Log(tail) / math.Log(max(q, 1-q))))
}

// ranks returns the order statistics l <= u, from 1 to n, that hold quantile q
// between them with at most tail outside on either side; 0 stands for "before
// the first" and n+1 for "after the last". With K ~ Binomial(n, q) the number of
// times below the quantile, l is the largest with P(K < l) <= tail and u the
// smallest with P(K >= u) <= tail.
func ranks(n uint64, q, tail float64) (l, u uint64) {
	// P(K < k) = 1 − P(K >= k) rises with k.
	lo, hi := uint64(0), n+1
	for lo+1 < hi {
		if k := lo + (hi-lo)/2; below(n, k, q) <= tail {
			lo = k
		} else {
			hi = k
		}
	}
	l = lo
	lo, hi = 0, n+1
	for lo+1 < hi {
		if k := lo + (hi-lo)/2; atLeast(n, k, q) <= tail {
			hi = k
		} else {
			lo = k
		}
	}
	return l, hi
}

// atLeast is P(K >= k), K ~ Binomial(n, q): the regularised incomplete beta
// function I_q(k, n−k+1).
func atLeast(n, k uint64, q float64) float64 {
	switch {
	case k == 0:
		return 1
	case k > n:
		return 0
	}
	return incompleteBeta(float64(k), float64(n-k)+1, q)
}

// below is P(K < k), computed on its own so that small tails keep their digits.
func below(n, k uint64, q float64) float64 {
	switch {
	case k == 0:
		return 0
	case k > n:
		return 1
	}
	return incompleteBeta(float64(n-k)+1, float64(k), 1-q)
}

// incompleteBeta is I_x(a, b) by Lentz's continued fraction (Numerical Recipes,
// 6.4), which converges in about √max(a, b) terms.
func incompleteBeta(a, b, x float64) float64 {
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab - la - lb + a*math.Log(x) + b*math.Log1p(-x))
	if x < (a+1)/(a+b+2) {
		return front * betaFraction(a, b, x) / a
	}
	return 1 - front*betaFraction(b, a, 1-x)/b
}

func betaFraction(a, b, x float64) float64 {
	const tiny, eps = 1e-300, 1e-15
	floor := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c := 1.0
	d := 1 / floor(1-(a+b)*x/(a+1))
	h := d
	most := 1000 + 20*int(math.Sqrt(max(a, b)))
	for i := 1; i <= most; i++ {
		m := float64(i)
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d = 1 / floor(1+even*d)
		c = floor(1 + even/c)
		h *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d = 1 / floor(1+odd*d)
		c = floor(1 + odd/c)
		step := d * c
		h *= step
		if math.Abs(step-1) < eps {
			break
		}
	}
	return h
}
