package fold

import (
	"context"
	"math"

	"github.com/plimsoll/plimsoll/analysis/response"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// sweepEvery is how many events are collected, beyond twice those that had to
// wait last time, before the line moves on.
const sweepEvery = 1 << 15

// sweep reads the rows in the order of the time they cover and fills the steps.
func (f *folder) sweep(ctx context.Context, joined []request, requests int64) error {
	st := f.state
	st.Outside = 0
	if f.rows == 0 {
		st.Steps, st.OfferedSource = f.plan(0)
		st.Totals = &Step{Index: -1}
		for _, s := range append(st.Steps, st.Totals) {
			f.prepare(s)
		}
		return nil
	}
	st.Steps, st.OfferedSource = f.plan(requests)
	st.Totals = f.totals(st.Steps, requests)
	w := &sweeper{f: f, st: st, in: bounds{st.Steps}, path: &path{}, settled: math.MaxInt64}
	if w.whole = len(st.Steps) == 1 && st.Steps[0].From == st.Totals.From && st.Steps[0].To == st.Totals.To; !w.whole {
		w.all = bounds{[]*Step{st.Totals}}
	}
	w.sends.in = w.in
	w.probes = f.newProbes()
	w.alarms = newAlarms(f)
	if !f.run.Finished {
		w.settled = st.Horizon.At
	}
	w.prepare()
	entries := f.ev.Entries()
	var local []*group
	k, held := 0, 0
	err := f.read(ctx, func(i int, b *sample.Batch) error {
		// Nothing that is still unread can be due before this.
		if h := entries[i].Span.From - f.lag; w.path.waiting() > 2*held+sweepEvery {
			for k < len(joined) && joined[k].due < h {
				w.request(&joined[k])
				k++
			}
			w.path.sweep(h)
			w.sends.sweep(h)
			w.alarms.advance(h)
			held = w.path.waiting()
		}
		local = f.translate(b, local[:0])
		f.rowsOf(b, local, w.row)
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	for ; k < len(joined); k++ {
		w.request(&joined[k])
	}
	w.path.finish()
	w.sends.sweep(math.MaxInt64)
	w.alarms.advance(f.complete())
	st.Watched = w.alarms.watched()
	if w.alarms != nil {
		st.Alarms = w.alarms.events
	}
	for _, s := range st.Steps {
		s.Exceeds = s.Nominal && float64(s.Rows+s.Dropped) > s.Want()+s.Slack(st.Process)
	}
	for _, s := range st.Steps {
		st.MultiRate = st.MultiRate || s.Rate != s.ToRate || !same(s.Offered(), st.Steps[0].Offered())
	}
	if w.whole {
		t := *st.Steps[0]
		t.Index, t.Name = -1, ""
		st.Totals = &t
	}
	st.Paired = w.probes.finish()
	st.unloaded = st.findUnloaded()
	f.series.finish(f)
	st.Series = f.series
	return nil
}

// same reports whether two offered rates are one.
func same(a, b float64) bool { return math.Abs(a-b) <= 0.02*max(a, b) }

// sweeper fills steps from rows and requests.
type sweeper struct {
	f       *folder
	st      *State
	in, all bounds // the steps; the whole run, unless one step is all of it
	whole   bool
	path    *path
	sends   sends
	alarms  *alarms
	probes  *probes
	settled int64
	one     request // of the row at hand
}

func (w *sweeper) prepare() {
	f := w.f
	first := w.st.Totals.From
	for i, s := range w.st.Steps {
		f.prepare(s)
		until := int64(math.MaxInt64)
		if i+1 < len(w.st.Steps) {
			until = w.st.Steps[i+1].To
		}
		w.path.watch(s, until)
		first = min(first, s.From)
	}
	t := w.st.Totals
	f.prepare(t)
	w.path.edges = append(w.path.edges,
		edge{t.From, func(p *path) { p.total = t }},
		edge{t.To, func(p *path) {
			p.total, t.AtEnd = nil, p.n
			t.Minima = []Minimum{{p.n, t.To}}
			p.falls = append(p.falls, &fall{t, p.n, math.MaxInt64})
		}})
	end := max(t.To, f.last)
	if f.opt.To != nil {
		end = t.To - 1
	}
	f.series.begin(t.From, end, w.st.Steps)
	w.path.cells = f.series
	w.path.begin(min(first, f.first) - 1)
}

// row takes one attempt; an attempt that is a request of its own is one.
func (w *sweeper) row(g *group, r *sample.Row) {
	w.attempt(g, r)
	w.alarms.row(g, r)
	w.probes.attempt(r)
	if w.f.join.several(r) {
		return
	}
	w.one = w.f.single(g, r)
	w.request(&w.one)
}

// attempt records what concerns attempts: service times, sends, sources.
func (w *sweeper) attempt(g *group, r *sample.Row) {
	due, _, _ := w.f.due(g, r)
	if due >= w.settled {
		return
	}
	for _, b := range [2]bounds{w.in, w.all} {
		if i := b.at(r.Sent); i >= 0 && r.Sent >= b.steps[i].From+b.steps[i].Warmup {
			b.steps[i].WarmAttempts++
		}
		i := b.at(due)
		if i < 0 {
			continue
		}
		s := b.steps[i]
		src := s.SourceSteps[g.Source]
		if src == nil {
			src = &SourceStep{Response: response.New(2), SendDelay: response.New(2)}
			s.SourceSteps[g.Source] = src
		}
		src.Sent++
		if r.Flags&sample.LocalLimit != 0 {
			s.Exhausted++
		}
		if r.Flags&sample.NoOutcome != 0 {
			s.Unjudged++
		}
		if r.Outcome != sample.OK {
			src.Errors++
		}
		if due >= s.From+s.Warmup {
			s.Service.Record(r.Done - r.Sent)
			src.Response.Record(r.Done - due)
			src.SendDelayMax = max(src.SendDelayMax, r.Sent-due)
			if r.Attempt == 0 {
				src.SendDelay.Record(r.Sent - due)
			}
		}
	}
	w.f.series.attempt(r, due)
}

// request records one request.
func (w *sweeper) request(q *request) {
	w.path.add(q.due, q.done)
	w.sends.add(q)
	w.probes.request(q)
	if q.due >= w.settled {
		return
	}
	good := q.inTime()
	if w.in.at(q.due) < 0 {
		w.st.Outside++
	}
	for _, b := range [2]bounds{w.in, w.all} {
		if i := b.at(q.due); i >= 0 {
			b.steps[i].cohort(q, good)
		}
		if i := b.ended(q.due, q.done); i >= 0 {
			b.steps[i].flow(q, good)
		}
		w.edges(b, q)
	}
	w.f.series.request(q, good)
}

// edges records the request at the edges of the steps that it overlaps.
func (w *sweeper) edges(b bounds, q *request) {
	lo := max(0, b.from(q.due)-1)
	for i := lo; i < len(b.steps) && b.steps[i].From <= q.done; i++ {
		s := b.steps[i]
		if q.due < s.From && q.done > s.From {
			s.CarriedIn++
		}
		if q.due < s.To && q.done > s.To {
			s.OpenAtEnd++
		}
		if q.sent < s.From && q.done > s.From {
			s.Rig.carried++
		}
		s.Exact.record(q.due, q.done)
		if s.Counted != nil {
			s.Counted.record(q.sent, q.done)
			s.Counted.Integral.Add(overlap(q.sent, q.done, s.Counted.From, s.Counted.To))
		}
		warm := s.From + s.Warmup
		mid := warm + (s.To-warm)/2
		s.Unsent[0].Add(overlap(q.due, q.sent, warm, mid))
		s.Unsent[1].Add(overlap(q.due, q.sent, mid, s.To))
	}
}

// cohort counts a request in the step in which it was due.
func (s *Step) cohort(q *request, good bool) {
	s.Rows++
	s.Outcomes[q.outcome]++
	s.Retries += q.resends
	if good {
		s.Good++
	}
	if q.g.limited() {
		s.Deadlines++
	}
	delay := q.sent - q.due
	if delay > late {
		s.LateSends++
	}
	if q.early {
		s.Skewed++
	}
	if s.Grade == noGrade || q.grade > s.Grade {
		s.Grade = q.grade
	}
	if q.due < s.From+s.Warmup {
		return
	}
	s.Due++
	s.SendDelay.Record(delay)
	switch {
	case q.outcome == sample.Shed:
	case q.firstByte > 0:
		record(&s.FirstByte, 3, max(0, q.firstByte-q.due))
	case q.outcome == sample.Timeout, q.outcome == sample.Cancelled:
		s.NoFirstByte++
	}
	if q.tokens > 0 {
		s.tokens(q)
	}
	took := q.done - q.due
	var into *response.Histogram
	switch q.outcome {
	case sample.Shed:
		if s.ShedResponse == nil {
			s.ShedResponse = response.New(3)
		}
		s.ShedResponse.Record(took)
		return
	case sample.Timeout, sample.Cancelled:
		into = s.Response.Censored
	default:
		into = s.Response.Exact
	}
	if q.grade == GradeE {
		into.RecordCorrected(took, q.g.interval)
	} else {
		into.Record(took)
	}
	if s.Rig.Batches != nil {
		s.Rig.Batches.Record(q.due, took)
	}
}

// flow counts a request in the step in which it ended.
func (s *Step) flow(q *request, good bool) {
	s.Ended[q.outcome]++
	if good {
		s.EndedGood++
	}
	if q.done <= s.From+s.Warmup && q.due < s.From+s.Warmup {
		return
	}
	s.WarmEnded++
	if q.outcome != sample.OK {
		return
	}
	s.WarmOK++
	if q.g.firstDeadline == 0 || q.firstInTime() {
		s.OKFlow.Record(q.done - q.due)
	}
	if q.tokens > 0 {
		s.tokenised().Warm += q.tokens
	}
	if good {
		s.WarmGood++
	}
	if q.g.limited() {
		s.WarmDeadlines++
	}
}
