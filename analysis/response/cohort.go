package response

import "math"

// Cohort is the set of requests behind a percentile: those due in a stretch of
// time and not shed, measured to their end even after it.
type Cohort struct {
	Exact    *Histogram // answered, and errors at their own time
	Censored *Histogram // time-outs, cancellations, still open: the time they had waited
	Never    uint64     // due and never sent: longer than any
}

// NewCohort returns an empty cohort whose histograms have the given digits.
func NewCohort(digits int) *Cohort {
	return &Cohort{Exact: New(digits), Censored: New(digits)}
}

// Estimate is a quantile in seconds with the interval that the data support.
type Estimate struct {
	// Value is nil when the sample is too small (Need is set) or when the rank
	// lies among requests whose end was not seen (Censored is set).
	Value *float64
	// Lo and Hi bound the true quantile with Confidence; a nil Hi beside a Lo
	// stands for "no upper bound". Both are nil when the sample is too small,
	// unless the rank is censored, where Lo stays: "longer than Lo".
	Lo, Hi     *float64
	Confidence float64 // never above what was asked for; 0 without an interval
	Need       int64   // requests that an interval would take, when n is below it; else 0
	Censored   bool
}

// same is how far two times may differ and still be one number.
const same = 1e-3

// N returns the number of requests in the cohort.
func (c *Cohort) N() uint64 { return c.Exact.count + c.Censored.count + c.Never }

// Merge adds all requests of o.
func (c *Cohort) Merge(o *Cohort) {
	c.Exact.Merge(o.Exact)
	c.Censored.Merge(o.Censored)
	c.Never += o.Never
}

// Clone returns a copy that shares nothing with c.
func (c *Cohort) Clone() *Cohort {
	return &Cohort{Exact: c.Exact.Clone(), Censored: c.Censored.Clone(), Never: c.Never}
}

// Max returns the longest time seen in ns, waits of censored requests included.
func (c *Cohort) Max() int64 { return max(c.Exact.max, c.Censored.max) }

// Mean returns the mean time in seconds. It is false when the cohort is empty or
// holds a request whose end was not seen: the mean of the others would be a
// number made of survivors.
func (c *Cohort) Mean() (float64, bool) {
	if c.Exact.count == 0 || c.N() != c.Exact.count {
		return 0, false
	}
	return c.Exact.Mean(), true
}

// Size returns the memory that the cohort takes, in bytes.
func (c *Cohort) Size() int { return c.Exact.Size() + c.Censored.Size() + 24 }

// Quantile estimates quantile q, 0 < q < 1, by nearest rank ⌈q·n⌉, with the
// two-sided interval of order statistics at the given confidence. Every
// censored time is once taken at the time waited and once as endless; the value
// stands only if both give the same number (within 0.1 % or 1 µs). Outside its
// domain, and for an empty cohort, the estimate has no value.
func (c *Cohort) Quantile(q, confidence float64) Estimate {
	if !(q > 0 && q < 1 && confidence > 0 && confidence < 1) {
		return Estimate{}
	}
	var e Estimate
	n, tail := c.N(), (1-confidence)/2
	if least := need(q, tail); n < uint64(least) {
		e.Need = least
	}
	if n == 0 {
		return e
	}
	r := nearestRank(q, n)
	early, early1 := c.earliest(r)
	late, late1 := c.latest(r)
	if one := early1 && late1 && late-early <= max(unit, int64(same*float64(early))); !one {
		e.Censored = true
	}
	if e.Need > 0 && !e.Censored {
		return e
	}
	c.bound(&e, early, ranksOf{n, q, tail})
	if e.Need == 0 {
		e.Confidence = confidence
	}
	return e
}

// ranksOf are the arguments of ranks.
type ranksOf struct {
	n       uint64
	q, tail float64
}

// bound sets the ends of the interval, and the value where it stands. Times of
// one bucket differ by less than its width, so the ends are kept in order.
func (c *Cohort) bound(e *Estimate, value int64, at ranksOf) {
	l, u := ranks(at.n, at.q, at.tail)
	lo, known := c.earliest(l)
	if !known {
		lo = c.Max() // the rank is among those never sent: longer than any
	}
	hi, bounded := c.latest(u)
	if !e.Censored {
		lo, hi = min(lo, value), max(hi, value)
		e.Value = seconds(value)
	}
	if l > 0 {
		e.Lo = seconds(lo)
	}
	if e.Need == 0 && bounded {
		e.Hi = seconds(max(lo, hi))
	}
}

// AtLeast returns the time in seconds that quantile q exceeds with one-sided
// confidence, however small the sample: what a quantile that is null can still
// prove about a missed objective. False when the sample supports none.
func (c *Cohort) AtLeast(q, confidence float64) (float64, bool) {
	if !(q > 0 && q < 1 && confidence > 0 && confidence < 1) || c.N() == 0 {
		return 0, false
	}
	l, _ := ranks(c.N(), q, 1-confidence)
	if l == 0 {
		return 0, false
	}
	if v, ok := c.earliest(l); ok {
		return *seconds(v), true
	}
	return *seconds(c.Max()), true
}

// earliest is the time at rank r with censored times taken at what they waited;
// false among those never sent.
func (c *Cohort) earliest(r uint64) (int64, bool) {
	if n := c.Exact.count + c.Censored.count; r > n || n == 0 {
		return 0, false
	}
	exact, censored := c.Exact, c.Censored
	switch {
	case exact.layout > censored.layout:
		exact = exact.Clone()
		exact.coarsen(censored.layout)
	case censored.layout > exact.layout:
		censored = censored.Clone()
		censored.coarsen(exact.layout)
	}
	return valueAtRank(r, exact, censored), true
}

// latest is the time at rank r with censored times taken as endless; false when
// it is endless.
func (c *Cohort) latest(r uint64) (int64, bool) {
	if r > c.Exact.count || c.Exact.count == 0 {
		return 0, false
	}
	return valueAtRank(r, c.Exact), true
}

// nearestRank is ⌈q·n⌉, robust against q·n a hair above a whole number.
func nearestRank(q float64, n uint64) uint64 {
	x := q * float64(n)
	r := math.Ceil(x - 1e-9*max(1, x*1e-3))
	return min(max(uint64(r), 1), n)
}

func seconds(ns int64) *float64 {
	s := float64(ns) / 1e9
	return &s
}
