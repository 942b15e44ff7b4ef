package fold

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/queues"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// aroundRun is how much of the telemetry before and after the run is read, ns: it
// shows what servers do without the load.
const aroundRun = 60e9

// Telemetry is what servers and the generator said in numbers over the span of a
// run and a minute around it. Nil stands for nothing. It is not changed once built.
type Telemetry struct {
	Metrics []*Metric // by name, source, scope and attributes
	WidthS  float64   // of each stretch of so many seconds one point was kept; 0: all were
	Cut     bool      // series or increments did not fit and were left out: sums are too low
}

// telemetry reads what the servers said while the run lasted. What came with the
// run itself was collected by the scan.
func (f *folder) telemetry(ctx context.Context) error {
	first, last := f.first, f.last
	if first > last { // nothing says when the run was: what came with it is all there is
		f.state.Telemetry = f.points.finish(sample.Span{From: math.MinInt64, To: math.MaxInt64}, f.mine)
		return nil
	}
	span := sample.Span{From: first - aroundRun, To: last + aroundRun}
	err := f.ev.Telemetry(ctx, span, func(b *sample.Batch) error {
		f.points.add(b, span, meaningOf)
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	f.state.Telemetry = f.points.finish(span, f.mine)
	return nil
}

// mine reports whether a source is a generator of the run. Of a run without rows
// it is what sent the counts that the run is known by.
func (f *folder) mine(source string) bool {
	if s := f.sources[source]; s != nil && s.rows > 0 {
		return true
	}
	return f.counted != nil && slices.Contains(f.countedSources, source)
}

// finish puts what was kept in order. What a generator says of itself is kept of
// generators alone.
func (p *points) finish(span sample.Span, mine func(source string) bool) *Telemetry {
	t := &Telemetry{Cut: p.cut}
	if p.level > 0 {
		t.WidthS = float64(pointWidths[p.level]) / 1e9
	}
	for _, s := range slices.SortedFunc(maps.Keys(p.tracks), bySeries) {
		track := p.tracks[s]
		m := &Metric{Queue: track.Queue, Own: track.Own, Mine: mine(s.Source), Series: s}
		switch {
		case m.Own != NotOwn && !m.Mine && m.Kind == 0:
			continue
		case m.Own != NotOwn && !m.Mine:
			m.Own = NotOwn
		}
		if !m.read(track, span) {
			continue
		}
		t.Metrics = append(t.Metrics, m)
	}
	if len(t.Metrics) == 0 && !t.Cut {
		return nil
	}
	return t
}

// Of returns the metrics for which pick is true; t may be nil.
func (t *Telemetry) Of(pick func(m *Metric) bool) []*Metric {
	var out []*Metric
	if t == nil {
		return out
	}
	for _, m := range t.Metrics {
		if pick(m) {
			out = append(out, m)
		}
	}
	return out
}

// Named are the metrics of servers with a canonical name; t may be nil.
func (t *Telemetry) Named(name string) []*Metric {
	return t.Of(func(m *Metric) bool { return m.Kind != 0 && m.Name == name })
}

// Queue names what a server metric is called and what it says.
type Queue struct {
	Name string
	Kind queues.Kind
	Unit string // of the values of Value: 1, s or 1/s
}

// Queues lists the server metrics that can be shown over time, by name; t may be
// nil.
func (t *Telemetry) Queues() []Queue {
	var out []Queue
	for _, m := range t.Of(func(m *Metric) bool { return m.Kind != 0 }) {
		out = append(out, Queue{m.Name, m.Kind, m.unit()})
	}
	slices.SortFunc(out, func(a, b Queue) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(out, func(a, b Queue) bool { return a.Name == b.Name })
}

// Value is a server metric over [from, to): the mean of a level, the growth per
// second of a counter, the mean of what a distribution took. Several series of
// one name add up, or the largest counts, as the metric has it; a level that was
// exported by some hosts and not by all holds for the others as it was last. ok is
// false where nothing was exported.
func Value(metrics []*Metric, from, to int64) (v float64, ok bool) {
	var sum, n float64
	for _, m := range metrics {
		_, _, any := m.over(from, to)
		ok = ok || any
	}
	if !ok {
		return 0, false
	}
	first := true
	for _, m := range metrics {
		one, weight, any := m.over(from, to)
		if !any {
			one, any = m.held(from)
		}
		switch {
		case !any:
			continue
		case weight > 0: // a mean: by what it was taken over
			sum, n = sum+one*weight, n+weight
		case m.Merge == queues.Most && !first:
			v = max(v, one)
		default:
			v += one
		}
		first = false
	}
	if n > 0 {
		v = sum / n
	}
	return v, ok
}

// size is about the memory of the telemetry in bytes.
func (t *Telemetry) size() int {
	if t == nil {
		return 0
	}
	n := 0
	for _, m := range t.Metrics {
		n += 400 + 16*len(m.Levels)
		for _, r := range [...]*reading{m.value, m.count} {
			if r == nil {
				continue
			}
			n += 8 * len(r.times)
			for i := range r.lives {
				n += 16*len(r.lives[i].time) + 48
			}
		}
	}
	return n
}
