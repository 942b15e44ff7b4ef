package counts

import (
	"math"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Buckets is a histogram of durations as a generator sent it, explicit or
// exponential. Values are in its own unit; UnitS is that unit in seconds. It is
// not changed once made.
type Buckets struct {
	UnitS float64
	Sum   float64 // of values, in seconds
	Max   float64 // at least the largest value, in seconds; NaN when not sent

	bounds      []float64 // explicit; nil when exponential
	counts      []float64
	exponential bool
	scale       int32
	offset      int32
	zero        float64
}

// newBuckets copies a distribution whose values add up to sum, in its unit.
func newBuckets(d *sample.Distribution, sum, unitS float64) *Buckets {
	b := &Buckets{
		UnitS: unitS, Sum: sum * unitS, Max: d.Max * unitS, bounds: d.Bounds, exponential: d.Exponential,
		scale: d.Scale, offset: d.Offset, zero: float64(d.Zero), counts: make([]float64, len(d.Buckets)),
	}
	for i, n := range d.Buckets {
		b.counts[i] = float64(n)
	}
	if !b.exponential && len(b.counts) != len(b.bounds)+1 {
		b.bounds, b.counts = nil, []float64{float64(d.Count)} // a histogram without buckets
	}
	return b
}

// Count returns how many values are in the buckets.
func (b *Buckets) Count() float64 {
	if b == nil {
		return 0
	}
	n := b.zero
	for _, c := range b.counts {
		n += c
	}
	return n
}

// sum adds two histograms; either may be nil.
func sum(a, b *Buckets) *Buckets {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return combine(a, b, 1)
}

// combine returns a + sign·b. Exponential histograms meet at the coarser scale;
// explicit ones of other bounds meet where the counts of both are known.
func combine(a, b *Buckets, sign float64) *Buckets {
	out := &Buckets{UnitS: a.UnitS, Sum: a.Sum + sign*b.Sum, Max: a.Max, zero: a.zero + sign*b.zero}
	if sign > 0 {
		out.Max = max(a.Max, b.Max)
	}
	if a.exponential != b.exponential || a.UnitS != b.UnitS {
		return &Buckets{UnitS: a.UnitS, Sum: out.Sum, Max: out.Max, counts: []float64{a.Count() + sign*b.Count()}}
	}
	if !a.exponential {
		out.bounds = common(a, b)
		out.counts = make([]float64, len(out.bounds)+1)
		a.pour(out, 1)
		b.pour(out, sign)
		return out
	}
	out.exponential = true
	out.scale = min(a.scale, b.scale)
	x, y := a.coarser(out.scale), b.coarser(out.scale)
	switch {
	case len(x.counts) == 0:
		x.offset = y.offset
	case len(y.counts) == 0:
		y.offset = x.offset
	}
	out.offset = min(x.offset, y.offset)
	end := max(x.offset+int32(len(x.counts)), y.offset+int32(len(y.counts)))
	out.counts = make([]float64, end-out.offset)
	for i, n := range x.counts {
		out.counts[x.offset-out.offset+int32(i)] += n
	}
	for i, n := range y.counts {
		out.counts[y.offset-out.offset+int32(i)] += sign * n
	}
	return out
}

// coarser returns the histogram at a lower scale: neighbours in pairs.
func (b *Buckets) coarser(scale int32) *Buckets {
	shift := b.scale - scale
	if shift <= 0 || len(b.counts) == 0 {
		return &Buckets{scale: scale, offset: b.offset, counts: b.counts}
	}
	first := b.offset >> shift
	out := &Buckets{scale: scale, offset: first, counts: make([]float64, (b.offset+int32(len(b.counts))-1)>>shift-first+1)}
	for i, n := range b.counts {
		out.counts[(b.offset+int32(i))>>shift-first] += n
	}
	return out
}

// pour adds the counts to a histogram whose bounds are among its own.
func (b *Buckets) pour(out *Buckets, sign float64) {
	for i, n := range b.counts {
		j := len(out.bounds)
		if i < len(b.bounds) {
			j, _ = slices.BinarySearch(out.bounds, b.bounds[i])
		}
		out.counts[j] += sign * n
	}
}

// common returns the bounds up to which both counts are known: those that both
// have, and those within an empty bucket of the other. Histograms that leave out
// empty buckets of one layout so lose nothing.
func common(a, b *Buckets) []float64 {
	if slices.Equal(a.bounds, b.bounds) {
		return a.bounds
	}
	var out []float64
	for i, j := 0, 0; i < len(a.bounds) || j < len(b.bounds); {
		switch {
		case j == len(b.bounds) || i < len(a.bounds) && a.bounds[i] < b.bounds[j]:
			if b.counts[j] == 0 {
				out = append(out, a.bounds[i])
			}
			i++
		case i == len(a.bounds) || b.bounds[j] < a.bounds[i]:
			if a.counts[i] == 0 {
				out = append(out, b.bounds[j])
			}
			j++
		default:
			out = append(out, a.bounds[i])
			i++
			j++
		}
	}
	return out
}

// Bucket is the stretch (Lo, Hi] of seconds that holds a quantile. Hi is +Inf in
// the last bucket unless the largest value was sent.
type Bucket struct{ Lo, Hi float64 }

// Quantile returns the bucket that holds the value of nearest rank, and false
// when nothing was counted. The value is one of what ended: what was dropped is
// in no bucket.
func (b *Buckets) Quantile(q float64) (Bucket, bool) {
	n := b.Count()
	if n <= 0 {
		return Bucket{}, false
	}
	rank := min(max(math.Ceil(q*n-1e-9), 1), n)
	seen := b.zero
	if rank <= seen {
		return Bucket{0, 0}, true
	}
	for i, c := range b.counts {
		if seen += c; seen < rank || c <= 0 {
			continue
		}
		out := b.bucket(i)
		if out.Hi > b.Max && b.Max > out.Lo {
			out.Hi = b.Max
		}
		return out, true
	}
	return Bucket{}, false
}

// bucket returns the edges of bucket i, in seconds.
func (b *Buckets) bucket(i int) Bucket {
	if b.exponential {
		at := func(i int32) float64 { return math.Exp2(float64(i)*math.Exp2(-float64(b.scale))) * b.UnitS }
		return Bucket{at(b.offset + int32(i)), at(b.offset + int32(i) + 1)}
	}
	out := Bucket{0, math.Inf(1)}
	if i > 0 {
		out.Lo = b.bounds[i-1] * b.UnitS
	}
	if i < len(b.bounds) {
		out.Hi = b.bounds[i] * b.UnitS
	}
	return out
}

// cv2 is the squared coefficient of variation, values spread evenly within
// their buckets; 0 when nothing was counted. An open bucket counts at its lower
// edge, or up to the largest value where that is known.
func (b *Buckets) cv2() float64 {
	n := b.Count()
	if n <= 1 {
		return 0
	}
	var mean, square float64
	for i, c := range b.counts {
		e := b.bucket(i)
		if math.IsInf(e.Hi, 1) {
			e.Hi = e.Lo
			if b.Max > e.Lo {
				e.Hi = b.Max
			}
		}
		mean += c * (e.Lo + e.Hi) / 2
		square += c * (e.Lo*e.Lo + e.Lo*e.Hi + e.Hi*e.Hi) / 3
	}
	if mean <= 0 {
		return 0
	}
	mean /= n
	return max(0, square/n/(mean*mean)-1)
}

// Useless says why the buckets cannot tell durations apart: "" when they can.
func (b *Buckets) Useless() string {
	switch {
	case b.Count() == 0 || b.exponential:
		return ""
	case len(b.bounds) == 0:
		return "the histogram has no buckets"
	}
	for _, bound := range b.bounds {
		if bound > 0 && bound*b.UnitS >= 1 {
			return "the first bucket ends at " + text(bound*b.UnitS) + " s"
		} else if bound > 0 {
			break
		}
	}
	if over := b.counts[len(b.counts)-1]; over > b.Count()/100 {
		return text(over) + " values lie above the last bound of " + text(b.bounds[len(b.bounds)-1]*b.UnitS) + " s"
	}
	return ""
}
