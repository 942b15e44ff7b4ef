package fold

import (
	"context"
	"math"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/counts"
	"github.com/plimsoll/plimsoll/analysis/knee"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// count reads the metrics of generators that export counts and no rows (grade
// F). Only a run without rows is judged by them.
func (f *folder) count(ctx context.Context) error {
	if f.rows > 0 {
		return nil
	}
	var m counts.Metrics
	err := f.read(ctx, func(_ int, b *sample.Batch) error {
		m.Add(b)
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	var whole []counts.Input
	for _, in := range m.Inputs() {
		if in.Stream != "" {
			f.countedStreams = append(f.countedStreams, in.Stream)
		}
		if in.Stream == f.opt.Scenario && (f.opt.Source == "" || in.Source == f.opt.Source) && len(in.Intervals) > 0 {
			whole = append(whole, in)
			f.countedSources = append(f.countedSources, in.Source)
		}
	}
	if len(whole) == 0 {
		return nil
	}
	all := counts.Combine(whole)
	all.Finished = f.run.Finished
	f.counted = &all
	f.first, f.last = all.From, all.Intervals[len(all.Intervals)-1].To
	f.lastDue = f.last - 1
	return nil
}

// countedState fills the state of a run that is known by counts alone.
func (f *folder) countedState() {
	st, in := f.state, f.counted
	st.Grade, st.Generator = GradeF, in.Generator
	slices.Sort(f.countedStreams)
	st.Scenarios, st.Sources = slices.Compact(f.countedStreams), f.countedSources
	st.Span = sample.Span{From: f.first, To: f.last}
	st.Horizon = Horizon{At: f.last}
	st.Steps, st.OfferedSource = f.plan(0)
	judged := *in
	if f.declared == nil {
		st.Steps = f.clip([]*Step{{From: f.first, To: f.last}})
		judged = in.WithoutDrain()
	}
	st.Totals = f.totals(st.Steps, 0)
	unloaded := 0.0
	for _, s := range st.Steps {
		r := f.countedStep(s, &judged, unloaded)
		if unloaded == 0 && r.State != "" && r.MeanS > 0 {
			unloaded = r.MeanS // the first step of a sweep is its lightest
		}
		switch {
		case st.Model != sample.UnknownModel:
		case r.Loop == counts.LoopClosed:
			st.Model = sample.Closed
		case r.Loop == counts.LoopOpen:
			st.Model = sample.Open
		}
		st.MultiRate = st.MultiRate || !same(s.Offered(), st.Steps[0].Offered())
	}
	f.countedStep(st.Totals, in, unloaded)
	if len(st.Steps) == 1 && !st.Steps[0].Nominal {
		st.Totals.Rate, st.Totals.ToRate = st.Steps[0].Rate, st.Steps[0].ToRate // without the drain
	}
	st.Rows, st.Requests = st.Totals.Rows, st.Totals.Rows
}

// countedStep fills a step from the exports within it.
func (f *folder) countedStep(s *Step, all *counts.Input, unloaded float64) counts.Result {
	f.prepare(s)
	in := all.Between(s.From, s.To)
	in.Rate = counts.Rate{PerS: s.Rate, Paced: s.Rate > 0 && f.state.Process == "constant"}
	if !s.Nominal || s.Rate != s.ToRate {
		in.Rate = counts.Rate{}
	}
	if d := f.run.Declaration; d != nil && d.Arrival != nil {
		in.Loop = counts.Loop(d.Arrival.Model)
	}
	if s.Index != 0 {
		in.UnloadedS = unloaded
	}
	r := counts.Judge(in)
	s.Counts, s.Grade = &Counted{
		Result: r, Rates: len(counts.Rates(in)) > 0, Percentiles: counts.Percentiles(in, 0.5, 0.9, 0.95, 0.99, 0.999),
		Service: counts.ServiceTimes(in), Response: counts.ResponseTimes(in),
	}, GradeF
	if s.Nominal && s.Rate != s.ToRate {
		s.Counts.Completed = completions(in)
	}
	t := in.Totals()
	before, after := levels(f.counted, &in)
	if f.run.Finished && (s.Index < 0 || len(f.state.Steps) == 1) {
		before, after = 0, 0 // all that began has ended, whatever the last gauge says
		t = f.counted.Between(s.From, s.To).Totals()
	}
	if !s.Nominal && !math.IsNaN(r.Offered) {
		s.Rate, s.ToRate = r.Offered, r.Offered
	}
	whole := func(v float64) int64 { return int64(math.Round(v)) }
	least, _ := t.FailedIterations()
	ended, failed := whole(t.Ended), whole(least)
	s.Counts.Totals = t
	s.CarriedIn, s.OpenAtEnd, s.AtEnd = before, after, after
	s.Rows, s.Dropped = max(0, ended+after-before), whole(t.Dropped)
	s.CarriedIn = ended + after - s.Rows
	s.Outcomes[sample.OK], s.Outcomes[sample.Error] = max(0, s.Rows-failed), min(failed, s.Rows)
	s.Ended[sample.OK], s.Ended[sample.Error] = ended-failed, failed
	s.EndedGood, s.WarmEnded, s.WarmOK, s.WarmGood = ended-failed, ended, ended-failed, ended-failed
	s.WarmAttempts = whole(t.Requests)
	return r
}

// completions are what each export says was completed.
func completions(in counts.Input) []knee.Count {
	out := make([]knee.Count, len(in.Intervals))
	from := in.From
	for i, v := range in.Intervals {
		out[i] = knee.Count{Seconds: float64(v.To-from) / 1e9, Completed: max(0, v.Ended-v.Failed)}
		from = v.To
	}
	return out
}

// levels are the numbers in flight by the gauge around the intervals of in; 0
// where it says nothing.
func levels(all, in *counts.Input) (before, after int64) {
	level := func(v float64) int64 {
		if math.IsNaN(v) {
			return 0
		}
		return int64(math.Round(v))
	}
	for i := range all.Intervals {
		if all.Intervals[i].To <= in.From {
			before = level(all.Intervals[i].InFlight)
		}
	}
	if n := len(in.Intervals); n > 0 {
		after = level(in.Intervals[n-1].InFlight)
	}
	return before, after
}

// Counted is the judgement of a step that is known by counts alone.
type Counted struct {
	counts.Result
	Rates       bool // the exports cover enough time for rates
	Percentiles []counts.Percentile
	Service     counts.Times // counted from the send
	Response    counts.Times // counted from when requests were due, by the tool itself (grade X)
	Completed   []knee.Count // by export, of a ramp
	Totals      counts.Totals
}
