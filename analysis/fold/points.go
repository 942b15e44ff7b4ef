package fold

import (
	"cmp"
	"maps"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Bounds of the points that are kept of a run's telemetry. Both are there for
// memory: what fits is kept as it came.
const (
	mostPoints = 100_000
	mostSeries = 1_000
)

// pointWidths are the widths, in ns, of the stretches of which one point is kept
// when all would be too many.
var pointWidths = [...]int64{1, 1e9, 10e9, 60e9, 600e9, 3600e9}

// points keeps the points of metrics that mean something. Merging is union by
// time, and on equal times the larger value wins. Past the budget the newest
// point of each stretch is kept: a thinner sample of a level, and exact
// differences of a counter over longer times. Increments cannot be thinned: they
// are kept as they are, or not at all. Series are bounded by keeping the first
// ones by name. What is kept does not depend on order, partition or repetition.
type points struct {
	tracks map[sample.Series]*track
	kept   int // points
	level  int // index of the width
	limit  *sample.Series
	cut    bool // series or increments were left out
	deltas int  // increments among the points; -1 once they were given up
}

// track is one series.
type track struct {
	meaning
	lives map[int64]map[int64]mark // by start and stretch
}

// mark is a point: the value of a level or a sum, the sum and count of a
// distribution.
type mark struct {
	at           int64
	value, count float64
}

// add takes the points of a batch within the span, of the series for which wanted
// has a meaning.
func (p *points) add(b *sample.Batch, span sample.Span, wanted func(s *sample.Series) (meaning, bool)) {
	tracks := make([]*track, len(b.Series))
	for i := range b.Series {
		if m, ok := wanted(&b.Series[i]); ok {
			tracks[i] = p.track(&b.Series[i], m)
		}
	}
	for i := range b.Points {
		at := &b.Points[i]
		if t := tracks[at.Series]; t == nil || at.Time < span.From || at.Time > span.To {
			continue
		}
		p.point(&b.Series[at.Series], at)
	}
}

// track returns the track of a series, making it when it is new and there is room.
func (p *points) track(s *sample.Series, m meaning) *track {
	if t := p.tracks[*s]; t != nil {
		return t
	}
	if p.limit != nil && bySeries(*s, *p.limit) >= 0 || isDelta(s.Kind) && p.deltas < 0 {
		p.cut = true
		return nil
	}
	if p.tracks == nil {
		p.tracks = map[sample.Series]*track{}
	}
	t := &track{meaning: m, lives: map[int64]map[int64]mark{}}
	p.tracks[*s] = t
	if len(p.tracks) > mostSeries {
		last := slices.MaxFunc(slices.Collect(maps.Keys(p.tracks)), bySeries)
		p.drop(last)
		p.limit, p.cut = &last, true
		if last == *s {
			return nil
		}
	}
	return t
}

// drop takes a series out.
func (p *points) drop(s sample.Series) {
	for _, life := range p.tracks[s].lives {
		p.kept -= len(life)
		if isDelta(s.Kind) {
			p.deltas -= len(life)
		}
	}
	delete(p.tracks, s)
}

func (p *points) point(s *sample.Series, at *sample.Point) {
	t := p.tracks[*s]
	if t == nil {
		return // it was dropped while the batch was read
	}
	m := mark{at: at.Time, value: at.Value}
	if at.Histogram != nil {
		m.count = float64(at.Histogram.Count)
	}
	start, width := at.Start, pointWidths[p.level]
	switch {
	case isDelta(s.Kind):
		width = 1
	case s.Kind == sample.Gauge || s.Kind == sample.UpDown:
		start = 0 // a level has no life
	}
	life := t.lives[start]
	if life == nil {
		life = map[int64]mark{}
		t.lives[start] = life
	}
	before := len(life)
	merge(life, m, width)
	if len(life) == before {
		return
	}
	p.kept++
	if isDelta(s.Kind) {
		p.deltas++
	}
	p.fit()
}

// merge puts a mark into its stretch, where the newer one stays.
func merge(life map[int64]mark, m mark, width int64) {
	at := m.at / width
	if old, ok := life[at]; !ok || m.at > old.at || m.at == old.at && (m.count > old.count || m.count == old.count && m.value > old.value) {
		life[at] = m
	}
}

// fit widens the stretches until the points are few enough, and gives up the
// increments when they are too many. The two have a budget each, so that neither
// depends on which came first.
func (p *points) fit() {
	if p.deltas > mostPoints/2 {
		for s := range p.tracks {
			if isDelta(s.Kind) {
				p.drop(s)
			}
		}
		p.deltas, p.cut = -1, true
	}
	for p.kept-max(0, p.deltas) > mostPoints/2 && p.level+1 < len(pointWidths) {
		p.level++
		p.kept = max(0, p.deltas)
		for s, t := range p.tracks {
			for start, life := range t.lives {
				if !isDelta(s.Kind) {
					t.lives[start] = thinned(life, pointWidths[p.level])
					p.kept += len(t.lives[start])
				}
			}
		}
	}
}

func thinned(life map[int64]mark, width int64) map[int64]mark {
	out := make(map[int64]mark, len(life)/2)
	for _, m := range life {
		merge(out, m, width)
	}
	return out
}

// levels returns the points of a level in order of time, scaled.
func (t *track) levels() []Reading {
	var out []Reading
	for _, life := range t.lives {
		for _, m := range life {
			out = append(out, Reading{m.at, m.value * t.Scale})
		}
	}
	slices.SortFunc(out, func(a, b Reading) int { return cmp.Compare(a.At, b.At) })
	return out
}

// counter returns what a counter or a distribution counts as one reading: the
// part of its points that is picked.
func (t *track) counter(k sample.Kind, pick func(m mark) float64) *reading {
	points := map[int64]map[int64]float64{}
	for start, life := range t.lives {
		points[start] = map[int64]float64{}
		for _, m := range life {
			points[start][m.at] = pick(m)
		}
	}
	r := reading{lives: livesOf(k, points)}
	return r.finish()
}

func isDelta(k sample.Kind) bool { return k == sample.DeltaSum || k == sample.DeltaHisto }

// bySeries orders series; those of one metric stand together.
func bySeries(a, b sample.Series) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Scope, b.Scope),
		cmp.Compare(a.Attributes, b.Attributes), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Unit, b.Unit), cmp.Compare(a.Service, b.Service))
}
