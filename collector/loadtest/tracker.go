package loadtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Tracker counts arrivals and the requests in flight, and reports them as the
// four loadtest metrics. All four are read at one instant per export, so they
// agree with each other. It is safe for concurrent use.
//
// The integral is exact: with N(t) requests in flight, in_flight_time at an
// export at time t is the sum over all changes of N·Δt, settled up to t in
// whole nanoseconds. An SDK stamps the point after its callbacks have run; the
// difference is a few microseconds and does not accumulate.
type Tracker struct {
	now   func() time.Time
	attrs metric.MeasurementOption
	reg   metric.Registration

	mu        sync.Mutex
	scheduled int64
	dropped   int64
	level     int64
	changed   time.Time // when level last changed or was settled
	seconds   int64     // whole request-seconds of the integral
	nanos     int64     // the rest, below one request-second
}

// Totals is a reading of a Tracker at one instant.
type Totals struct {
	Scheduled    int64   // arrivals that came due, dropped ones included
	Dropped      int64   // arrivals that were never sent
	InFlight     int64   // requests sent and not ended
	InFlightTime float64 // integral of InFlight, in request-seconds
}

// NewTracker registers the four metrics with the meter. The clock is usually
// time.Now, whose readings are monotonic: steps of the wall clock do not reach
// the integral. Attributes, such as Scenario, are put on every point; use one
// Tracker per scenario.
func NewTracker(meter metric.Meter, now func() time.Time, attrs ...attribute.KeyValue) (*Tracker, error) {
	t := &Tracker{now: now, attrs: metric.WithAttributes(attrs...), changed: now()}
	scheduled, err1 := meter.Int64ObservableCounter(ScheduledMetric, metric.WithUnit(UnitRequest),
		metric.WithDescription("Arrivals that came due, dropped ones included."))
	dropped, err2 := meter.Int64ObservableCounter(DroppedMetric, metric.WithUnit(UnitRequest),
		metric.WithDescription("Arrivals that came due and were never sent."))
	inFlight, err3 := meter.Int64ObservableUpDownCounter(InFlightMetric, metric.WithUnit(UnitRequest),
		metric.WithDescription("Requests whose first attempt was sent and that have not ended."))
	integral, err4 := meter.Float64ObservableCounter(InFlightTimeMetric, metric.WithUnit(UnitSecond),
		metric.WithDescription("Running integral of the requests in flight over time."))
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, fmt.Errorf("create instruments: %w", err)
	}
	reg, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		r := t.Read()
		o.ObserveInt64(scheduled, r.Scheduled, t.attrs)
		o.ObserveInt64(dropped, r.Dropped, t.attrs)
		o.ObserveInt64(inFlight, r.InFlight, t.attrs)
		o.ObserveFloat64(integral, r.InFlightTime, t.attrs)
		return nil
	}, scheduled, dropped, inFlight, integral)
	if err != nil {
		return nil, fmt.Errorf("register callback: %w", err)
	}
	t.reg = reg
	return t, nil
}

// Scheduled counts an arrival that has come due, whatever becomes of it.
func (t *Tracker) Scheduled() {
	t.mu.Lock()
	t.scheduled++
	t.mu.Unlock()
}

// Dropped counts an arrival that will never be sent. It was Scheduled before.
func (t *Tracker) Dropped() {
	t.mu.Lock()
	t.dropped++
	t.mu.Unlock()
}

// Sent counts a request as in flight from now until end is called: when its
// last attempt has ended, whatever the outcome. Call Sent once per request, at
// its first attempt. Calls of end after the first do nothing.
func (t *Tracker) Sent() (end func()) {
	t.change(1)
	var ended atomic.Bool
	return func() {
		if ended.CompareAndSwap(false, true) {
			t.change(-1)
		}
	}
}

// Read returns the totals, with the integral settled up to now.
func (t *Tracker) Read() Totals {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.settle()
	return Totals{
		Scheduled: t.scheduled, Dropped: t.dropped, InFlight: t.level,
		InFlightTime: float64(t.seconds) + float64(t.nanos)/float64(time.Second),
	}
}

// Stop withdraws the metrics from the meter. Let the last export happen first:
// usually the meter provider is shut down and Stop is not needed.
func (t *Tracker) Stop() error {
	if err := t.reg.Unregister(); err != nil {
		return fmt.Errorf("unregister callback: %w", err)
	}
	return nil
}

func (t *Tracker) change(by int64) {
	t.mu.Lock()
	t.settle()
	t.level += by
	t.mu.Unlock()
}

// settle adds what has passed since the last change. The clock is read under
// the lock, so that no two changes are taken out of order. A clock that goes
// backwards (one without monotonic readings) adds nothing. Whole seconds are
// kept apart, so that neither a long pause nor a long run overflows.
func (t *Tracker) settle() {
	now := t.now()
	d := now.Sub(t.changed)
	t.changed = now
	if d <= 0 {
		return
	}
	t.seconds += t.level * int64(d/time.Second)
	t.nanos += t.level * int64(d%time.Second)
	t.seconds += t.nanos / int64(time.Second)
	t.nanos %= int64(time.Second)
}
