package response

import "math"

// Point is one point of a percentile spectrum.
type Point struct {
	Quantile float64 // 0..1
	Value    float64 // seconds
	Count    uint64  // requests up to and including Value
	Inverse  float64 // 1/(1−Quantile); 0 for the last point, where it is endless
	Censored bool    // Value is only a lower bound
}

// Spectrum returns the points at which HdrHistogram's percentile iteration
// reports: ticks per halving of the distance to 1, so that the tail is drawn as
// finely as the body. Censored requests stand at the time they waited; points
// from the first quantile that they could move are marked.
func (c *Cohort) Spectrum(ticks int) []Point {
	all := c.Exact.Clone()
	all.Merge(c.Censored)
	points := all.Spectrum(ticks)
	n := float64(c.N())
	for i := range points {
		p := &points[i]
		p.Quantile = float64(p.Count) / n
		p.Inverse = inverse(p.Quantile)
		late, ok := c.latest(p.Count)
		p.Censored = !ok || float64(late)/1e9 > p.Value*(1+4*same)+2e-6
	}
	return points
}

// Spectrum returns the percentile spectrum of one histogram. Values are the
// longest of their bucket, as HdrHistogram prints them, but never above Max.
func (h *Histogram) Spectrum(ticks int) []Point {
	if h.count == 0 || ticks <= 0 {
		return nil
	}
	var (
		points []Point
		seen   uint64
		next   float64 // percentile, 0..100, of the next point
	)
	h.Buckets(func(_, hi int64, n uint64) bool {
		seen += n
		at := 100 * float64(seen) / float64(h.count)
		for next <= at {
			points = append(points, h.point(next/100, hi, seen))
			half := math.Exp2(math.Trunc(math.Log2(100/(100-next))) + 1)
			next += 100 / (float64(ticks) * half)
			if seen == h.count {
				break // the last bucket stands once here and once as the end
			}
		}
		return true
	})
	return append(points, h.point(1, h.max+1, h.count))
}

func (h *Histogram) point(q float64, hi int64, seen uint64) Point {
	return Point{Quantile: q, Value: float64(min(hi-1, h.max)) / 1e9, Count: seen, Inverse: inverse(q)}
}

func inverse(q float64) float64 {
	if q >= 1 {
		return 0
	}
	return 1 / (1 - q)
}
