package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Names of the service's own metrics, beside the standard http.server ones.
const (
	QueueDepthMetric = "orders.queue.depth" // gauge, {request}: orders waiting for a slot
	SlotsBusyMetric  = "orders.slots.busy"  // gauge, {slot}: orders being served
	SlotsLimitMetric = "orders.slots.limit" // gauge, {slot}: the size of the pool
)

// metrics are what any well-instrumented service would export.
type metrics struct {
	active   metric.Int64UpDownCounter
	duration metric.Float64Histogram
	always   attribute.Set
}

func newMetrics(ctx context.Context, meter metric.Meter, p *pool, slots int) (*metrics, error) {
	active, err1 := meter.Int64UpDownCounter("http.server.active_requests", metric.WithUnit("{request}"),
		metric.WithDescription("Number of active HTTP server requests."))
	duration, err2 := meter.Float64Histogram("http.server.request.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of HTTP server requests."),
		metric.WithExplicitBucketBoundaries(0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10))
	depth, err3 := meter.Int64ObservableGauge(QueueDepthMetric, metric.WithUnit("{request}"),
		metric.WithDescription("Orders waiting for a slot."))
	busy, err4 := meter.Int64ObservableGauge(SlotsBusyMetric, metric.WithUnit("{slot}"),
		metric.WithDescription("Slots that serve an order."))
	limit, err5 := meter.Int64ObservableGauge(SlotsLimitMetric, metric.WithUnit("{slot}"),
		metric.WithDescription("Slots of the pool."))
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return nil, fmt.Errorf("create instruments: %w", err)
	}
	_, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		waiting, serving, _ := p.load()
		o.ObserveInt64(depth, int64(waiting))
		o.ObserveInt64(busy, int64(serving))
		o.ObserveInt64(limit, int64(slots))
		return nil
	}, depth, busy, limit)
	if err != nil {
		return nil, fmt.Errorf("register callback: %w", err)
	}
	always := attribute.NewSet(attribute.String("http.request.method", http.MethodPost), attribute.String("url.scheme", "http"))
	active.Add(ctx, 0, metric.WithAttributeSet(always)) // report zero from the start
	return &metrics{active: active, duration: duration, always: always}, nil
}

// begin counts a request as active until the returned function is called with
// the status of its answer.
func (m *metrics) begin(ctx context.Context) func(status int) {
	ctx = context.WithoutCancel(ctx)
	began := time.Now()
	m.active.Add(ctx, 1, metric.WithAttributeSet(m.always))
	return func(status int) {
		m.active.Add(ctx, -1, metric.WithAttributeSet(m.always))
		attrs := append(m.always.ToSlice(), attribute.String("http.route", Path), attribute.Int("http.response.status_code", status))
		if status >= 500 {
			attrs = append(attrs, attribute.String("error.type", strconv.Itoa(status)))
		}
		m.duration.Record(ctx, time.Since(began).Seconds(), metric.WithAttributes(attrs...))
	}
}
