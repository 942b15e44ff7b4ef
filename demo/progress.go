package demo

import (
	"time"

	"github.com/plimsoll/plimsoll/demo/generator"
)

// Snapshot is a look at a running demonstration.
type Snapshot struct {
	Elapsed  time.Duration // since the first arrival was due; never negative
	Total    time.Duration // of the schedule
	Step     string        // its name; "draining" after the last arrival
	Offered  float64       // due per second now; 0 when draining
	Counts   generator.Counts
	Waiting  int // orders in the service's queue, dead ones included
	Interval Rates
}

// Rates are per second, over the time since the snapshot before.
type Rates struct {
	Sent      float64
	Attempts  float64
	Completed float64
	Good      float64 // completed within the deadline
	Errors    float64 // failed, timed out, shed or cancelled
}

// Draining is the step's name after the last arrival.
const Draining = "draining"

// watch reports until the run is over, and once more then.
func (r *rig) watch(start time.Time, over <-chan struct{}) {
	next := start.Add(r.cfg.ProgressEvery) // in step with the schedule, not with this goroutine
	timer := time.NewTimer(time.Until(next))
	defer timer.Stop()
	last, at := generator.Counts{}, start
	for done := false; !done; {
		select {
		case <-timer.C:
			next = next.Add(r.cfg.ProgressEvery)
			timer.Reset(time.Until(next))
		case <-over:
			done = true
		}
		now := time.Now()
		s := r.snapshot(max(0, now.Sub(start)))
		if d := now.Sub(at).Seconds(); d > 0 {
			s.Interval = rates(last, s.Counts, d)
			last, at = s.Counts, now
		}
		r.cfg.Progress(s)
	}
}

func (r *rig) snapshot(elapsed time.Duration) Snapshot {
	s := Snapshot{
		Elapsed: elapsed, Total: r.cfg.Profile.Duration(), Step: Draining,
		Counts: r.gen.Progress(), Waiting: r.orders.Stats().Waiting,
	}
	if i, ok := r.cfg.Profile.At(elapsed); ok {
		s.Step, s.Offered = r.cfg.Profile[i].Name, r.cfg.Profile[i].Rate
	}
	return s
}

func rates(a, b generator.Counts, seconds float64) Rates {
	per := func(n int64) float64 { return float64(n) / seconds }
	errors := func(c generator.Counts) int64 { return c.Failed + c.TimedOut + c.Shed + c.Cancelled }
	return Rates{
		Sent: per(b.Sent() - a.Sent()), Attempts: per(b.Attempts - a.Attempts),
		Completed: per(b.Completed() - a.Completed()), Good: per(b.Good - a.Good), Errors: per(errors(b) - errors(a)),
	}
}
