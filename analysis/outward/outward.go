package outward

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploggrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/plimsoll/plimsoll/analysis/alert"
	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// scope names the instrumentation of everything that is sent.
const scope = "github.com/plimsoll/plimsoll"

// Config says where to and about what.
type Config struct {
	Lookup   func(string) (string, bool) // environment variables
	Version  string
	Statuses func() []alert.Status // the runs that go on, or ended a while ago
}

// Sender sends to one collector. The zero value sends nothing.
type Sender struct {
	metrics *metric.MeterProvider
	logs    *sdklog.LoggerProvider
	logger  log.Logger
}

// Wanted reports whether the environment names a collector for a signal,
// "METRICS" or "LOGS".
func Wanted(lookup func(string) (string, bool), signal string) bool {
	if v, _ := lookup("OTEL_" + signal + "_EXPORTER"); v == "none" {
		return false
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_" + signal + "_ENDPOINT"} {
		if v, _ := lookup(name); v != "" {
			return true
		}
	}
	return false
}

// protocol is how a signal is sent: http/protobuf unless the environment says grpc.
func protocol(lookup func(string) (string, bool), signal string) string {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_" + signal + "_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if v, _ := lookup(name); v != "" {
			return v
		}
	}
	return "http/protobuf"
}

// New returns a sender of what the environment asks for.
func New(ctx context.Context, cfg Config) (*Sender, error) {
	s := &Sender{}
	res, err := resource.New(ctx, resource.WithFromEnv(), resource.WithHost(), resource.WithAttributes(
		attribute.String("service.name", "plimsoll"), attribute.String("service.version", cfg.Version)))
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("describe this process: %w", err)
	}
	if Wanted(cfg.Lookup, "METRICS") {
		reader, err := metricReader(ctx, protocol(cfg.Lookup, "METRICS"))
		if err != nil {
			return nil, err
		}
		s.metrics = metric.NewMeterProvider(metric.WithResource(res), metric.WithReader(reader))
		if err := observe(s.metrics.Meter(scope), cfg.Statuses); err != nil {
			return nil, err
		}
	}
	if Wanted(cfg.Lookup, "LOGS") {
		exporter, err := logExporter(ctx, protocol(cfg.Lookup, "LOGS"))
		if err != nil {
			return nil, err
		}
		s.logs = sdklog.NewLoggerProvider(sdklog.WithResource(res), sdklog.WithProcessor(sdklog.NewBatchProcessor(exporter)))
		s.logger = s.logs.Logger(scope)
	}
	return s, nil
}

func metricReader(ctx context.Context, protocol string) (metric.Reader, error) {
	var exporter metric.Exporter
	var err error
	switch protocol {
	case "grpc":
		exporter, err = otlpmetricgrpc.New(ctx)
	case "http/protobuf":
		exporter, err = otlpmetrichttp.New(ctx)
	default:
		err = fmt.Errorf("protocol %q is not grpc or http/protobuf", protocol)
	}
	if err != nil {
		return nil, fmt.Errorf("send metrics: %w", err)
	}
	return metric.NewPeriodicReader(exporter), nil
}

func logExporter(ctx context.Context, protocol string) (sdklog.Exporter, error) {
	var exporter sdklog.Exporter
	var err error
	switch protocol {
	case "grpc":
		exporter, err = otlploggrpc.New(ctx)
	case "http/protobuf":
		exporter, err = otlploghttp.New(ctx)
	default:
		err = fmt.Errorf("protocol %q is not grpc or http/protobuf", protocol)
	}
	if err != nil {
		return nil, fmt.Errorf("send logs: %w", err)
	}
	return exporter, nil
}

// Alert sends a log record of an alert that began to fire.
func (s *Sender) Alert(ctx context.Context, a alert.Alert) {
	if s.logger == nil {
		return
	}
	severity := log.SeverityError
	if a.Labels.Severity == alert.Warning {
		severity = log.SeverityWarn
	}
	r := record("plimsoll.alert", a.StartsAt, severity, a.Description,
		attribute.String("plimsoll.alert", a.Labels.Name), attribute.String("loadtest.run.id", a.RunID), attribute.String("loadtest.run.name", a.Labels.RunName))
	if a.Labels.Scenario != "" {
		r.AddAttributes(attribute.String("loadtest.scenario", a.Labels.Scenario))
	}
	if a.Step != "" {
		r.AddAttributes(attribute.String("loadtest.step", a.Step))
	}
	s.logger.Emit(ctx, r)
}

// Verdict sends a log record of the verdict on a run that has ended, and one of
// each finding that is worse than a warning.
func (s *Sender) Verdict(ctx context.Context, v *wire.Verdict) {
	if s.logger == nil {
		return
	}
	at := time.Time{}
	if v.Run.EndedAt != nil {
		at = *v.Run.EndedAt
	}
	run := []attribute.KeyValue{attribute.String("loadtest.run.id", v.Run.ID), attribute.String("loadtest.run.name", v.Run.Name), attribute.String("plimsoll.outcome", v.Outcome)}
	r := record("plimsoll.verdict", at, severityOf(v.Outcome), v.Headline, run...)
	if c := v.Knee.Capacity; c != nil && c.Value != nil {
		r.AddAttributes(attribute.Float64("plimsoll.capacity", *c.Value))
	}
	s.logger.Emit(ctx, r)
	for _, f := range v.Findings {
		if f.Severity != wire.Fail && f.Severity != wire.Invalid {
			continue
		}
		r := record("plimsoll.finding", at, log.SeverityWarn, f.Message, run...)
		r.AddAttributes(attribute.String("plimsoll.finding", f.Code))
		if f.Step != nil {
			r.AddAttributes(attribute.Int("plimsoll.step", *f.Step))
		}
		s.logger.Emit(ctx, r)
	}
}

func severityOf(outcome string) log.Severity {
	switch outcome {
	case wire.OutcomePass:
		return log.SeverityInfo
	case wire.OutcomeFail:
		return log.SeverityError
	}
	return log.SeverityWarn
}

func record(event string, at time.Time, severity log.Severity, body string, attributes ...attribute.KeyValue) log.Record {
	var r log.Record
	r.SetEventName(event)
	r.SetTimestamp(at)
	r.SetSeverity(severity)
	r.SetSeverityText(severity.String())
	r.SetBody(attribute.StringValue(body))
	r.AddAttributes(slices.Clone(attributes)...)
	return r
}

// Shutdown sends what is left, until ctx ends.
func (s *Sender) Shutdown(ctx context.Context) error {
	var errs []error
	if s.metrics != nil {
		errs = append(errs, s.metrics.Shutdown(ctx))
	}
	if s.logs != nil {
		errs = append(errs, s.logs.Shutdown(ctx))
	}
	return errors.Join(errs...)
}
