package fold

import (
	"math"

	"github.com/plimsoll/plimsoll/analysis/live"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// alarms is the watch that follows a run while it goes on, or would have
// followed it: the same rows raise the same events at the same event times, live
// or read again. It sees attempts, because while a run goes on nobody knows
// whether a failed one will be repeated: a repeated request leaves flight while
// its client waits to try again.
type alarms struct {
	watch  *live.Watch
	kind   live.Kind
	until  int64 // arrivals up to here have been told
	told   int64 // dropped arrivals among them
	f      *folder
	failed recent // keys of requests that may be tried again
	events []live.Event
}

// newAlarms returns a watch, or nil where none is possible.
func newAlarms(f *folder) *alarms {
	cfg, ok := f.watchable()
	if !ok {
		return nil
	}
	return &alarms{f: f, kind: cfg.Kind, until: f.start, watch: live.New(cfg)}
}

// watchable picks the variant that the evidence supports: a declared schedule,
// arrivals counted by the generator, or ended requests alone. A closed loop has
// no offered rate to fall behind.
func (f *folder) watchable() (cfg live.Config, ok bool) {
	if f.rows == 0 || !f.scheduled() || f.sampled > 0 {
		return cfg, false
	}
	cfg.Kind = live.EndedOnly
	if d := f.run.Declaration; d != nil && d.TimeoutS != nil {
		cfg.Timeout = nanos(*d.TimeoutS)
	}
	if f.part() {
		return cfg, true
	}
	if f.declared != nil && f.kept() {
		cfg.Rate = func(at int64) float64 { return f.declared.Rate(at - f.start) }
		_, process := f.driver()
		if process == "constant" || process == "jittered" { // else the plan does not say when arrivals come
			cfg.Kind = live.Scheduled
			return cfg, true
		}
	}
	if f.meter.reading(scheduledName).prompt() {
		cfg.Kind, cfg.Rate = live.Counted, nil
	}
	return cfg, true
}

// kept reports whether the arrivals that are known bear the schedule out. Those
// that were silently not sent are in flight nowhere. While a run goes on, what
// is still in flight is not missing.
func (f *folder) kept() bool {
	until := f.lastDue
	if !f.run.Finished {
		until = min(until, f.complete()) - f.patience()
	}
	due := f.declared.Due(0, min(until-f.start+1, f.declared.Length()))
	known := float64(f.rows - f.resent + f.meter.reading(droppedName).count(f.start, f.lastDue))
	return known >= due-0.01*due-3
}

// patience is the longest that a request can still be in flight: the longest so
// far, or the declared time-out.
func (f *folder) patience() int64 {
	if d := f.run.Declaration; d != nil && d.TimeoutS != nil {
		return max(f.longest, nanos(*d.TimeoutS))
	}
	return f.longest
}

// prompt reports whether a counter is exported often enough to stand for the
// arrivals of each second: every host's part of it, as their sum is known no
// better.
func (r *reading) prompt() bool {
	if r == nil || len(r.times) < 3 {
		return false
	}
	for i := range r.lives {
		t := r.lives[i].time
		if n := int64(len(t) - 1); n > 1 && (t[n]-t[0])/n > promptly {
			return false
		}
	}
	return true
}

// Export intervals of counters that are watched: the longest on average, and after
// how long one that is silent is not waited for.
const (
	promptly = 2e9
	overdue  = 3 * promptly
)

// told is the time up to which every host has told what it counted.
func (r *reading) told() int64 {
	newest := r.times[len(r.times)-1]
	at := newest
	for i := range r.lives {
		t := r.lives[i].time
		if last := t[len(t)-1]; newest-last <= overdue {
			at = min(at, last)
		}
	}
	return at
}

// row tells of an attempt.
func (a *alarms) row(g *group, r *sample.Row) {
	if a == nil {
		return
	}
	due := r.Sent // nobody knew the place of a row by its rank while the run went on
	if a.f.ranks == nil || r.Intended != 0 {
		due, _, _ = a.f.due(g, r)
	}
	named := r.Key != 0 && r.Flags&sample.RequestKey != 0
	if r.Attempt > 0 || named && a.failed.holds(r.Key) {
		due = r.Sent
		a.watch.Due(due, 1) // schedules and counters know requests
	}
	if named && r.Outcome != sample.OK && r.Flags&sample.LastAttempt == 0 {
		a.failed.add(r.Key)
	}
	switch r.Outcome {
	case sample.Timeout, sample.Cancelled:
		a.watch.Gone(due, r.Done)
	default:
		a.watch.Ended(due, r.Done)
	}
}

// advance looks at every second up to h, before which nothing is missing.
func (a *alarms) advance(h int64) {
	if a == nil {
		return
	}
	switch a.kind {
	case live.Scheduled:
		a.arrive(min(h, a.f.start+a.f.declared.Length()))
	case live.Counted:
		h = a.count(h)
	}
	a.events = append(a.events, a.watch.Advance(h)...)
	if a.f.run.Finished && h > a.f.last {
		a.events = append(a.events, a.watch.Finish()...)
	}
}

// complete is the time up to which every source has told what ended. One that
// has been silent for three export intervals is not waited for: it may be gone.
func (f *folder) complete() int64 {
	if f.run.Finished {
		return f.last + 1e9
	}
	newest := int64(math.MinInt64)
	for _, s := range f.sources {
		newest = max(newest, s.newest)
	}
	at := newest
	for _, s := range f.sources {
		if s.rows > 0 && newest-s.newest <= silence {
			at = min(at, s.newest)
		}
	}
	return at
}

// watched is what the watch thinks in the end.
func (a *alarms) watched() *Watched {
	if a == nil {
		return nil
	}
	return &Watched{Kind: a.kind, State: a.watch.State()}
}

// arrive tells of the arrivals that the schedule puts before h, a second at a
// time, less those that were dropped, and takes back what turned out to have
// been dropped since.
func (a *alarms) arrive(h int64) {
	dropped := a.f.meter.reading(droppedName)
	if more := dropped.count(a.f.start, a.until) - a.told; more != 0 {
		a.watch.Due(a.until-1, -more)
		a.told += more
	}
	for a.until < h {
		next := min(a.until+1e9, a.f.start+a.f.declared.Length())
		gone := dropped.count(a.until, next)
		a.watch.DueBetween(a.until, next, a.f.declared.Count(a.until-a.f.start, next-a.f.start)-gone)
		a.until, a.told = next, a.told+gone
	}
}

// count tells of the arrivals that were counted by h and returns the export up
// to which that is known.
func (a *alarms) count(h int64) int64 {
	counted, dropped := a.f.meter.reading(scheduledName), a.f.meter.reading(droppedName)
	if !a.f.run.Finished {
		h = min(h, counted.told())
	}
	for i := 1; i < len(counted.times) && counted.times[i] <= h; i++ {
		from, to := counted.times[i-1], counted.times[i]
		if to > a.until {
			a.watch.DueBetween(from, to, counted.count(from, to)-dropped.count(from, to))
			a.until = to
		}
	}
	return min(h, a.until)
}
