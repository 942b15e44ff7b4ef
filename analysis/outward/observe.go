package outward

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/plimsoll/plimsoll/analysis/alert"
	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// meters are the instruments, by name.
type meters struct {
	outcome, unstable, invalid, unrecovered, missed, inFlight, capacity, offered, completed, goodput metric.Float64ObservableGauge
	requests, dropped                                                                                metric.Int64ObservableCounter
}

// observe registers the instruments.
func observe(m metric.Meter, statuses func() []alert.Status) error {
	var all meters
	var instruments []metric.Observable
	for _, g := range []struct {
		to                      *metric.Float64ObservableGauge
		name, unit, description string
	}{
		{&all.outcome, "plimsoll.run.outcome", "1", "0 pass, 1 inconclusive, 2 invalid, 3 fail"},
		{&all.unstable, "plimsoll.run.unstable", "1", "1 while the backlog grows without end"},
		{&all.invalid, "plimsoll.run.generator_invalid", "1", "1 where the rig cannot be trusted"},
		{&all.unrecovered, "plimsoll.run.not_recovered", "1", "1 where the service stays overloaded after the load has gone"},
		{&all.missed, "plimsoll.run.objective_missed", "1", "1 where an objective is missed"},
		{&all.inFlight, "plimsoll.run.in_flight", "{request}", "requests in flight at the last look"},
		{&all.capacity, "plimsoll.run.capacity", "1/s", "the highest rate that the service sustained"},
		{&all.offered, "plimsoll.step.offered", "1/s", "offered rate of a step"},
		{&all.completed, "plimsoll.step.completed", "1/s", "rate of successful answers of a step"},
		{&all.goodput, "plimsoll.step.goodput", "1/s", "rate of answers within the deadline of a step"},
	} {
		i, err := m.Float64ObservableGauge(g.name, metric.WithUnit(g.unit), metric.WithDescription(g.description))
		if err != nil {
			return fmt.Errorf("make instrument %s: %w", g.name, err)
		}
		*g.to = i
		instruments = append(instruments, i)
	}
	for _, c := range []struct {
		to                      *metric.Int64ObservableCounter
		name, unit, description string
	}{
		{&all.requests, "plimsoll.run.requests", "{request}", "requests that ended"},
		{&all.dropped, "plimsoll.run.dropped_arrivals", "{request}", "arrivals that the generator dropped"},
	} {
		i, err := m.Int64ObservableCounter(c.name, metric.WithUnit(c.unit), metric.WithDescription(c.description))
		if err != nil {
			return fmt.Errorf("make instrument %s: %w", c.name, err)
		}
		*c.to = i
		instruments = append(instruments, i)
	}
	_, err := m.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for _, s := range statuses() {
			all.write(o, &s)
		}
		return nil
	}, instruments...)
	if err != nil {
		return fmt.Errorf("observe runs: %w", err)
	}
	return nil
}

func (m *meters) write(o metric.Observer, s *alert.Status) {
	name := attribute.String("loadtest.run.name", s.Run.Name)
	with := func(more ...attribute.KeyValue) metric.MeasurementOption {
		return metric.WithAttributes(append([]attribute.KeyValue{name}, more...)...)
	}
	gauge := func(i metric.Float64ObservableGauge, v *float64, more ...attribute.KeyValue) {
		if v != nil {
			o.ObserveFloat64(i, *v, with(more...))
		}
	}
	for k := range sample.Outcomes {
		o.ObserveInt64(m.requests, s.Now.Outcomes[k], with(attribute.String("outcome", k.String())))
	}
	o.ObserveInt64(m.dropped, s.Now.Dropped, with())
	if s.Now.Watched {
		gauge(m.inFlight, is(float64(s.Now.InFlight)))
	}
	gauge(m.unstable, flag(s.Unstable()))
	v := s.Verdict
	if v == nil {
		return
	}
	gauge(m.outcome, is(float64(slices.Index([]string{wire.OutcomePass, wire.OutcomeInconclusive, wire.OutcomeInvalid, wire.OutcomeFail}, v.Outcome))))
	gauge(m.invalid, flag(!v.Audit.Valid))
	gauge(m.unrecovered, flag(v.Metastability.State == "sustained" || v.Metastability.State == "degraded"))
	for _, h := range v.Objectives {
		gauge(m.missed, flag(h.State == wire.Missed), attribute.String("objective", h.Title), attribute.String("loadtest.scenario", h.Scenario), attribute.String("loadtest.step", h.Step))
	}
	if c := v.Knee.Capacity; c != nil {
		gauge(m.capacity, c.Value)
	}
	for i := range v.Steps {
		t := &v.Steps[i]
		step := attribute.String("loadtest.step", stepName(t))
		gauge(m.offered, t.Offered, step)
		gauge(m.completed, t.Completed, step)
		gauge(m.goodput, t.Goodput, step)
	}
}

func stepName(t *wire.Step) string {
	if t.Name != "" {
		return t.Name
	}
	return strconv.Itoa(t.Index)
}

func is(v float64) *float64 { return &v }

func flag(b bool) *float64 {
	if b {
		return is(1)
	}
	return is(0)
}
