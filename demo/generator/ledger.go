package generator

import (
	"math"
	"slices"
	"sync"
	"time"
)

// Counts is what became of requests. Due = Dropped + Good + Late + Failed +
// TimedOut + Shed + Cancelled + InFlight.
type Counts struct {
	Due       int64
	Dropped   int64 // due and never sent, because of the cap
	Good      int64 // answered within the deadline
	Late      int64 // answered after it
	Failed    int64
	TimedOut  int64
	Shed      int64
	Cancelled int64
	InFlight  int64 // sent and not ended
	Attempts  int64 // ended
}

// Sent is the number of requests that were sent.
func (c Counts) Sent() int64 { return c.Due - c.Dropped }

// Completed is the number of requests that were answered, however late.
func (c Counts) Completed() int64 { return c.Good + c.Late }

// Report is what the generator itself saw.
type Report struct {
	Total Counts
	Steps []StepReport
}

// StepReport is the part of the requests that were due in one step.
type StepReport struct {
	Step
	Counts
	// Response times from due to end. Requests that never got an answer are in
	// at the time that they waited, so a percentile among them reads "at least";
	// shed ones are not in.
	P50, P95, P99 time.Duration
}

// ledger keeps the books, by the step in which a request was due.
type ledger struct {
	schedule Schedule

	mu    sync.Mutex
	sum   Counts
	steps []Counts
	times [][]time.Duration
}

func newLedger(s Schedule) *ledger {
	return &ledger{schedule: s, steps: make([]Counts, len(s)), times: make([][]time.Duration, len(s))}
}

// admit counts an arrival, as sent or, with limit requests in flight already, as
// dropped.
func (l *ledger) admit(step, limit int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	full := l.sum.InFlight >= int64(limit)
	l.add(step, func(c *Counts) {
		c.Due++
		if full {
			c.Dropped++
		} else {
			c.InFlight++
		}
	})
	return !full
}

func (l *ledger) attempt(step int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(step, func(c *Counts) { c.Attempts++ })
}

// end counts the end of a request.
func (l *ledger) end(step int, o Outcome, response, deadline time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o != Shed {
		l.times[step] = append(l.times[step], response)
	}
	l.add(step, func(c *Counts) {
		c.InFlight--
		switch {
		case o == OK && (deadline == 0 || response <= deadline):
			c.Good++
		case o == OK:
			c.Late++
		case o == TimedOut:
			c.TimedOut++
		case o == Shed:
			c.Shed++
		case o == Cancelled:
			c.Cancelled++
		default:
			c.Failed++
		}
	})
}

func (l *ledger) add(step int, f func(*Counts)) {
	f(&l.sum)
	f(&l.steps[step])
}

func (l *ledger) total() Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sum
}

func (l *ledger) report() Report {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := Report{Total: l.sum, Steps: make([]StepReport, len(l.steps))}
	for i, c := range l.steps {
		slices.Sort(l.times[i])
		r.Steps[i] = StepReport{
			Step: l.schedule[i], Counts: c,
			P50: quantile(l.times[i], 0.5), P95: quantile(l.times[i], 0.95), P99: quantile(l.times[i], 0.99),
		}
	}
	return r
}

// quantile is the nearest rank of sorted times; 0 when there are none.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(q * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}
