package response

import "math/bits"

const (
	unit  = int64(1000)             // ns in one unit of the counting array
	limit = int64(3600_000_000_000) // ns; longer times are counted apart

	pageBits = 6
	pageSize = 1 << pageBits
)

// page holds the counts of neighbouring buckets.
type page [pageSize]uint64

// layout is the index layout for one precision: the number of bits b that a
// bucket's position within its octave takes.
type layout uint8

const (
	twoDigits   layout = 7
	threeDigits layout = 10
)

// index returns the bucket of a time of v units.
func (l layout) index(v uint64) int {
	s := bits.Len64(v) - int(l) - 1
	if s <= 0 {
		return int(v)
	}
	return s<<l + int(v>>s)
}

// bounds returns the times lo <= t < hi, in ns, that bucket i counts.
func (l layout) bounds(i int) (lo, hi int64) {
	if i < 2<<l {
		return int64(i) * unit, int64(i+1) * unit
	}
	s := i>>l - 1
	v := int64(i - s<<l)
	return v << s * unit, (v + 1) << s * unit
}
