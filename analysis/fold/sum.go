package fold

import (
	"math"
	"math/bits"
)

// Sum adds non-negative nanoseconds exactly: 128 bits hold every sum of times
// that a run can produce, in any order of adding.
type Sum struct{ hi, lo uint64 }

// Add adds ns, which must not be negative.
func (s *Sum) Add(ns int64) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, uint64(ns), 0)
	s.hi += carry
}

// AddProduct adds n times ns; neither may be negative.
func (s *Sum) AddProduct(n, ns int64) {
	hi, lo := bits.Mul64(uint64(n), uint64(ns))
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, lo, 0)
	s.hi += hi + carry
}

// merge adds another sum.
func (s *Sum) merge(o *Sum) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, o.lo, 0)
	s.hi += o.hi + carry
}

// Nanos returns the sum in nanoseconds, at most math.MaxInt64: 292 years.
func (s *Sum) Nanos() int64 {
	if s.hi > 0 || s.lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(s.lo)
}

// Seconds returns the sum in seconds.
func (s *Sum) Seconds() float64 {
	return (float64(s.hi)*(1<<32)*(1<<32) + float64(s.lo)) / 1e9
}

// overlap returns the length of the part of [from, to) that lies in [a, b).
func overlap(from, to, a, b int64) int64 {
	return max(0, min(to, b)-max(from, a))
}
