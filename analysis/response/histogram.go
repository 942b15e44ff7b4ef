package response

import (
	"math/bits"
	"unsafe"
)

// Histogram counts times in ns. Its memory grows with the buckets in use: an
// empty one has no counters. Times below zero count as zero; times above one
// hour are counted apart, with their exact sum and largest value. Use New.
type Histogram struct {
	layout layout
	base   int     // number of the first page in pages
	pages  []*page // nil where nothing was counted
	count  uint64
	over   uint64 // counted above limit, in no page
	under  uint64 // counted as zero though negative
	sumHi  uint64 // sum of all times in ns, 128 bits
	sumLo  uint64
	min    int64
	max    int64
}

// New returns an empty histogram with the given number of significant digits:
// 2, or 3 for anything else.
func New(digits int) *Histogram {
	if digits == 2 {
		return &Histogram{layout: twoDigits}
	}
	return &Histogram{layout: threeDigits}
}

// Digits returns the number of significant digits, 2 or 3.
func (h *Histogram) Digits() int {
	if h.layout == twoDigits {
		return 2
	}
	return 3
}

// Record counts one time.
func (h *Histogram) Record(ns int64) { h.RecordN(ns, 1) }

// RecordN counts n equal times.
func (h *Histogram) RecordN(ns int64, n uint64) {
	if n == 0 {
		return
	}
	if ns < 0 {
		h.under += n
		ns = 0
	}
	h.extend(ns, ns)
	h.add(ns, n)
	hi, lo := bits.Mul64(uint64(ns), n)
	h.addSum(hi, lo)
}

// RecordCorrected counts ns and, where ns is longer than the interval at which
// one closed-loop worker was expected to send, also the times of the sends that
// it held up: ns − interval, ns − 2·interval and so on, down to the interval.
// This is HdrHistogram's correction for coordinated omission (grade E). Its cost
// is bounded by the number of buckets, however short the interval.
func (h *Histogram) RecordCorrected(ns, interval int64) {
	h.Record(ns)
	if interval <= 0 || ns-interval < interval {
		return
	}
	first := ns - interval
	left := first
	for left >= interval {
		stop := interval
		if left <= limit {
			lo, _ := h.layout.bounds(h.layout.index(uint64(left / unit)))
			stop = max(stop, lo)
		} else {
			stop = max(stop, limit+1)
		}
		n := (left-stop)/interval + 1
		h.add(left, uint64(n))
		// n terms from left down to last: n·(left + last)/2, always whole.
		last := left - (n-1)*interval
		hi, lo := bits.Mul64(uint64(n), uint64(left)+uint64(last))
		h.addSum(hi>>1, hi<<63|lo>>1)
		left -= n * interval
	}
	h.extend(left+interval, first)
}

// Merge adds all counts of o. Where the two differ in precision the result has
// the coarser one, so that the order of merging does not matter.
func (h *Histogram) Merge(o *Histogram) {
	if o == nil || o.count == 0 {
		return
	}
	switch {
	case o.layout < h.layout:
		h.coarsen(o.layout)
	case o.layout > h.layout:
		o = o.Clone()
		o.coarsen(h.layout)
	}
	h.extend(o.min, o.max)
	h.count += o.count
	h.over += o.over
	h.under += o.under
	h.addSum(o.sumHi, o.sumLo)
	for i, p := range o.pages {
		if p == nil {
			continue
		}
		dst := h.page(o.base + i)
		for j, n := range p {
			dst[j] += n
		}
	}
}

// Clone returns a copy that shares nothing with h.
func (h *Histogram) Clone() *Histogram {
	c := *h
	c.pages = make([]*page, len(h.pages))
	for i, p := range h.pages {
		if p != nil {
			q := *p
			c.pages[i] = &q
		}
	}
	return &c
}

// Reset empties the histogram and releases its pages.
func (h *Histogram) Reset() { *h = Histogram{layout: h.layout} }

// Count returns how many times were counted.
func (h *Histogram) Count() uint64 { return h.count }

// Over returns how many times were longer than one hour. They are in Count.
func (h *Histogram) Over() uint64 { return h.over }

// Negative returns how many times were below zero and count as zero. They are
// in Count.
func (h *Histogram) Negative() uint64 { return h.under }

// Min returns the shortest time in ns, exactly; 0 when empty.
func (h *Histogram) Min() int64 { return h.min }

// Max returns the longest time in ns, exactly; 0 when empty.
func (h *Histogram) Max() int64 { return h.max }

// Sum returns the exact sum of all times in ns as two limbs, hi·2^64 + lo.
func (h *Histogram) Sum() (hi, lo uint64) { return h.sumHi, h.sumLo }

// Total returns the sum of all times in seconds.
func (h *Histogram) Total() float64 {
	return (float64(h.sumHi)*(1<<64) + float64(h.sumLo)) / 1e9
}

// Mean returns the mean time in seconds, exact but for one rounding; 0 when
// empty.
func (h *Histogram) Mean() float64 {
	if h.count == 0 {
		return 0
	}
	return h.Total() / float64(h.count)
}

// Size returns the memory that the histogram takes, in bytes.
func (h *Histogram) Size() int {
	n := int(unsafe.Sizeof(*h)) + cap(h.pages)*int(unsafe.Sizeof((*page)(nil)))
	for _, p := range h.pages {
		if p != nil {
			n += int(unsafe.Sizeof(*p))
		}
	}
	return n
}

// add counts n times of ns >= 0 in their bucket; sum and extremes are apart.
func (h *Histogram) add(ns int64, n uint64) {
	h.count += n
	if ns > limit {
		h.over += n
		return
	}
	i := h.layout.index(uint64(ns / unit))
	if p := uint(i>>pageBits - h.base); p < uint(len(h.pages)) && h.pages[p] != nil {
		h.pages[p][i&(pageSize-1)] += n
		return
	}
	h.page(i >> pageBits)[i&(pageSize-1)] += n
}

func (h *Histogram) addSum(hi, lo uint64) {
	var carry uint64
	h.sumLo, carry = bits.Add64(h.sumLo, lo, 0)
	h.sumHi += hi + carry
}

// extend widens the extremes. It runs before the first time is counted.
func (h *Histogram) extend(lo, hi int64) {
	if h.count == 0 {
		h.min, h.max = lo, hi
		return
	}
	h.min, h.max = min(h.min, lo), max(h.max, hi)
}

// page returns page number n, making room for it at either end.
func (h *Histogram) page(n int) *page {
	switch {
	case len(h.pages) == 0:
		h.base, h.pages = n, make([]*page, 1)
	case n < h.base:
		pages := make([]*page, h.base-n+len(h.pages))
		copy(pages[h.base-n:], h.pages)
		h.base, h.pages = n, pages
	case n >= h.base+len(h.pages):
		pages := make([]*page, n-h.base+1)
		copy(pages, h.pages)
		h.pages = pages
	}
	p := &h.pages[n-h.base]
	if *p == nil {
		*p = new(page)
	}
	return *p
}

// coarsen moves the counts to a coarser layout. Every bucket of a finer layout
// lies within one bucket of a coarser one, so nothing is lost but digits.
func (h *Histogram) coarsen(l layout) {
	if l >= h.layout {
		return
	}
	c := &Histogram{layout: l}
	for i, p := range h.pages {
		if p == nil {
			continue
		}
		for j, n := range p {
			if n == 0 {
				continue
			}
			lo, _ := h.layout.bounds((h.base+i)<<pageBits + j)
			k := l.index(uint64(lo / unit))
			c.page(k >> pageBits)[k&(pageSize-1)] += n
		}
	}
	h.layout, h.base, h.pages = l, c.base, c.pages
}
