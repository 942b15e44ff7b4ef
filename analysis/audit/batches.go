package audit

import (
	"math"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/response"
)

// batchCount is the number of batches that a step is cut into.
const batchCount = 20

// Batches holds response times of one step in twenty batches of equal length by
// due time. The result does not depend on the order in which they are recorded.
type Batches struct {
	from, to int64
	all      [batchCount]*response.Histogram
}

// NewBatches returns empty batches over [from, to).
func NewBatches(from, to int64) *Batches {
	b := &Batches{from: from, to: to}
	for i := range b.all {
		b.all[i] = response.New(2)
	}
	return b
}

// Record counts a response time in ns of a request due at the given time.
// Requests due outside the step are left out. A censored request is recorded
// with the time that it had waited.
func (b *Batches) Record(due, ns int64) {
	if due < b.from || due >= b.to {
		return
	}
	// As floats: an offset of days times twenty overflows nothing, and rounding
	// moves only what is due within a ns of an edge.
	i := int(float64(due-b.from) / float64(b.to-b.from) * batchCount)
	b.all[min(i, batchCount-1)].Record(ns)
}

// Merge adds what another set of batches over the same stretch holds.
func (b *Batches) Merge(o *Batches) {
	for i := range b.all {
		b.all[i].Merge(o.all[i])
	}
}

// Size is the memory of the histograms in bytes.
func (b *Batches) Size() int {
	n := 0
	for _, h := range b.all {
		n += h.Size()
	}
	return n
}

// Widening says by how much an interval that assumes independent samples must
// grow.
type Widening struct {
	// Factor multiplies the half-width in ranks; at least 1.
	Factor float64
	// Variance is that of the count above the quantile over what independent
	// samples would have: Factor = √max(1, Variance)·t/z.
	Variance float64
	// Effective is the number of independent samples that carry as much.
	Effective float64
	// Lag1 is the autocorrelation of neighbouring batches.
	Lag1 float64
	// Enough is false where even the wider interval is too narrow: fewer than
	// ten independent exceedances' worth, or batches that still hang together.
	Enough bool
}

const (
	student19  = 2.093 // t with 19 degrees of freedom, two-sided 95 %
	normal     = 1.960
	leastTail  = 10
	dependent  = 0.35
	leastBatch = 15 // batches that hold requests
)

// Widen measures the batch variance of the exceedance indicator at the
// q-quantile. With n_b requests and k_b above the quantile in batch b of B,
// n = Σ n_b and p = 1 − q,
//
//	Variance = B/(B − 1) · Σ (k_b − p·n_b)² / (n·p·(1 − p)).
//
// The bucket that holds the quantile is split in every batch by the share that
// makes Σ k_b = n·p, so that times that are all alike exceed nothing by chance.
// It reports false where fewer than 15 batches hold requests.
func (b *Batches) Widen(q float64) (Widening, bool) {
	all := response.New(2)
	filled := 0.0
	for _, h := range b.all {
		if h.Count() > 0 {
			filled++
		}
		all.Merge(h)
	}
	if filled < leastBatch || !(q > 0 && q < 1) {
		return Widening{}, false
	}
	n, p := float64(all.Count()), 1-q
	share, lo := split(all, n*p)
	var sum, lag, last float64
	for i, h := range b.all {
		above, within := tail(h, lo)
		e := float64(above) + share*float64(within) - p*float64(h.Count())
		sum += e * e
		if i > 0 {
			lag += e * last
		}
		last = e
	}
	w := Widening{Variance: filled / (filled - 1) * sum / (n * p * q)}
	v := max(1, w.Variance)
	w.Factor = math.Sqrt(v)
	if w.Variance > 1 {
		w.Factor *= student19 / normal
	}
	w.Effective = n / v
	if sum > 0 {
		w.Lag1 = lag / sum
	}
	w.Enough = w.Effective*min(p, q) >= leastTail && w.Lag1 < dependent
	return w, true
}

// split finds the bucket above whose start more than count times lie, and the
// share of it that brings the count above the quantile to exactly count.
func split(all *response.Histogram, count float64) (share float64, start int64) {
	left := float64(all.Count())
	all.Buckets(func(lo, _ int64, n uint64) bool {
		start = lo
		left -= float64(n)
		if left <= count {
			share = (count - left) / float64(n)
			return false
		}
		return true
	})
	return share, start
}

// tail counts the times in buckets after the one that starts at lo, and in it.
func tail(h *response.Histogram, lo int64) (above, within uint64) {
	h.Buckets(func(from, _ int64, n uint64) bool {
		switch {
		case from == lo:
			within += n
		case from > lo:
			above += n
		}
		return true
	})
	return above, within
}

// Interval is the widened rank interval of a quantile of the cohort that the
// batches were cut from: the values at ranks
//
//	n·q ± 1.96·Factor·√(n·q·(1 − q)),
//
// censored requests taken as in response.Cohort.Quantile. It never is narrower
// than that one, whose value it keeps. An end beyond the sample is nil.
func (w Widening) Interval(c *response.Cohort, q float64) response.Estimate {
	e := c.Quantile(q, 0.95)
	if e.Need > 0 || w.Factor <= 1 {
		return e
	}
	n := float64(c.N())
	half := normal * w.Factor * math.Sqrt(n*q*(1-q))
	l, u := math.Floor(n*q-half), math.Ceil(n*q+half)+1
	if l < 1 {
		e.Lo = nil
	} else if both := c.Exact.Count() + c.Censored.Count(); l <= float64(both) && e.Lo != nil {
		all := c.Exact.Clone()
		all.Merge(c.Censored)
		lo := min(*e.Lo, float64(all.ValueAtRank(uint64(l)))/1e9)
		e.Lo = &lo
	}
	switch {
	case u > float64(c.Exact.Count()):
		e.Hi = nil
	case e.Hi != nil:
		hi := max(*e.Hi, float64(c.Exact.ValueAtRank(uint64(u)))/1e9)
		e.Hi = &hi
	}
	return e
}

// Median returns the medians of all batches in seconds, NaN where one is empty.
func (b *Batches) Median() []float64 { return b.Quantiles(0.5) }

// Quantiles returns the q-quantile of every batch in seconds, NaN where one is
// empty.
func (b *Batches) Quantiles(q float64) []float64 {
	out := make([]float64, batchCount)
	for i, h := range b.all {
		out[i] = math.NaN()
		if n := h.Count(); n > 0 {
			out[i] = float64(h.ValueAtRank(max(1, uint64(math.Ceil(q*float64(n)))))) / 1e9
		}
	}
	return out
}

// Early is the median of the first batch, in seconds, and the number behind it: what
// the system was like before a backlog could build up.
func (b *Batches) Early() (medianS float64, n uint64) {
	h := b.all[0]
	if n = h.Count(); n == 0 {
		return 0, 0
	}
	return float64(h.ValueAtRank((n+1)/2)) / 1e9, n
}

// ColdStart compares the first tenth of a step with the rest.
type ColdStart struct {
	FirstS, RestS float64 // mean of the batch medians
	Ratio         float64
	Sigma         float64 // difference over its noise
}

// Cold reports whether the first tenth was clearly slower than the rest: its
// median at least 1.2 times and 4σ above, σ from the scatter of the other
// batches' medians.
func (b *Batches) Cold() (ColdStart, bool) {
	m := b.Median()
	if slices.ContainsFunc(m, math.IsNaN) {
		return ColdStart{}, false
	}
	first := (m[0] + m[1]) / 2
	var rest moments
	for _, v := range m[2:] {
		rest.add(v)
	}
	c := ColdStart{FirstS: first, RestS: rest.mean}
	if rest.mean <= 0 {
		return c, false
	}
	c.Ratio = first / rest.mean
	// Values are read to 0.4 %: no scatter is smaller than that.
	sd := max(math.Sqrt(rest.m2/(rest.n-1)), 0.004*rest.mean)
	c.Sigma = (first - rest.mean) / (sd * math.Sqrt(0.5+1/rest.n))
	return c, c.Ratio >= 1.2 && c.Sigma >= sigmas
}

// Drift is a slow change of the median over a step, the first tenth left out.
type Drift struct {
	Trend
	MeanS  float64
	PerDay float64 // seconds per day
	Share  float64 // change over the fitted stretch in units of the mean
}

// Drifts fits a line through the batch medians. It reports true where the line
// lies 4σ off level and changes by a tenth of the mean or more. A step that is
// not steady drifts too: read it beside the verdict on stability.
func (b *Batches) Drifts() (Drift, bool) {
	m := b.Median()[2:]
	var mean moments
	for _, v := range m {
		if math.IsNaN(v) {
			return Drift{}, false
		}
		mean.add(v)
	}
	t, ok := Line(m)
	d := Drift{Trend: t, MeanS: mean.mean}
	batch := float64(b.to-b.from) / batchCount / 1e9
	if !ok || mean.mean <= 0 || batch <= 0 {
		return d, false
	}
	d.PerDay = t.Slope / batch * 86400
	d.Share = t.Change / mean.mean
	return d, math.Abs(t.T) >= sigmas && math.Abs(d.Share) >= 0.1
}
