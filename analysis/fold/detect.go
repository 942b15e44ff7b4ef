package fold

import (
	"context"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/steps"
)

// detect finds the steps of a run that declares none and whose rows name none:
// change points of the offered rate. Only a schedule has steps: where the sends
// stand in for it, or wait for answers, a change of their rate may be the
// server's.
func (f *folder) detect(ctx context.Context, joined []request, requests int64) error {
	f.found = nil
	if f.declared != nil || len(f.extent.steps) > 0 || f.rows == 0 || !f.scheduled() || f.lastDue-f.first < instant {
		return nil
	}
	counts := steps.NewCounts(f.first, f.end(requests))
	if err := f.eachDue(ctx, joined, func(due int64) { counts.Add(due, 1) }); err != nil {
		return err
	}
	if r := f.meter.reading(droppedName); r != nil && !f.part() {
		for i := 1; i < len(r.times); i++ {
			counts.Spread(r.times[i-1], r.times[i], r.count(r.times[i-1], r.times[i]))
		}
	}
	segments := counts.Find()
	if len(segments) < 2 && (len(segments) == 0 || !segments[0].Ramp()) {
		return nil
	}
	windows := steps.Windows(segments)
	var due []int64
	err := f.eachDue(ctx, joined, func(t int64) {
		if slices.ContainsFunc(windows, func(w steps.Window) bool { return t >= w.From && t < w.To }) {
			due = append(due, t)
		}
	})
	if err != nil {
		return err
	}
	slices.Sort(due)
	f.found = steps.Refine(segments, due)
	return nil
}

// scheduled reports whether arrivals followed a schedule.
func (f *folder) scheduled() bool {
	model, _ := f.driver()
	return model != sample.Closed && (model == sample.Open || f.weakest.Timed())
}

// eachDue calls fn with the due time of every request.
func (f *folder) eachDue(ctx context.Context, joined []request, fn func(due int64)) error {
	for i := range joined {
		fn(joined[i].due)
	}
	return f.each(ctx, func(g *group, r *sample.Row) {
		if !f.join.several(r) {
			due, _, _ := f.due(g, r)
			fn(due)
		}
	})
}

// foundSteps turns segments into steps; a silence of half a second or more
// between two of them is a pause.
func (f *folder) foundSteps() []*Step {
	out := make([]*Step, len(f.found))
	for i, g := range f.found {
		out[i] = &Step{From: g.From, To: g.To}
		if out[i].Silent = g.Silent; g.Ramp() || g.Silent > 0 {
			out[i].Rate, out[i].ToRate = g.Rate, g.ToRate
		}
		out[i].Paused = i+1 < len(f.found) && f.found[i+1].From > g.To
	}
	return out
}
