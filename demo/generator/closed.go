package generator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Closed is the naive twin: a fixed number of workers, each of which sends,
// waits for the answer, and sends again. It is asked for the same rates: worker
// pacing of Workers / Rate, as tools with a "constant pacing" do. A worker that
// is held up leaves the sends out that it missed, and counts time from when it
// got round to sending. Both are what coordinated omission means; nothing is
// corrected.
type Closed struct {
	URL      string
	Schedule Schedule
	Workers  int
	Timeout  time.Duration
}

// ClosedReport is what such a tool would have printed.
type ClosedReport struct {
	Workers int
	Total   ClosedStep
	Steps   []ClosedStep
}

// ClosedStep is one line of it. Times are from send to answer, without the
// requests that failed, which such tools count apart.
type ClosedStep struct {
	Step
	Sent          int64
	OK            int64
	Failed        int64   // no answer, or one with an error
	PerS          float64 // answers per second of the step
	P50, P95, P99 time.Duration
}

// Validate reports every problem of the configuration.
func (c Closed) Validate() error {
	errs := []error{c.Schedule.Validate()}
	if c.Workers < 1 || c.Workers > 10000 {
		errs = append(errs, fmt.Errorf("workers %d: want 1 to 10000", c.Workers))
	}
	if c.Timeout <= 0 {
		errs = append(errs, fmt.Errorf("timeout %v: want more than 0", c.Timeout))
	}
	return errors.Join(errs...)
}

// Run works through the schedule, beginning at start.
func (c Closed) Run(ctx context.Context, start time.Time) (ClosedReport, error) {
	if err := c.Validate(); err != nil {
		return ClosedReport{}, fmt.Errorf("configure closed loop: %w", err)
	}
	client := newClient(c.URL, c.Workers)
	defer client.close()
	books := make([]closedBook, c.Workers)
	var wg sync.WaitGroup
	for w := range c.Workers {
		books[w] = closedBook{steps: make([]closedTally, len(c.Schedule))}
		wg.Go(func() { c.work(ctx, client, start, w, &books[w]) })
	}
	wg.Wait()
	return c.report(books), nil
}

// closedBook is one worker's notes.
type closedBook struct{ steps []closedTally }

type closedTally struct {
	sent, failed int64
	times        []time.Duration
}

func (c Closed) work(ctx context.Context, client *client, start time.Time, worker int, book *closedBook) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	next := start.Add(time.Duration(float64(worker) / c.Schedule[0].Rate * float64(time.Second)))
	for waitUntil(ctx, timer, next) {
		sent := time.Now()
		step, ok := c.Schedule.At(sent.Sub(start))
		if !ok {
			return
		}
		got := client.post(ctx, c.Timeout)
		took := time.Since(sent)
		if ctx.Err() != nil {
			return
		}
		tally := &book.steps[step]
		tally.sent++
		if got.outcome == OK {
			tally.times = append(tally.times, took)
		} else {
			tally.failed++
		}
		interval := time.Duration(float64(c.Workers) / c.Schedule[step].Rate * float64(time.Second))
		// Kept to the pace where the answer came in time, else at once: the sends
		// missed meanwhile are never made.
		next = next.Add(interval)
		if now := time.Now(); next.Before(now) {
			next = now
		}
	}
}

func (c Closed) report(books []closedBook) ClosedReport {
	r := ClosedReport{Workers: c.Workers, Steps: make([]ClosedStep, len(c.Schedule))}
	var all closedTally
	for i, step := range c.Schedule {
		var sum closedTally
		for _, b := range books {
			sum.merge(b.steps[i])
		}
		all.merge(sum)
		r.Steps[i] = sum.line(step)
	}
	r.Total = all.line(Step{Name: "all", Rate: float64(c.Schedule.Count()) / c.Schedule.Duration().Seconds(), Duration: c.Schedule.Duration()})
	return r
}

func (t *closedTally) merge(o closedTally) {
	t.sent += o.sent
	t.failed += o.failed
	t.times = append(t.times, o.times...)
}

func (t *closedTally) line(step Step) ClosedStep {
	slices.Sort(t.times)
	ok := int64(len(t.times))
	return ClosedStep{
		Step: step, Sent: t.sent, OK: ok, Failed: t.failed, PerS: float64(ok) / step.Duration.Seconds(),
		P50: quantile(t.times, 0.5), P95: quantile(t.times, 0.95), P99: quantile(t.times, 0.99),
	}
}
