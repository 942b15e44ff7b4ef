package batch

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

func appendSeries(dst []byte, series []sample.Series) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(series)))
	prev := &sample.Series{}
	for i := range series {
		s := &series[i]
		w := changes{dst: dst}
		w.str(seriesSource, s.Source, prev.Source)
		w.str(seriesService, s.Service, prev.Service)
		w.str(seriesScope, s.Scope, prev.Scope)
		w.str(seriesName, s.Name, prev.Name)
		w.str(seriesAttributes, s.Attributes, prev.Attributes)
		w.str(seriesUnit, s.Unit, prev.Unit)
		w.num(seriesKind, uint64(s.Kind), uint64(prev.Kind))
		dst, prev = w.end(), s
	}
	return dst
}

func (r *reader) series(series []sample.Series) []sample.Series {
	n := r.count(2, "series")
	series = reuse(series, n)
	prev := &sample.Series{}
	for i := range series {
		s := &series[i]
		mask := r.uint16()
		if mask >= seriesEnd {
			r.fail("unknown fields %#x of a series", mask)
		}
		r.str(mask&seriesSource, &s.Source, prev.Source)
		r.str(mask&seriesService, &s.Service, prev.Service)
		r.str(mask&seriesScope, &s.Scope, prev.Scope)
		r.str(mask&seriesName, &s.Name, prev.Name)
		r.str(mask&seriesAttributes, &s.Attributes, prev.Attributes)
		r.str(mask&seriesUnit, &s.Unit, prev.Unit)
		kind := r.num(mask&seriesKind, uint64(prev.Kind))
		if kind > uint64(sample.DeltaHisto) {
			r.fail("unknown kind %d of a series", kind)
		}
		s.Kind = sample.Kind(kind)
		prev = s
	}
	return series
}

// appendPoints appends, of each point, its series and times against the point
// before, its value, and its distribution when it has one.
func appendPoints(dst []byte, points []sample.Point) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(points)))
	prev := &sample.Point{}
	var bounds []float64
	for i := range points {
		p := &points[i]
		head := zigzag(int64(p.Series)-int64(prev.Series)) << 1
		if p.Histogram != nil {
			head |= 1
		}
		dst = binary.AppendUvarint(dst, head)
		dst = binary.AppendUvarint(dst, zigzag(p.Start-prev.Start))
		dst = binary.AppendUvarint(dst, zigzag(p.Time-prev.Time))
		dst = binary.AppendUvarint(dst, floatBits(p.Value))
		if h := p.Histogram; h != nil {
			dst = appendDistribution(dst, h, bounds)
			bounds = h.Bounds
		}
		prev = p
	}
	return dst
}

// points reads what appendPoints wrote. A point takes at least four bytes.
func (r *reader) points(points []sample.Point, series int) []sample.Point {
	n := r.count(4, "points")
	clear(points)
	points = sized(points, n)
	prev := &sample.Point{}
	var bounds []float64
	for i := range points {
		head := r.uvarint()
		p := &points[i]
		*p = sample.Point{
			Series: uint32(int64(prev.Series) + unzigzag(head>>1)),
			Start:  prev.Start + unzigzag(r.uvarint()),
			Time:   prev.Time + unzigzag(r.uvarint()),
			Value:  bitsFloat(r.uvarint()),
		}
		if r.err == nil && uint64(p.Series) >= uint64(series) {
			r.fail("a point of series %d where there are %d", p.Series, series)
		}
		if head&1 != 0 && r.err == nil {
			p.Histogram = r.distribution(bounds)
			bounds = p.Histogram.Bounds
		}
		if r.err != nil {
			return points
		}
		prev = p
	}
	return points
}

// unsent is the NaN that stands for a minimum or maximum that was not sent.
// Any other NaN is written out, so that nothing is changed.
const unsent = 0x7ff8000000000001 // the bits of math.NaN()

func appendDistribution(dst []byte, h *sample.Distribution, bounds []float64) []byte {
	var mask byte
	at := len(dst)
	dst = append(dst, 0)
	dst = binary.AppendUvarint(dst, h.Count)
	if math.Float64bits(h.Min) != unsent {
		mask |= distMin
		dst = binary.AppendUvarint(dst, floatBits(h.Min))
	}
	if math.Float64bits(h.Max) != unsent {
		mask |= distMax
		dst = binary.AppendUvarint(dst, floatBits(h.Max))
	}
	if h.Exponential {
		mask |= distExponential
	}
	if h.Scale != 0 || h.Offset != 0 || h.Zero != 0 {
		mask |= distScale
		dst = binary.AppendUvarint(dst, zigzag(int64(h.Scale)))
		dst = binary.AppendUvarint(dst, zigzag(int64(h.Offset)))
		dst = binary.AppendUvarint(dst, h.Zero)
	}
	switch {
	case len(h.Bounds) == 0:
	case slices.EqualFunc(h.Bounds, bounds, sameBits):
		mask |= distSameBounds
	default:
		mask |= distBounds
		dst = binary.AppendUvarint(dst, uint64(len(h.Bounds)))
		for _, v := range h.Bounds {
			dst = binary.AppendUvarint(dst, floatBits(v))
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(h.Buckets)))
	dst = appendUvarints(dst, h.Buckets)
	dst[at] = mask
	return dst
}

func sameBits(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

// distribution reads what appendDistribution wrote. Equal bounds share memory.
func (r *reader) distribution(bounds []float64) *sample.Distribution {
	h := &sample.Distribution{}
	mask := r.byte()
	if mask >= distEnd {
		r.fail("unknown fields %#x of a distribution", mask)
	}
	h.Count = r.uvarint()
	h.Min, h.Max = math.Float64frombits(unsent), math.Float64frombits(unsent)
	if mask&distMin != 0 {
		h.Min = bitsFloat(r.uvarint())
	}
	if mask&distMax != 0 {
		h.Max = bitsFloat(r.uvarint())
	}
	h.Exponential = mask&distExponential != 0
	if mask&distScale != 0 {
		h.Scale = r.int32()
		h.Offset = r.int32()
		h.Zero = r.uvarint()
	}
	switch {
	case mask&distSameBounds != 0:
		h.Bounds = bounds
	case mask&distBounds != 0:
		if n := r.count(1, "bounds"); n > 0 {
			h.Bounds = make([]float64, n)
		}
		for i := range h.Bounds {
			h.Bounds[i] = bitsFloat(r.uvarint())
		}
	}
	if n := r.count(1, "buckets"); n > 0 {
		h.Buckets = make([]uint64, n)
		r.uvarints(h.Buckets)
	}
	return h
}

func (r *reader) int32() int32 {
	v := unzigzag(r.uvarint())
	if v != int64(int32(v)) {
		r.fail("%d does not fit 32 bits", v)
	}
	return int32(v)
}
