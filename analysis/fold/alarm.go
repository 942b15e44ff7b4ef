package fold

import (
	"github.com/plimsoll/plimsoll/analysis/live"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// alarms is the watch that would have followed the run while it went on: the
// same rows raise the same events at the same event times, live or read again.
type alarms struct {
	watch     *live.Watch
	scheduled bool
	until     int64 // arrivals up to here have been told
	f         *folder
	events    []live.Event
}

// newAlarms picks the variant that the evidence supports: a declared schedule,
// arrivals counted by the generator, or ended requests alone. A closed loop has
// no offered rate to fall behind.
func newAlarms(f *folder) *alarms {
	if f.rows == 0 || !f.scheduled() || f.state.SampledRows > 0 {
		return nil
	}
	a := &alarms{f: f, until: f.start}
	cfg := live.Config{Kind: live.EndedOnly}
	if d := f.run.Declaration; d != nil && d.TimeoutS != nil {
		cfg.Timeout = nanos(*d.TimeoutS)
	}
	if f.declared != nil && f.opt.Scenario == "" && f.opt.Source == "" && f.kept() {
		cfg.Rate = func(at int64) float64 { return f.declared.Rate(at - f.start) }
		if p := f.state.Process; p == "constant" || p == "jittered" { // else the plan does not say when arrivals come
			a.scheduled, cfg.Kind = true, live.Scheduled
		}
	}
	a.watch = live.New(cfg)
	return a
}

// kept reports whether the arrivals that are known bear the schedule out. Those
// that were silently not sent are in flight nowhere.
func (f *folder) kept() bool {
	due := f.declared.Due(0, min(f.lastDue-f.start+1, f.declared.Length()))
	known := float64(f.state.Requests + f.meter.reading(droppedName).count(f.start, f.lastDue))
	return known >= due-0.01*due-3
}

// ended tells of a request.
func (a *alarms) ended(q *request) {
	switch {
	case a == nil:
	case q.outcome == sample.Timeout || q.outcome == sample.Cancelled:
		a.watch.Gone(q.due, q.done)
	default:
		a.watch.Ended(q.due, q.done)
	}
}

// advance looks at every second up to h, before which nothing is missing.
func (a *alarms) advance(h int64) {
	if a == nil {
		return
	}
	if a.scheduled {
		a.arrive(min(h, a.f.start+a.f.declared.Length()))
	}
	a.events = append(a.events, a.watch.Advance(h)...)
}

// arrive tells of the arrivals that the schedule puts before h, a second at a
// time, less those that were dropped.
func (a *alarms) arrive(h int64) {
	dropped := a.f.meter.reading(droppedName)
	for a.until < h {
		next := min(a.until+1e9, a.f.start+a.f.declared.Length())
		n := a.f.declared.Count(a.until-a.f.start, next-a.f.start) - dropped.count(a.until, next)
		a.watch.DueBetween(a.until, next, n)
		a.until = next
	}
}
