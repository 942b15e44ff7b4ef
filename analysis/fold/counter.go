package fold

import (
	"maps"
	"math"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// meter keeps the points of the metrics that say something about the run's own
// arrivals. Merging is union by time; differences are taken when read, so the
// order and the repetition of exports do not matter.
type meter struct {
	series map[sample.Series]map[int64]map[int64]float64 // start -> time -> value
	read   map[string]*reading                           // by name, once no more points come
	times  map[string]float64                            // by scope: requests that one dropped arrival stands for
}

// add takes the points of a batch whose name is wanted.
func (m *meter) add(b *sample.Batch, wanted func(name string) bool) {
	for i := range b.Points {
		p := &b.Points[i]
		s := b.Series[p.Series]
		if !wanted(s.Name) || p.Histogram != nil {
			continue
		}
		if m.series == nil {
			m.series = map[sample.Series]map[int64]map[int64]float64{}
		}
		lives := m.series[s]
		if lives == nil {
			lives = map[int64]map[int64]float64{}
			m.series[s] = lives
		}
		life := lives[p.Start]
		if life == nil {
			life = map[int64]float64{}
			lives[p.Start] = life
		}
		if v, seen := life[p.Time]; !seen || p.Value > v {
			life[p.Time] = p.Value
		}
	}
}

// forget drops the points of counts from before a time, but for the newest of
// each life, from which later differences are taken.
func (m *meter) forget(before int64) {
	for s, lives := range m.series {
		if s.Kind == sample.DeltaSum {
			continue
		}
		for start, points := range lives {
			if start == 0 || len(points) < fewPoints { // the first point is what counting began with
				continue
			}
			newest := int64(math.MinInt64)
			for t := range points {
				if t < before {
					newest = max(newest, t)
				}
			}
			maps.DeleteFunc(points, func(t int64, _ float64) bool { return t < newest })
		}
	}
	m.read = nil
}

const fewPoints = 1000

// reading is a cumulative count over time: the sum of its lives.
type reading struct {
	lives []life
	// times of exports, ascending, over all lives
	times []int64
}

// life is one stretch of a counter without a reset, as knots of time and value.
type life struct {
	time  []int64
	value []float64
}

// reading returns the named counter summed over all sources and attributes, or
// nil when no point of it was received. No points may be added afterwards.
func (m *meter) reading(name string) *reading {
	if r, ok := m.read[name]; ok {
		return r
	}
	if m.read == nil {
		m.read = map[string]*reading{}
	}
	m.read[name] = m.sum(name)
	return m.read[name]
}

func (m *meter) sum(name string) *reading {
	var r reading
	for s, lives := range m.series {
		if s.Name != name {
			continue
		}
		all := livesOf(s.Kind, lives)
		if f, ok := m.times[s.Scope]; ok && name == droppedName {
			scale(all, f)
		}
		r.lives = append(r.lives, all...)
	}
	return r.finish()
}

// livesOf turns the points of one series, by start and time, into lives.
func livesOf(k sample.Kind, points map[int64]map[int64]float64) []life {
	if isDelta(k) {
		return []life{deltaLife(points)}
	}
	var out []life
	for start, life := range points {
		out = append(out, cumulativeLives(start, life)...)
	}
	return out
}

// finish puts lives and times in order; it returns nil when there are none.
func (r *reading) finish() *reading {
	if len(r.lives) == 0 {
		return nil
	}
	slices.SortFunc(r.lives, func(a, b life) int {
		return slices.Compare(a.time, b.time)*2 + slices.Compare(a.value, b.value)
	})
	for i := range r.lives {
		r.times = append(r.times, r.lives[i].time...)
	}
	slices.Sort(r.times)
	r.times = slices.Compact(r.times)
	return r
}

// cumulativeLives cuts the points of one start time where the value falls: a
// fall without a new start time opens a new life from zero.
func cumulativeLives(start int64, points map[int64]float64) []life {
	times := sortedKeys(points)
	var out []life
	cur := life{}
	if start > 0 && start < times[0] {
		cur = life{time: []int64{start}, value: []float64{0}}
	}
	for _, t := range times {
		v := points[t]
		if n := len(cur.value); n > 0 && v < cur.value[n-1] {
			last := cur.time[n-1]
			out = append(out, cur)
			cur = life{time: []int64{last}, value: []float64{0}}
		}
		cur.time, cur.value = append(cur.time, t), append(cur.value, v)
	}
	return append(out, cur)
}

// deltaLife turns increments into one cumulative life.
func deltaLife(lives map[int64]map[int64]float64) life {
	type increment struct {
		start, time int64
		value       float64
	}
	var incs []increment
	for start, points := range lives {
		for t, v := range points {
			incs = append(incs, increment{start, t, v})
		}
	}
	slices.SortFunc(incs, func(a, b increment) int {
		if a.time != b.time {
			return int(min(max(a.time-b.time, -1), 1))
		}
		return int(min(max(a.start-b.start, -1), 1))
	})
	var l life
	var sum float64
	for _, in := range incs {
		if n := len(l.time); in.start > 0 && in.start < in.time && (n == 0 || in.start > l.time[n-1]) {
			l.time, l.value = append(l.time, in.start), append(l.value, sum)
		}
		sum += in.value
		l.time, l.value = append(l.time, in.time), append(l.value, sum)
	}
	return l
}

// at returns the count reached at time t, linear between exports: zero before
// a life that began while it was watched, else the first value seen.
func (r *reading) at(t int64) float64 {
	var sum float64
	for i := range r.lives {
		sum += r.lives[i].at(t)
	}
	return sum
}

func (l *life) at(t int64) float64 {
	i, found := slices.BinarySearch(l.time, t)
	switch {
	case found:
		return l.value[i]
	case i == 0:
		return l.value[0]
	case i == len(l.time):
		return l.value[i-1]
	}
	f := float64(t-l.time[i-1]) / float64(l.time[i]-l.time[i-1])
	return l.value[i-1] + f*(l.value[i]-l.value[i-1])
}

// count returns the whole number of events in (from, to]. Counts of adjoining
// stretches add up exactly.
func (r *reading) count(from, to int64) int64 {
	if r == nil {
		return 0
	}
	return int64(math.Round(r.at(to)) - math.Round(r.at(from)))
}

// grewAfter returns the last export to which the count grew from one at or after
// t, or t itself.
func (r *reading) grewAfter(t int64) int64 {
	if r == nil {
		return t
	}
	for i := len(r.times) - 1; i > 0 && r.times[i-1] >= t; i-- {
		if r.count(r.times[i-1], r.times[i]) > 0 {
			return r.times[i]
		}
	}
	return t
}

// watched returns the first and last export within [from, to], and whether
// there are two.
func (r *reading) watched(from, to int64) (first, last int64, ok bool) {
	i, _ := slices.BinarySearch(r.times, from)
	j, found := slices.BinarySearch(r.times, to)
	if !found {
		j--
	}
	if i >= len(r.times) || j <= i {
		return 0, 0, false
	}
	return r.times[i], r.times[j], true
}

// overlapping is the number of lives that have exports within [from, to].
func (r *reading) overlapping(from, to int64) int {
	n := 0
	for i := range r.lives {
		if t := r.lives[i].time; t[0] <= to && t[len(t)-1] >= from {
			n++
		}
	}
	return n
}

func sortedKeys(m map[int64]float64) []int64 {
	keys := make([]int64, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
