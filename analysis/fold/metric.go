package fold

import (
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/queues"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Metric is one series that means something.
type Metric struct {
	queues.Queue
	Own    Own
	Mine   bool // sent by one of the run's generators
	Series sample.Series
	Levels []Reading // of a level, in order of time, scaled

	value *reading // of a counter, or of a distribution its sum; scaled
	count *reading // of a distribution
	begin int64    // first export of these, or their start if that was watched
	born  bool     // they are known to have been 0 at a start
}

// Reading is a level at a time.
type Reading struct {
	At    int64
	Value float64
}

// read turns the points of a track into the form of its metric.
func (m *Metric) read(t *track, span sample.Span) bool {
	switch m.Form {
	case queues.Level:
		m.Levels = slices.DeleteFunc(t.levels(), func(r Reading) bool { return r.At < span.From || r.At > span.To })
		return len(m.Levels) > 0
	case queues.Spread:
		if k := m.Series.Kind; k == sample.Histogram || k == sample.DeltaHisto {
			m.count = t.counter(k, func(p mark) float64 { return p.count })
		}
	}
	m.value = t.counter(m.Series.Kind, func(p mark) float64 { return p.value * t.Scale })
	m.begins(t, span.From)
	return m.value != nil
}

// begins finds out from when on a counter is known. A start before the telemetry
// that was read is no reading: what came between is not known by time.
func (m *Metric) begins(t *track, from int64) {
	m.begin = math.MaxInt64
	for start, life := range t.lives {
		m.born = m.born || start > 0
		if start >= from {
			m.begin = min(m.begin, start)
		}
		for _, p := range life {
			m.begin = min(m.begin, p.at)
		}
	}
}

// Mean is the mean of a level over the points in [from, to), and their number.
func (m *Metric) Mean(from, to int64) (mean float64, n int) {
	i, j := m.within(from, to)
	for _, r := range m.Levels[i:j] {
		mean += r.Value
	}
	if n = j - i; n > 0 {
		mean /= float64(n)
	}
	return mean, n
}

// heldFor is for how many of its export intervals a level holds as it was last.
const heldFor = 3

// held is the last value of a level before a time, unless that is too long ago.
func (m *Metric) held(at int64) (float64, bool) {
	n := len(m.Levels)
	i, _ := m.within(at, math.MaxInt64)
	if i == 0 || n < 2 {
		return 0, false
	}
	last := m.Levels[i-1]
	interval := (m.Levels[n-1].At - m.Levels[0].At) / int64(n-1)
	return last.Value, at-last.At <= heldFor*interval
}

// within are the indices of the points of a level in [from, to).
func (m *Metric) within(from, to int64) (i, j int) {
	i = sort.Search(len(m.Levels), func(i int) bool { return m.Levels[i].At >= from })
	j = i + sort.Search(len(m.Levels)-i, func(k int) bool { return m.Levels[i+k].At >= to })
	return i, j
}

// Growth is by how much a counter, or the sum of a distribution, grew in
// (from, to]; ok is false where its exports do not cover that.
func (m *Metric) Growth(from, to int64) (v float64, ok bool) { return m.growth(m.value, from, to) }

// Count is how many values a distribution took in (from, to]; ok is false for
// other metrics and where its exports do not cover that.
func (m *Metric) Count(from, to int64) (v float64, ok bool) { return m.growth(m.count, from, to) }

func (m *Metric) growth(r *reading, from, to int64) (float64, bool) {
	if r == nil || from < m.begin || to > r.times[len(r.times)-1] {
		return 0, false
	}
	return r.at(to) - r.at(from), true
}

// Exports are the first and last export of a counter or distribution at or after
// from and at or before to.
func (m *Metric) Exports(from, to int64) (first, last int64, ok bool) {
	if m.value == nil {
		return 0, 0, false
	}
	return m.value.watched(from, to)
}

// Begins is from when on a counter or distribution is known.
func (m *Metric) Begins() int64 { return m.begin }

// unit is that of the values over time.
func (m *Metric) unit() string {
	switch {
	case m.Form == queues.Level && m.Kind == queues.Age, m.Form == queues.Spread && m.count != nil:
		return "s"
	case m.Form == queues.Level, m.Form == queues.Spread, m.Kind == queues.ActiveTime, m.Kind == queues.Wait, m.Kind == queues.Duration:
		return "1" // a sum of waits grows per second by the mean number that waits
	}
	return "1/s"
}

// over is the value of one series; weight is the number of values that it is the
// mean of, 0 where it is no such mean.
func (m *Metric) over(from, to int64) (v, weight float64, ok bool) {
	if m.Form == queues.Level {
		mean, n := m.Mean(from, to)
		return mean, 0, n > 0
	}
	v, ok = m.Growth(from, to)
	if !ok {
		return 0, 0, false
	}
	if m.count == nil {
		return v / (float64(to-from) / 1e9), 0, true
	}
	n, _ := m.Count(from, to)
	if n <= 0 {
		return 0, 0, false
	}
	return v / n, n, true
}

// Attribute is the value of an attribute of the series; "" where it has none.
func (m *Metric) Attribute(key string) string {
	for pair := range strings.SplitSeq(m.Series.Attributes, ",") {
		if k, v, ok := strings.Cut(pair, "="); ok && k == key {
			return v
		}
	}
	return ""
}

// Around are the exports that enclose [from, to] most closely; ok is false where
// some of that lies outside of them.
func (m *Metric) Around(from, to int64) (first, last int64, ok bool) {
	times := m.Times()
	i, found := slices.BinarySearch(times, from)
	if !found {
		i--
	}
	j, _ := slices.BinarySearch(times, to)
	if i < 0 || j >= len(times) {
		return 0, 0, false
	}
	return times[i], times[j], true
}

// FromStart is what a counter, or the values of a distribution, came to from its
// start until the export at or after to; ok is false where its start is not known.
func (m *Metric) FromStart(to int64) (value, count float64, last int64, ok bool) {
	times := m.Times()
	j, _ := slices.BinarySearch(times, to)
	if !m.born || j >= len(times) {
		return 0, 0, 0, false
	}
	last = times[j]
	value = m.value.at(last) - m.value.at(m.value.times[0])
	if m.count != nil {
		count = m.count.at(last) - m.count.at(m.count.times[0])
	}
	return value, count, last, true
}

// Total is by how much a counter grew in all that was kept of it, from its start
// where that is known.
func (m *Metric) Total() float64 {
	if m.value == nil {
		return 0
	}
	times := m.value.times
	return m.value.at(times[len(times)-1]) - m.value.at(times[0])
}

// Ends is the last export of a counter or distribution.
func (m *Metric) Ends() int64 {
	if m.value == nil || len(m.value.times) == 0 {
		return 0
	}
	return m.value.times[len(m.value.times)-1]
}

// Times are the exports of a counter or distribution, ascending, and its start if
// that was watched.
func (m *Metric) Times() []int64 {
	if m.value == nil {
		return nil
	}
	i, _ := slices.BinarySearch(m.value.times, m.begin)
	return m.value.times[i:]
}
