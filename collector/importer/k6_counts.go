package importer

import (
	"math"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// k6Counts turns observations whose times are whole seconds into the metrics
// that k6 exports over OTLP, one export a second. A stamp of 12 s stands for
// something within [12 s, 13 s), so it is counted at 13 s.
type k6Counts struct {
	sink   *Sink
	series map[k6Key]*k6Series
	order  []*k6Series
	begun  int64 // first stamp, s; 0 before
	now    int64 // second that is still open
}

// k6Late is how many seconds a second stays open: samples of different VUs are
// written a little out of order.
const k6Late = 3

type k6Key struct {
	name, scenario string
	nonzero        bool
}

// k6Series is one metric of one scenario.
type k6Series struct {
	series  sample.Series
	total   float64
	seconds map[int64]*k6Second
}

// k6Second is what one second adds.
type k6Second struct {
	value   float64
	buckets map[int32]uint64
	count   uint64
	low, up float64
}

func newK6Counts(sink *Sink) *k6Counts { return &k6Counts{sink: sink, series: map[k6Key]*k6Series{}} }

// sample takes one observation.
func (c *k6Counts) sample(m k6Metric, at int64, value float64, tags *k6Tags) error {
	second := at / 1e9
	if c.begun == 0 {
		c.begun, c.now = second, second
	}
	if second > c.now {
		if err := c.flush(second - k6Late); err != nil {
			return err
		}
		c.now = second
	}
	second = max(second, c.now-k6Late+1)
	switch m {
	case k6Reqs:
		c.count("http_reqs", tags, false, second, value)
	case k6Failed:
		c.count("http_req_failed.total", tags, value != 0, second, 1)
	case k6Dropped:
		c.sink.report.drop(at, value)
		c.count("dropped_iterations", tags, false, second, value)
	case k6VUs, k6VUsMax:
		name := "vus"
		if m == k6VUsMax {
			name = "vus_max"
		}
		c.at(name, sample.Gauge, &k6Tags{}, false, second).value = value
	case k6Iteration:
		c.count("iterations", tags, false, second, 1)
		c.measure("iteration_duration", tags, second, value)
	case k6Duration:
		c.measure("http_req_duration", tags, second, value)
	}
	return nil
}

func (c *k6Counts) count(name string, tags *k6Tags, nonzero bool, second int64, value float64) {
	c.at(name, sample.Counter, tags, nonzero, second).value += value
}

// k6Scale makes buckets of 0.54 % width.
const k6Scale = 7

// measure adds a duration in milliseconds to a histogram.
func (c *k6Counts) measure(name string, tags *k6Tags, second int64, ms float64) {
	s := c.at(name, sample.DeltaHisto, tags, false, second)
	if s.count == 0 {
		s.buckets, s.low, s.up = map[int32]uint64{}, ms, ms
	}
	s.count++
	s.value += ms
	s.low, s.up = min(s.low, ms), max(s.up, ms)
	s.buckets[int32(math.Ceil(math.Log2(max(ms, 1e-3))*(1<<k6Scale)))-1]++
}

// at returns what is counted of a metric in a second.
func (c *k6Counts) at(name string, kind sample.Kind, tags *k6Tags, nonzero bool, second int64) *k6Second {
	key := k6Key{name, "", nonzero}
	if len(tags.scenario) > 0 {
		key.scenario = string(tags.scenario)
	}
	s := c.series[key]
	if s == nil && len(c.order) >= 10*k6Scenarios {
		key.scenario = k6Rest
		s = c.series[key]
	}
	if s == nil {
		s = &k6Series{seconds: map[int64]*k6Second{}}
		s.series = sample.Series{Service: "k6", Scope: "k6/seconds", Name: name, Kind: kind}
		if kind == sample.DeltaHisto {
			s.series.Unit = "ms"
		}
		if name == "http_req_failed.total" {
			s.series.Attributes = "condition=zero"
			if nonzero {
				s.series.Attributes = "condition=nonzero"
			}
		}
		if key.scenario != "" {
			if s.series.Attributes != "" {
				s.series.Attributes += ","
			}
			s.series.Attributes += pair("scenario", key.scenario)
		}
		c.series[key], c.order = s, append(c.order, s)
	}
	n := s.seconds[second]
	if n == nil {
		n = &k6Second{}
		s.seconds[second] = n
	}
	return n
}

// flush hands on all seconds up to the given one.
func (c *k6Counts) flush(upTo int64) error {
	for _, s := range c.order {
		var due []int64
		for second := range s.seconds {
			if second <= upTo {
				due = append(due, second)
			}
		}
		slices.Sort(due)
		for _, second := range due {
			p := s.point(c.begun, second)
			delete(s.seconds, second)
			if err := c.sink.Point(&s.series, p); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *k6Series) point(begun, second int64) sample.Point {
	n := s.seconds[second]
	p := sample.Point{Start: begun * 1e9, Time: (second + 1) * 1e9, Value: n.value}
	switch s.series.Kind {
	case sample.Gauge:
		p.Start = 0
	case sample.DeltaHisto:
		p.Start = second * 1e9
		p.Histogram = n.distribution()
	default:
		s.total += n.value
		p.Value = s.total
	}
	return p
}

func (n *k6Second) distribution() *sample.Distribution {
	d := &sample.Distribution{Count: n.count, Min: n.low, Max: n.up, Exponential: true, Scale: k6Scale}
	first, last := int32(math.MaxInt32), int32(math.MinInt32)
	for i := range n.buckets {
		first, last = min(first, i), max(last, i)
	}
	d.Offset = first
	d.Buckets = make([]uint64, last-first+1)
	for i, count := range n.buckets {
		d.Buckets[i-first] = count
	}
	return d
}

// close ends the file.
func (c *k6Counts) close() error { return c.flush(math.MaxInt64) }
