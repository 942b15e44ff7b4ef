package otlp

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/convention"
)

// maxBuckets bounds the buckets of one histogram point, and maxPairs the
// attributes of one point.
const (
	maxBuckets = 4096
	maxPairs   = 1024
)

type pair struct {
	key []byte
	val value
}

// pointFields is what is read of a data point of any kind, not copied.
type pointFields struct {
	attributes
	pairs          []pair
	text           []byte
	start, time    uint64
	flags          uint64
	isInt, hasSum  bool
	number         uint64 // of a number point: bits of the value
	count, zero    uint64
	sum, low, high float64
	bounds         []float64
	buckets        []uint64
	scale, offset  int32
	tooMany        bool
	negative       bool // has counts below zero
}

func (p *pointFields) forget() {
	clear(p.pairs[:cap(p.pairs)])
	*p = pointFields{pairs: p.pairs[:0], text: p.text, bounds: p.bounds[:0], buckets: p.buckets[:0]}
}

// parse reads a point of the given kind of metric.
func (p *pointFields) parse(t *convention.Table, data int32, b []byte) error {
	*p = pointFields{
		pairs: p.pairs[:0], text: p.text, bounds: p.bounds[:0], buckets: p.buckets[:0],
		low: math.NaN(), high: math.NaN(), sum: math.NaN(),
	}
	r := reader{b: b}
	for r.next() {
		var err error
		switch data {
		case dataGauge, dataSum:
			err = p.numberField(t, &r)
		case dataHistogram:
			err = p.histogramField(t, &r)
		case dataExponential:
			err = p.exponentialField(t, &r)
		default:
			r.skip()
		}
		if err != nil {
			return err
		}
	}
	return r.err
}

func (p *pointFields) attribute(t *convention.Table, b []byte) error {
	var kv keyValue
	if err := kv.parse(b); err != nil {
		return err
	}
	var v value
	if err := kv.value(&v); err != nil {
		return err
	}
	if len(p.pairs) < maxPairs {
		p.pairs = append(p.pairs, pair{kv.key, v})
	}
	if role := t.Attribute(kv.key); role == convention.RunID || role.IsRunAlias() {
		p.set(role, &v)
	}
	return nil
}

func (p *pointFields) numberField(t *convention.Table, r *reader) error {
	switch r.num {
	case 2:
		p.start = r.fixed64()
	case 3:
		p.time = r.fixed64()
	case 4:
		p.number, p.isInt = r.fixed64(), false
	case 6:
		p.number, p.isInt = r.fixed64(), true
	case 7:
		return p.attribute(t, r.bytes())
	case 8:
		p.flags = r.varint()
	case 5:
		r.skipAs(wireLen)
	default:
		r.skip()
	}
	return nil
}

func (p *pointFields) histogramField(t *convention.Table, r *reader) error {
	switch r.num {
	case 2:
		p.start = r.fixed64()
	case 3:
		p.time = r.fixed64()
	case 4:
		p.count = r.fixed64()
	case 5:
		p.sum, p.hasSum = math.Float64frombits(r.fixed64()), true
	case 6:
		p.fixed(r, func(v uint64) { p.buckets = append(p.buckets, v) })
	case 7:
		p.fixed(r, func(v uint64) { p.bounds = append(p.bounds, math.Float64frombits(v)) })
	case 9:
		return p.attribute(t, r.bytes())
	case 10:
		p.flags = r.varint()
	case 11:
		p.low = math.Float64frombits(r.fixed64())
	case 12:
		p.high = math.Float64frombits(r.fixed64())
	case 8:
		r.skipAs(wireLen)
	default:
		r.skip()
	}
	return nil
}

// fixed reads 64-bit values that are packed or stand alone.
func (p *pointFields) fixed(r *reader, add func(uint64)) {
	if r.wire == wireI64 {
		if len(p.buckets) > maxBuckets || len(p.bounds) > maxBuckets {
			p.tooMany = true
			r.skip()
			return
		}
		add(r.fixed64())
		return
	}
	b := r.bytes()
	if len(b)%8 != 0 {
		r.fail(errTruncated)
		return
	}
	if len(b)/8+max(len(p.buckets), len(p.bounds)) > 2*maxBuckets {
		p.tooMany = true
		return
	}
	for ; len(b) > 0; b = b[8:] {
		add(binary.LittleEndian.Uint64(b))
	}
}

func (p *pointFields) exponentialField(t *convention.Table, r *reader) error {
	switch r.num {
	case 1:
		return p.attribute(t, r.bytes())
	case 2:
		p.start = r.fixed64()
	case 3:
		p.time = r.fixed64()
	case 4:
		p.count = r.fixed64()
	case 5:
		p.sum, p.hasSum = math.Float64frombits(r.fixed64()), true
	case 6:
		p.scale = zigzag(r.varint())
	case 7:
		p.zero = r.fixed64()
	case 8:
		return p.exponentialBuckets(r.bytes(), true)
	case 9:
		return p.exponentialBuckets(r.bytes(), false)
	case 10:
		p.flags = r.varint()
	case 12:
		p.low = math.Float64frombits(r.fixed64())
	case 13:
		p.high = math.Float64frombits(r.fixed64())
	case 11:
		r.skipAs(wireLen)
	case 14:
		r.skipAs(wireI64)
	default:
		r.skip()
	}
	return nil
}

func (p *pointFields) exponentialBuckets(b []byte, positive bool) error {
	r := reader{b: b}
	for r.next() {
		switch {
		case r.num == 1:
			if offset := zigzag(r.varint()); positive {
				p.offset = offset
			}
		case r.num == 2 && r.wire == wireVarint:
			p.exponentialCount(r.varint(), positive)
		case r.num == 2:
			packed := reader{b: r.bytes()}
			for packed.pos < len(packed.b) {
				p.exponentialCount(packed.uvarint(), positive)
			}
			if packed.err != nil {
				return packed.err
			}
		default:
			r.skip()
		}
	}
	return r.err
}

func (p *pointFields) exponentialCount(n uint64, positive bool) {
	switch {
	case !positive:
		p.negative = p.negative || n > 0
	case len(p.buckets) > maxBuckets:
		p.tooMany = true
	default:
		p.buckets = append(p.buckets, n)
	}
}

func zigzag(v uint64) int32 { return int32(uint32(v>>1) ^ -uint32(v&1)) }

// point checks what was parsed and returns it, without its series.
func (p *pointFields) point(data int32) (sample.Point, Reason, bool) {
	out := sample.Point{Start: int64(p.start), Time: int64(p.time)}
	switch {
	case p.time == 0:
		return out, NoTime, false
	case p.time > math.MaxInt64 || !plausible(out.Time):
		return out, BadTime, false
	case p.start == 0:
	case data == dataGauge:
		out.Start = 0 // means nothing
	case p.start > math.MaxInt64 || !plausible(out.Start):
		return out, BadTime, false
	case out.Start > out.Time:
		return out, ClockStep, false
	}
	if data == dataGauge || data == dataSum {
		out.Value = math.Float64frombits(p.number)
		if p.isInt {
			out.Value = float64(int64(p.number))
		}
		if !finite(out.Value) {
			return out, NotFinite, false
		}
		return out, 0, true
	}
	if reason, ok := p.checkBuckets(data); !ok {
		return out, reason, false
	}
	if !finite(p.low) {
		p.low = math.NaN()
	}
	if !finite(p.high) {
		p.high = math.NaN()
	}
	out.Value = p.sum
	out.Histogram = &sample.Distribution{
		Count: p.count, Min: p.low, Max: p.high,
		Bounds: append([]float64(nil), p.bounds...), Buckets: append([]uint64(nil), p.buckets...),
		Exponential: data == dataExponential, Scale: p.scale, Offset: p.offset, Zero: p.zero,
	}
	return out, 0, true
}

// mostPeriod bounds how long before its export a period of Artillery may end.
const mostPeriod = int64(time.Minute)

// period sets the times of a point to the period that it is about. Artillery
// says that in attributes, in milliseconds, and stamps the point with its export,
// seconds later.
func (p *pointFields) period(out *sample.Point) {
	var from, to int64
	for i := range p.pairs {
		switch string(p.pairs[i].key) {
		case "startTime":
			from, _ = p.pairs[i].val.int()
		case "endTime":
			to, _ = p.pairs[i].val.int()
		}
	}
	if from < minTime/1e6 || to >= maxTime/1e6 || from > to {
		return
	}
	from, to = from*1e6, (to+1)*1e6
	if to > out.Time+1e9 || to < out.Time-mostPeriod {
		return
	}
	out.Time = to
	if out.Start != 0 {
		out.Start = from
	}
}

// checkBuckets checks the distribution that was parsed. A sum that was not sent
// stays NaN.
func (p *pointFields) checkBuckets(data int32) (Reason, bool) {
	switch {
	case p.hasSum && !finite(p.sum):
		return NotFinite, false
	case p.tooMany || p.negative || len(p.buckets) > maxBuckets || len(p.bounds) > maxBuckets:
		return BadHistogram, false
	}
	if data == dataExponential {
		last := int64(p.offset) + int64(len(p.buckets))
		return BadHistogram, p.scale >= -10 && p.scale <= 20 && last <= math.MaxInt32
	}
	if len(p.buckets) != len(p.bounds)+1 && (len(p.buckets) > 0 || len(p.bounds) > 0) {
		return BadHistogram, false
	}
	for i, b := range p.bounds {
		if !finite(b) || i > 0 && b <= p.bounds[i-1] {
			return BadHistogram, false
		}
	}
	return 0, true
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }
