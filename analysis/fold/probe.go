package fold

import (
	"slices"
	"sort"

	"github.com/plimsoll/plimsoll/analysis/queues"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Paired holds an independent count of requests in flight, read now and then,
// beside what the rows had in flight at the same instants: a comparison without
// the noise of sampling.
type Paired struct {
	Name    string // the metric
	Source  string // who counted
	Service string
	Mine    bool // the generator counted its requests; else a server the attempts that it has
	Pairs   []Pair
}

// Pair is one reading of a count and the rows at that instant.
type Pair struct {
	At      int64
	Counted float64
	Records int64
}

// probe counts stays at given instants.
type probe struct {
	at   []int64 // ascending
	diff []int64 // of the level at one instant against the one before
	last int     // found last
}

func newProbe(at []int64) *probe {
	slices.Sort(at)
	at = slices.Compact(at)
	return &probe{at: at, diff: make([]int64, len(at)+1)}
}

// stay counts one that is in flight over [from, to).
func (p *probe) stay(from, to int64) {
	i := p.find(from)
	if i == len(p.at) || p.at[i] >= to {
		return
	}
	p.diff[i]++
	p.diff[p.find(to)]--
}

// find returns the index of the first instant at or after t.
func (p *probe) find(t int64) int {
	if i := p.last; (i == 0 || p.at[i-1] < t) && (i == len(p.at) || p.at[i] >= t) {
		return i
	}
	p.last = sort.Search(len(p.at), func(i int) bool { return p.at[i] >= t })
	return p.last
}

// levels are the numbers in flight at the instants.
func (p *probe) levels() []int64 {
	out := make([]int64, len(p.at))
	var n int64
	for i := range out {
		n += p.diff[i]
		out[i] = n
	}
	return out
}

// probes compare the counts of in flight that were exported with the rows.
type probes struct {
	own      map[string]*probe // requests, by source
	attempts *probe
	paired   []*Paired
}

// newProbes looks for counts of in flight; nil when there are none, and where
// only a part of the run was asked for.
func (f *folder) newProbes() *probes {
	if f.state.Narrowed {
		return nil
	}
	p := &probes{own: map[string]*probe{}}
	var servers []int64
	own := map[string][]int64{}
	for _, c := range append(f.state.Telemetry.levelsInFlight(), f.state.Telemetry.startedEnded()...) {
		at := make([]int64, len(c.Pairs))
		for i := range c.Pairs {
			at[i] = c.Pairs[i].At
		}
		if c.Mine {
			own[c.Source] = append(own[c.Source], at...) // of all names that it has for the count
		} else {
			servers = append(servers, at...)
		}
		p.paired = append(p.paired, c)
	}
	if len(p.paired) == 0 {
		return nil
	}
	for source, at := range own {
		p.own[source] = newProbe(at)
	}
	if len(servers) > 0 {
		p.attempts = newProbe(servers)
	}
	return p
}

// attempt counts an attempt among those that servers may have.
func (p *probes) attempt(r *sample.Row) {
	if p != nil && p.attempts != nil {
		p.attempts.stay(r.Sent, r.Done)
	}
}

// request counts a request from its first send.
func (p *probes) request(q *request) {
	if p == nil {
		return
	}
	if own := p.own[q.g.Source]; own != nil {
		own.stay(q.sent, q.done)
	}
}

// finish returns the counts with what the rows had in flight.
func (p *probes) finish() []*Paired {
	if p == nil {
		return nil
	}
	levels := map[*probe][]int64{}
	for _, c := range p.paired {
		by := p.attempts
		if c.Mine {
			by = p.own[c.Source]
		}
		if levels[by] == nil {
			levels[by] = by.levels()
		}
		for i := range c.Pairs {
			c.Pairs[i].Records = levels[by][by.find(c.Pairs[i].At)]
		}
	}
	return p.paired
}

// levelsInFlight are the levels of requests in flight, the parts of each source
// added up at equal times. A time that only some of the parts have is left out.
func (t *Telemetry) levelsInFlight() []*Paired {
	var out []*Paired
	for _, same := range bySource(t.Of(func(m *Metric) bool {
		return m.Own == InFlight && m.Mine || m.Kind == queues.ActiveRequests && m.Form == queues.Level && !m.Mine
	})) {
		sums, parts := map[int64]float64{}, map[int64]int{}
		for _, m := range same {
			for _, r := range m.Levels {
				sums[r.At] += r.Value
				parts[r.At]++
			}
		}
		c := newPaired(same[0], same[0].Name)
		for at, n := range parts {
			if n == len(same) {
				c.Pairs = append(c.Pairs, Pair{At: at, Counted: sums[at]})
			}
		}
		out = c.appendTo(out)
	}
	return out
}

// startedEnded are the requests that servers count as begun and not as ended, at
// the exports of the ones that ended. Counters are exported microseconds apart.
func (t *Telemetry) startedEnded() []*Paired {
	var out []*Paired
	for _, same := range bySource(t.Of(func(m *Metric) bool {
		return (m.Kind == queues.Started || m.Kind == queues.Ended) && !m.Mine && m.Series.Kind == sample.Counter
	})) {
		var started, ended reading
		for _, m := range same {
			into := &started
			if m.Kind == queues.Ended {
				into = &ended
			}
			into.lives = append(into.lives, m.value.lives...)
		}
		from, to := started.finish(), ended.finish()
		if from == nil || to == nil {
			continue
		}
		c := newPaired(same[0], same[0].Pair)
		for _, at := range to.times {
			if at >= from.times[0] {
				c.Pairs = append(c.Pairs, Pair{At: at, Counted: max(0, from.at(at)-to.at(at))})
			}
		}
		out = c.appendTo(out)
	}
	return out
}

// bySource groups metrics by their name, or what they are a pair of, and by source.
func bySource(metrics []*Metric) [][]*Metric {
	type key struct{ name, source string }
	at := map[key]int{}
	var out [][]*Metric
	for _, m := range metrics {
		k := key{m.Name, m.Series.Source}
		if m.Pair != "" {
			k.name = m.Pair
		}
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], m)
	}
	return out
}

func newPaired(m *Metric, name string) *Paired {
	return &Paired{Name: name, Source: m.Series.Source, Service: m.Series.Service, Mine: m.Mine}
}

func (c *Paired) appendTo(out []*Paired) []*Paired {
	if len(c.Pairs) == 0 {
		return out
	}
	slices.SortFunc(c.Pairs, func(a, b Pair) int { return cmp3(a.At, b.At) })
	return append(out, c)
}
