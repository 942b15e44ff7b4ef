package response

// ValueAtRank returns the r-th shortest time in ns (nearest rank, from 1). It is
// the middle of the bucket, within 0.05 % (three digits; 0.4 % with two) or half
// a µs of the exact value, and exact for the first and the last rank. Ranks
// outside 1..Count are clamped; 0 when empty. A rank among times longer than an
// hour, but for the last, gives one hour.
func (h *Histogram) ValueAtRank(r uint64) int64 { return valueAtRank(r, h) }

// CountAtOrBelow returns how many times are at most ns, to the resolution of the
// buckets: the bucket that ns falls in counts as a whole.
func (h *Histogram) CountAtOrBelow(ns int64) uint64 {
	switch {
	case h.count == 0 || ns < h.min:
		return 0
	case ns >= h.max:
		return h.count
	case ns >= limit:
		return h.count - h.over
	}
	last := h.layout.index(uint64(ns / unit))
	var n uint64
	for i, p := range h.pages {
		first := (h.base + i) << pageBits
		if first > last {
			break
		}
		if p == nil {
			continue
		}
		for j := 0; j < pageSize && first+j <= last; j++ {
			n += p[j]
		}
	}
	return n
}

// Buckets calls fn for every bucket in use, shortest first, until fn returns
// false: n times lie in lo <= t < hi, in ns. Times longer than an hour come last
// as one bucket that ends just above the longest.
func (h *Histogram) Buckets(fn func(lo, hi int64, n uint64) bool) {
	for i, p := range h.pages {
		if p == nil {
			continue
		}
		for j, n := range p {
			if n == 0 {
				continue
			}
			lo, hi := h.layout.bounds((h.base+i)<<pageBits + j)
			if !fn(lo, hi, n) {
				return
			}
		}
	}
	if h.over > 0 {
		fn(limit+1, h.max+1, h.over)
	}
}

// valueAtRank returns the r-th shortest time of all histograms together. They
// must have one layout.
func valueAtRank(r uint64, hs ...*Histogram) int64 {
	var all Histogram
	first, last := int(^uint(0)>>1), 0
	for _, h := range hs {
		if h.count == 0 {
			continue
		}
		all.extend(h.min, h.max)
		all.count += h.count
		if len(h.pages) > 0 {
			first, last = min(first, h.base), max(last, h.base+len(h.pages))
		}
	}
	switch {
	case r <= 1 || all.count == 0:
		return all.min
	case r >= all.count:
		return all.max
	}
	var seen uint64
	for n := first; n < last; n++ {
		var sum page
		var total uint64
		for _, h := range hs {
			if p := h.pageAt(n); p != nil {
				for j, c := range p {
					sum[j] += c
					total += c
				}
			}
		}
		if seen+total < r {
			seen += total
			continue
		}
		for j, c := range sum {
			if seen += c; seen >= r {
				lo, hi := hs[0].layout.bounds(n<<pageBits + j)
				return min(max(lo+(hi-lo)/2, all.min), all.max)
			}
		}
	}
	return limit
}

func (h *Histogram) pageAt(n int) *page {
	if i := n - h.base; i >= 0 && i < len(h.pages) {
		return h.pages[i]
	}
	return nil
}
