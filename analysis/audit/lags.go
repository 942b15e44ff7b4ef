package audit

import "math/bits"

// lags is a histogram of times in ns: one counter for zero and sixteen for
// every octave. Its size is fixed.
type lags struct {
	zero  int64
	count [64 * 16]int64
	sum   [64 * 16]float64
	n     int64
	total float64
}

func lagBucket(ns int64) int {
	exp := bits.Len64(uint64(ns)) - 1
	if exp < 4 {
		return exp*16 + int(ns<<(4-exp))&15
	}
	return exp*16 + int(ns>>(exp-4))&15
}

func (l *lags) add(ns int64) {
	l.n++
	if ns <= 0 {
		l.zero++
		return
	}
	i := lagBucket(ns)
	l.count[i]++
	l.sum[i] += float64(ns)
	l.total += float64(ns)
}

// within is how many lags, zero ones included, are at most limit; the bucket of
// limit itself is left out, so that the count errs low.
func (l *lags) within(limit float64) int64 {
	n := l.zero
	for i := range lagBucket(max(1, int64(limit))) {
		n += l.count[i]
	}
	return n
}

// covered is Σ min(limit, lag): the time that lies within limit after an event,
// when the lags are the times from one event to the next.
func (l *lags) covered(limit float64) float64 {
	k := lagBucket(max(1, int64(limit)))
	var sum float64
	for i := range l.count {
		if i < k {
			sum += l.sum[i]
		} else {
			sum += limit * float64(l.count[i])
		}
	}
	return sum
}

// quantile is the upper end, within a sixteenth of an octave, of the lag below
// which a share q lies; 0 when empty.
func (l *lags) quantile(q float64) float64 {
	rank := int64(q * float64(l.n))
	seen := l.zero
	if seen > rank {
		return 0
	}
	for i, c := range l.count {
		if seen += c; c > 0 && seen > rank {
			return l.sum[i] / float64(c)
		}
	}
	return 0
}
