package fold

import (
	"math"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/audit"
	"github.com/plimsoll/plimsoll/analysis/response"
	"github.com/plimsoll/plimsoll/analysis/stability"
)

// silence is how far a source may fall behind the newest one before it is named
// as holding the horizon back: three export intervals of the OpenTelemetry
// SDK's default batch processor.
const silence = 15e9

// horizon finds the time up to which the rows are complete. A row arrives when
// its request ends, so the newest stretch is missing whatever is still open.
func (f *folder) horizon() Horizon {
	if f.rows == 0 {
		return Horizon{}
	}
	if f.run.Finished {
		return Horizon{At: f.last}
	}
	patience := f.patience()
	d := f.run.Declaration
	h := Horizon{At: math.MaxInt64, Assumed: d == nil || d.TimeoutS == nil}
	newest := int64(math.MinInt64)
	for _, s := range f.sources {
		if s.rows > 0 {
			newest = max(newest, s.newest)
		}
	}
	for _, s := range f.sources {
		if s.rows == 0 {
			continue
		}
		if at := s.newest - patience; at < h.At || at == h.At && s.name < h.HeldBy {
			h.At, h.HeldBy = at, ""
			if newest-s.newest > silence {
				h.HeldBy = s.name
			}
		}
	}
	return h
}

// plan divides the run into steps: the declared ones, else those that were found
// in the offered rate or that rows name, else one.
func (f *folder) plan(requests int64) (steps []*Step, source string) {
	switch {
	case f.declared != nil:
		steps, source = f.declaredSteps(), "declared"
	case f.found != nil:
		steps, source = f.foundSteps(), "counted"
	case len(f.steps) > 0 && len(f.steps) <= mostNames && f.disjoint():
		steps, source = f.namedSteps(), "counted"
	default:
		steps, source = []*Step{{From: f.first, To: f.end(requests)}}, "counted"
		if rate := f.configured(); rate > 0 {
			steps[0].Rate, steps[0].ToRate, steps[0].Nominal, source = rate, rate, true, "configured"
		}
	}
	return f.clip(f.split(steps)), source
}

// split cuts steps at the marks of the run: what was true before a deploy need
// not be true after it. A mark within a second of an edge cuts nothing.
func (f *folder) split(steps []*Step) []*Step {
	marks := slices.Clone(f.run.Marks)
	slices.SortStableFunc(marks, func(a, b wire.Mark) int { return a.At.Compare(b.At) })
	var out []*Step
	for _, s := range steps {
		for _, m := range marks {
			at := m.At.UnixNano()
			if at < s.From+1e9 || at > s.To-1e9 || s.Rate != s.ToRate {
				continue
			}
			rest := *s
			rest.From, rest.Mark, rest.Warmup = at, m.Name, max(0, s.Warmup-(at-s.From))
			s.To, s.Paused = at, false
			out = append(out, s)
			s = &rest
		}
		out = append(out, s)
	}
	return out
}

// instant is the time within which requests count as due at once.
const instant = 1e6

// end is the end of the last stretch: the last arrival and one mean gap. A
// generator whose workers are all stuck goes on to drop what it does not send.
func (f *folder) end(requests int64) int64 {
	if f.lastDue-f.first < instant {
		return f.first + 1e9 // no rate can be told: the second that they came in
	}
	end := f.lastDue + 1 // where the exports of a run that is only counted end
	if f.counted == nil {
		end = f.lastDue + max(1, (f.lastDue-f.first)/max(1, requests-1))
	}
	if f.whole() {
		end = f.meter.reading(droppedName).grewAfter(end)
	}
	return end
}

// whole reports whether all of a finished run is asked for.
func (f *folder) whole() bool {
	return f.run.Finished && f.opt.From == nil && f.opt.To == nil && !f.part()
}

// part reports whether the question leaves rows out: a scenario or a source that
// is not all of the run. Counters then speak of more than is asked about.
func (f *folder) part() bool {
	for _, g := range f.groups {
		if g.left {
			return true
		}
	}
	return false
}

// dropped counts the arrivals that were dropped in a step. Exports do not end
// where rows do: the whole run, and the ends of one without a plan, have all.
func (f *folder) dropped(s *Step) int64 {
	if f.part() {
		s.Unplaced = f.meter.reading(droppedName).count(s.From, s.To)
		return 0
	}
	from, to := s.From, s.To
	if f.whole() {
		steps := f.state.Steps
		if s.Index < 0 || f.declared == nil && len(steps) > 0 && steps[0] == s {
			from = math.MinInt64
		}
		if s.Index < 0 || f.declared == nil && len(steps) > 0 && steps[len(steps)-1] == s {
			to = math.MaxInt64
		}
	}
	return f.meter.reading(droppedName).count(from, to)
}

func (f *folder) declaredSteps() []*Step {
	f.start = f.first
	if s := f.run.Declaration.Start; s != nil {
		f.start = s.UnixNano()
	}
	at := f.start
	var out []*Step
	for _, d := range f.run.Declaration.Steps {
		s := &Step{Name: d.Name, From: at, To: at + nanos(d.DurationS), Warmup: nanos(d.WarmupS), Rate: d.RatePerS, ToRate: d.RatePerS, Nominal: true}
		if d.ToRate != nil {
			s.ToRate = *d.ToRate
		}
		s.Paused = d.PauseS > 0
		at = s.To + nanos(d.PauseS)
		out = append(out, s)
	}
	return out
}

// disjoint reports whether the named steps follow one another in time.
func (f *folder) disjoint() bool {
	var all []named
	for _, n := range f.steps {
		all = append(all, *n)
	}
	slices.SortFunc(all, func(a, b named) int { return cmp3(a.first, b.first) })
	for i := 1; i < len(all); i++ {
		if all[i].first <= all[i-1].last {
			return false
		}
	}
	return true
}

func (f *folder) namedSteps() []*Step {
	var out []*Step
	for name, n := range f.steps {
		out = append(out, &Step{Name: name, From: n.first, To: n.last + 1})
	}
	slices.SortFunc(out, func(a, b *Step) int { return cmp3(a.From, b.From) })
	for i := range out[:len(out)-1] {
		out[i].To = out[i+1].From
	}
	return out
}

// configured is the sum of the rates that all streams state, or 0.
func (f *folder) configured() float64 {
	rates := map[*stream]float64{}
	for _, g := range f.groups {
		switch {
		case g.left || g.src.rows == 0:
		case g.Rate <= 0:
			return 0
		default:
			rates[g.stream] = g.Rate
		}
	}
	var all []float64
	for _, r := range rates {
		all = append(all, r)
	}
	slices.Sort(all) // a sum of floats depends on its order
	var sum float64
	for _, r := range all {
		sum += r
	}
	return sum
}

// clip cuts the steps to the question and, in a live run, to the horizon.
func (f *folder) clip(steps []*Step) []*Step {
	from, to := int64(math.MinInt64), int64(math.MaxInt64)
	if f.opt.From != nil {
		from = f.opt.From.UnixNano()
	}
	if f.opt.To != nil {
		to = f.opt.To.UnixNano()
	}
	settled := int64(math.MaxInt64)
	if !f.run.Finished {
		settled = f.state.Horizon.At
	}
	out := steps[:0]
	for i, s := range steps {
		s.Index = i
		if s.From < from {
			s.Warmup = max(0, s.Warmup-(from-s.From))
			s.From = from
		}
		s.To = min(s.To, to)
		if s.To > settled {
			s.To, s.Cut = settled, true
		}
		if s.From < s.To {
			out = append(out, s)
		}
	}
	return out
}

// prepare gives a step its accumulators.
func (f *folder) prepare(s *Step) {
	s.Grade = noGrade
	s.Dropped = f.dropped(s)
	s.Response = response.NewCohort(3)
	s.Service = response.New(3)
	s.SendDelay = response.New(3)
	s.OKFlow = response.New(3)
	s.SourceSteps = map[string]*SourceStep{}
	if warm := s.From + s.Warmup; s.Index >= 0 && warm < s.To {
		s.Rig = Rig{Batches: audit.NewBatches(warm, s.To)}
		s.Rig.Loop.Drop(max(0, s.Dropped))
	}
	s.Exact = Little{From: s.From, To: s.To}
	s.JudgedFrom = stability.Cut(s.From, s.To, s.Warmup)
	if at, ok := f.judgedFrom[s.Index]; ok {
		s.JudgedFrom = max(s.JudgedFrom, at)
	}
	s.Counted, s.Counter = nil, 0
	if r := f.meter.reading(inFlightTimeName); r != nil && !f.part() {
		if a, b, ok := r.watched(s.From, s.To); ok {
			s.Counted = &Little{From: a, To: b}
			s.Counter, s.Counters = r.at(b)-r.at(a), r.overlapping(a, b)
		}
	}
	s.Response.Never = uint64(max(0, s.Dropped))
}

// totals is the whole run as one stretch.
func (f *folder) totals(steps []*Step, requests int64) *Step {
	t := &Step{Index: -1, From: f.first, To: f.end(requests)}
	if len(steps) > 0 {
		t.From = min(t.From, steps[0].From)
		t.To = max(t.To, steps[len(steps)-1].To)
		if f.opt.From != nil || f.opt.To != nil || !f.run.Finished {
			t.From, t.To = steps[0].From, steps[len(steps)-1].To
		}
	}
	if len(steps) == 1 && steps[0].From == t.From && steps[0].To == t.To {
		t.Rate, t.ToRate, t.Warmup = steps[0].Rate, steps[0].ToRate, steps[0].Warmup
	}
	return t
}

// bounds answers which step holds an instant; steps are disjoint and ascending.
type bounds struct{ steps []*Step }

// at returns the index of the step that holds t, or -1.
func (b bounds) at(t int64) int {
	i := b.from(t) - 1
	if i >= 0 && t < b.steps[i].To {
		return i
	}
	return -1
}

// ended returns the index of the step in which a stay [due, done] ended, or -1.
// Ends are counted in (From, To]: the end of a step belongs to it. A request
// that took no time ends in the step in which it was due.
func (b bounds) ended(due, done int64) int {
	if done > due {
		done--
	}
	return b.at(done)
}

// from returns the number of steps that begin at or before t.
func (b bounds) from(t int64) int {
	lo, hi := 0, len(b.steps)
	for lo < hi {
		if mid := (lo + hi) / 2; b.steps[mid].From <= t {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// late is how long after its due time a send counts as late.
const late = 5e6
