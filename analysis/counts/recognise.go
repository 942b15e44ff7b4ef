package counts

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Recognise reads the points of a run: for each source that a known generator
// runs on, one input for all its streams, and one for each where it has several.
// Points may come in any order, twice, and in any partition. Series that nothing
// is known about are left out.
func Recognise(batches ...*sample.Batch) []Input {
	var m Metrics
	for _, b := range batches {
		m.Add(b)
	}
	return m.Inputs()
}

// Metrics collects points; the zero value is empty.
type Metrics struct {
	series map[sample.Series]lives
	tables map[origin]*generator // by scope and service; nil for unknown ones
}

// origin is what a series says about the program that sent it.
type origin struct{ scope, service string }

// lives holds points by start and time: merging is union, and on equal times the
// larger value wins.
type lives map[int64]map[int64]sample.Point

// Add takes the points of a batch.
func (m *Metrics) Add(b *sample.Batch) {
	if m.series == nil {
		m.series, m.tables = map[sample.Series]lives{}, map[origin]*generator{}
	}
	for i := range b.Points {
		p := b.Points[i]
		s := b.Series[p.Series]
		if m.table(s) == nil {
			continue
		}
		if m.series[s] == nil {
			m.series[s] = lives{}
		}
		start := p.Start
		if s.Kind == sample.Gauge || s.Kind == sample.UpDown {
			start = 0 // a level has no life
		}
		life := m.series[s][start]
		if life == nil {
			life = map[int64]sample.Point{}
			m.series[s][start] = life
		}
		if old, ok := life[p.Time]; !ok || larger(&p, &old) {
			life[p.Time] = p
		}
	}
}

// table returns the table of the generator that sent a series. Any program may
// use the names of the project's own table.
func (m *Metrics) table(s sample.Series) *generator {
	o := origin{s.Scope, s.Service}
	g, ok := m.tables[o]
	if !ok {
		g = find(s.Scope, s.Service)
		m.tables[o] = g
	}
	if g == nil && strings.HasPrefix(s.Name, "loadtest.") {
		return loadtest()
	}
	return g
}

func larger(a, b *sample.Point) bool {
	if a.Histogram != nil && b.Histogram != nil && a.Histogram.Count != b.Histogram.Count {
		return a.Histogram.Count > b.Histogram.Count
	}
	return a.Value > b.Value
}

// Inputs returns what was collected, in order of source and stream.
func (m *Metrics) Inputs() []Input {
	type user struct {
		source, generator string
		handsOver         bool
	}
	groups := map[user][]sample.Series{}
	for s := range m.series {
		g := m.table(s)
		u := user{s.Source, g.name, g.handsOver}
		groups[u] = append(groups[u], s)
	}
	var out []Input
	for u, series := range groups {
		slices.SortFunc(series, bySeries)
		g := *known(u.generator)
		g.handsOver = u.handsOver
		out = append(out, m.source(u.source, &g, series)...)
	}
	slices.SortFunc(out, func(a, b Input) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Generator, b.Generator), cmp.Compare(a.Stream, b.Stream))
	})
	return out
}

func bySeries(a, b sample.Series) int {
	return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Attributes, b.Attributes),
		cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Unit, b.Unit), cmp.Compare(a.Service, b.Service))
}

// source builds the inputs of one source.
func (m *Metrics) source(source string, g *generator, series []sample.Series) []Input {
	var names []string
	for _, s := range series {
		names = append(names, s.Name)
	}
	prefix := g.prefix(slices.Compact(names))
	var (
		wanted  []reader
		streams []string
	)
	for _, s := range series {
		bare, ok := g.bare(s.Name, prefix)
		if !ok {
			continue
		}
		stream, has := attribute(s.Attributes, g.stream)
		if has {
			streams = append(streams, stream)
		}
		for _, n := range g.metrics[bare] {
			if n.matches(s.Attributes) {
				wanted = append(wanted, reader{s, n, stream, m.series[s]})
			}
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	times, from := exportTimes(wanted, g.handsOver)
	build := func(stream string, readers []reader) Input {
		in := newInput(g, source, stream, from, times)
		for i := range readers {
			readers[i].read(&in, times)
		}
		finish(&in, g)
		return in
	}
	out := []Input{build("", wanted)}
	slices.Sort(streams)
	if streams = slices.Compact(streams); len(streams) > 1 {
		for _, stream := range streams {
			out = append(out, build(stream, slices.DeleteFunc(slices.Clone(wanted), func(r reader) bool { return r.stream != stream })))
		}
	}
	return out
}

// sameExport is how far apart the points of one export may be stamped, and how
// close the export at the end of a run may come behind the one before: then both
// count as one.
const sameExport = int64(250e6)

// exportTimes returns the ends of export intervals and where the first begins.
// Instruments of a generator that hands samples over begin with the first ones,
// which are a period old by then.
func exportTimes(readers []reader, handsOver bool) (times []int64, from int64) {
	for i := range readers {
		for start, life := range readers[i].lives {
			if start > 0 && (from == 0 || start < from) {
				from = start
			}
			for t := range life {
				times = append(times, t)
			}
		}
	}
	slices.Sort(times)
	last := times[0]
	ends := times[:0]
	for _, t := range times {
		if len(ends) > 0 && t-last < sameExport {
			ends[len(ends)-1] = t
		} else {
			ends = append(ends, t)
		}
		last = t
	}
	if handsOver && from > 0 && from <= ends[0] {
		return ends, from - flushS*nanosPerSecond
	}
	usual := int64(1e9)
	if n := len(ends); n > 1 {
		usual = (ends[n-1] - ends[0]) / int64(n-1)
	}
	// Some stamp increments with the start of the export, not of the period.
	if from == 0 || from >= ends[0] || len(ends) > 1 && ends[0]-from < usual/2 {
		from = ends[0] - usual
	}
	return ends, from
}

func newInput(g *generator, source, stream string, from int64, times []int64) Input {
	in := Input{Generator: g.name, Source: source, Stream: stream, From: from, Loop: g.loop, Intervals: make([]Interval, len(times)), fromStart: g.handsOver}
	nan := math.NaN()
	for i, t := range times {
		in.Intervals[i] = Interval{To: t, Started: nan, ServiceS: nan, InFlight: nan, Limit: nan}
	}
	return in
}
