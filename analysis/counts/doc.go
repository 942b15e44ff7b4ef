// Package counts judges a load step from counters, gauges and histograms alone,
// as generators export them: no request is seen, only how many ended between
// two exports, how long they took together, and how many were dropped.
//
// Symbols, and the fields they stand for. Interval i lasts E seconds: D_i ended
// (Ended), S_i their durations together (ServiceS), d_i dropped (Dropped). The
// first tenth, at least one interval, is cut off. T is what is left, X = ΣD/T,
// u = √(X·T), the wandering of a queue that is exactly saturated. Then
//
//	L_i = S_i/E                          in flight by Little's law (1961)
//	N_k = gauge, or N_0 + λt − d − D     at the ends, exact where a pace is declared
//	s2  = max(1, var/mean of D_i, min(5, cv² of durations))
//	g   = (L 2nd half − 1st half)/(u·√(s2/3)), e = (N_K − N_0)/(u·√s2)
//	z   = 0.7·Z_A + 0.3·Z_P              roots of package stability, φ = 1
//	v   = sd(L_i + d so far)/u, r = range(N_k + d so far)/u
//
// At or above capacity the number in flight wanders at least like a Brownian
// path of variance X·T. What stays far calmer is below capacity; what grows
// faster is above it. Where a limit of workers drops arrivals, in flight is
// level whatever the load, and only an upper bound of capacity decides:
// C ≤ X/(1 − W0/W), W the mean duration and W0 the unloaded one, which holds for
// servers n/(1 + a(n−1)) and not where throughput falls with concurrency.
//
// It assumes one offered rate within the step. It never corrects a percentile:
// a histogram gives the bucket that holds it, and nothing about what was not
// sent.
package counts
