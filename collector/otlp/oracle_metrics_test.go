package otlp

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/convention"
)

// flatPoint is a point with its run and series.
type flatPoint struct {
	Run    string
	Series sample.Series
	Point  sample.Point
}

func flattenPoints(batches []*sample.Batch) []flatPoint {
	var all []flatPoint
	for _, b := range batches {
		for _, p := range b.Points {
			f := flatPoint{b.RunID, b.Series[p.Series], p}
			f.Point.Series = 0
			all = append(all, f)
		}
	}
	sortPoints(all)
	return all
}

func sortPoints(all []flatPoint) {
	text := func(f flatPoint) string { return fmt.Sprintf("%+v %+v", f, f.Point.Histogram) }
	slices.SortStableFunc(all, func(a, b flatPoint) int { return cmp.Compare(text(a), text(b)) })
}

// metricOracle reads full metrics in the most obvious way.
type metricOracle struct {
	table   *convention.Table
	points  []flatPoint
	refused int64
	run     *attributes // of the resource
	series  sample.Series
	known   bool
	gen     string
	role    convention.Role
	raw     string // name as sent
}

func (o *metricOracle) read(md pmetric.Metrics) {
	for _, rm := range md.ResourceMetrics().All() {
		var res attributes
		fill(o.table, &res, rm.Resource().Attributes())
		o.run = &res
		for _, sm := range rm.ScopeMetrics().All() {
			scope := []byte(sm.Scope().Name())
			o.gen, o.known = convention.KnownGenerator(scope, res.id.Name)
			for _, m := range sm.Metrics().All() {
				o.series = sample.Series{
					Source: safeText(string(convention.AppendSource(nil, &res.id)), 4*convention.MaxText), Service: short(string(res.id.Name)),
					Scope: short(string(scope)), Name: short(m.Name()), Unit: short(m.Unit()),
				}
				o.role, o.raw = o.table.Mapped([]byte(m.Name())), m.Name()
				if c := o.role.Canonical(); c != "" {
					o.series.Name = c
				} else {
					o.series.Name = sample.WithRole(string(o.role), o.series.Name)
				}
				o.metric(m)
			}
		}
	}
	sortPoints(o.points)
}

func safeText(s string, limit int) string {
	return string(convention.AppendSafe(nil, []byte(s), limit))
}
func short(s string) string { return safeText(s, convention.MaxText) }

func (o *metricOracle) metric(m pmetric.Metric) {
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		o.numbers(m.Gauge().DataPoints(), sample.Gauge, true)
	case pmetric.MetricTypeSum:
		kind := sample.UpDown
		if m.Sum().IsMonotonic() {
			kind = sample.Counter
		}
		if m.Sum().AggregationTemporality() == pmetric.AggregationTemporalityDelta {
			kind = sample.DeltaSum
		}
		o.numbers(m.Sum().DataPoints(), kind, known(m.Sum().AggregationTemporality()))
	case pmetric.MetricTypeHistogram:
		o.histograms(m.Histogram())
	case pmetric.MetricTypeExponentialHistogram:
		o.exponentials(m.ExponentialHistogram())
	case pmetric.MetricTypeSummary:
		o.refused += int64(m.Summary().DataPoints().Len())
	}
}

func known(t pmetric.AggregationTemporality) bool {
	return t == pmetric.AggregationTemporalityDelta || t == pmetric.AggregationTemporalityCumulative
}

func histogramKind(t pmetric.AggregationTemporality) sample.Kind {
	if t == pmetric.AggregationTemporalityDelta {
		return sample.DeltaHisto
	}
	return sample.Histogram
}

func (o *metricOracle) numbers(points pmetric.NumberDataPointSlice, kind sample.Kind, ok bool) {
	for _, p := range points.All() {
		v := p.DoubleValue()
		if p.ValueType() == pmetric.NumberDataPointValueTypeInt {
			v = float64(p.IntValue())
		}
		o.add(p.Attributes(), p.Flags(), kind, ok && finite(v), sample.Point{Start: int64(p.StartTimestamp()), Time: int64(p.Timestamp()), Value: v})
	}
}

func (o *metricOracle) histograms(h pmetric.Histogram) {
	for _, p := range h.DataPoints().All() {
		d := &sample.Distribution{
			Count: p.Count(), Min: math.NaN(), Max: math.NaN(), Bounds: p.ExplicitBounds().AsRaw(), Buckets: p.BucketCounts().AsRaw(),
		}
		if p.HasMin() && finite(p.Min()) {
			d.Min = p.Min()
		}
		if p.HasMax() && finite(p.Max()) {
			d.Max = p.Max()
		}
		ok := len(d.Buckets) == len(d.Bounds)+1 || len(d.Buckets) == 0 && len(d.Bounds) == 0
		for i, b := range d.Bounds {
			ok = ok && finite(b) && (i == 0 || b > d.Bounds[i-1])
		}
		sum := math.NaN()
		if p.HasSum() {
			sum = p.Sum()
			ok = ok && finite(sum)
		}
		ok = ok && len(d.Buckets) <= maxBuckets
		o.add(p.Attributes(), p.Flags(), histogramKind(h.AggregationTemporality()), ok && known(h.AggregationTemporality()),
			sample.Point{Start: int64(p.StartTimestamp()), Time: int64(p.Timestamp()), Value: sum, Histogram: d})
	}
}

func (o *metricOracle) exponentials(h pmetric.ExponentialHistogram) {
	for _, p := range h.DataPoints().All() {
		d := &sample.Distribution{
			Count: p.Count(), Min: math.NaN(), Max: math.NaN(), Buckets: p.Positive().BucketCounts().AsRaw(),
			Exponential: true, Scale: p.Scale(), Offset: p.Positive().Offset(), Zero: p.ZeroCount(),
		}
		if p.HasMin() && finite(p.Min()) {
			d.Min = p.Min()
		}
		if p.HasMax() && finite(p.Max()) {
			d.Max = p.Max()
		}
		ok := d.Scale >= -10 && d.Scale <= 20 && len(d.Buckets) <= maxBuckets
		ok = ok && int64(d.Offset)+int64(len(d.Buckets)) <= math.MaxInt32
		for _, n := range p.Negative().BucketCounts().AsRaw() {
			ok = ok && n == 0
		}
		sum := math.NaN()
		if p.HasSum() {
			sum = p.Sum()
			ok = ok && finite(sum)
		}
		o.add(p.Attributes(), p.Flags(), histogramKind(h.AggregationTemporality()), ok && known(h.AggregationTemporality()),
			sample.Point{Start: int64(p.StartTimestamp()), Time: int64(p.Timestamp()), Value: sum, Histogram: d})
	}
}

func (o *metricOracle) add(m pcommon.Map, flags pmetric.DataPointFlags, kind sample.Kind, ok bool, p sample.Point) {
	if flags.NoRecordedValue() {
		return
	}
	ok = ok && plausible(p.Time)
	switch {
	case kind == sample.Gauge && p.Start != 0:
		p.Start = 0
	case p.Start != 0:
		ok = ok && plausible(p.Start) && p.Start <= p.Time
	}
	if !ok {
		o.refused++
		return
	}
	from, hasFrom := m.Get("startTime")
	to, hasTo := m.Get("endTime")
	if o.gen == "artillery" && hasFrom && hasTo {
		var a, b value
		a.num, b.num = uint64(from.Int()), uint64(to.Int())
		a.kind, b.kind = valueInt, valueInt
		if from.Type() == pcommon.ValueTypeInt && to.Type() == pcommon.ValueTypeInt {
			d := pointFields{pairs: []pair{{[]byte("startTime"), a}, {[]byte("endTime"), b}}}
			d.period(&p)
		}
	}
	f := flatPoint{Series: o.series, Point: p}
	f.Series.Kind = kind
	ofRun := o.known || strings.HasPrefix(o.raw, "loadtest.") || o.run.has&generatorBits != 0 || o.role == convention.Scheduled || o.role == convention.Dropped
	var own attributes
	fill(o.table, &own, m)
	own.has &= runBits
	if !ofRun && !own.is(convention.RunID) {
		own = attributes{}
	}
	if f.Run = short(string(runOf(&own, o.run))); f.Run == "" && !ofRun {
		f.Run = sample.Telemetry
		if o.role.Canonical() != "" {
			f.Series.Name = sample.WithRole(string(o.role), short(o.raw))
		}
	}
	type kv struct {
		k string
		v pcommon.Value
	}
	var pairs []kv
	for k, v := range m.All() {
		pairs = append(pairs, kv{k, v})
	}
	slices.SortStableFunc(pairs, func(a, b kv) int { return cmp.Compare(a.k, b.k) })
	var attrs []byte
	for _, p := range pairs {
		if o.gen == "artillery" && (p.k == "startTime" || p.k == "endTime") || o.gen == "nbomber" && p.k == "operation_type" {
			continue
		}
		attrs = convention.AppendAttribute(attrs, []byte(p.k), oracleText(p.v))
	}
	f.Series.Attributes = safeText(string(attrs), 8*convention.MaxText)
	o.points = append(o.points, f)
}

func oracleText(v pcommon.Value) []byte {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return []byte(v.Str())
	case pcommon.ValueTypeBool:
		return fmt.Append(nil, v.Bool())
	case pcommon.ValueTypeInt:
		return fmt.Append(nil, v.Int())
	case pcommon.ValueTypeDouble:
		return fmt.Appendf(nil, "%v", (&value{kind: valueDouble, num: math.Float64bits(v.Double())}).textForm())
	case pcommon.ValueTypeBytes:
		return (&value{kind: valueBytes, raw: v.Bytes().AsRaw()}).appendText(nil, convention.MaxText)
	case pcommon.ValueTypeMap, pcommon.ValueTypeSlice:
		return []byte("structured")
	}
	return nil
}

func (v *value) textForm() string { return string(v.appendText(nil, 0)) }
