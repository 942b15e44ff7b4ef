// Package telemetry sends the demonstration's spans and metrics over real OTLP,
// with the exporters of the OpenTelemetry SDK and nothing of our own in between.
//
// The SDK drops spans without a word when its queue is full and reports a failed
// export to a process-wide handler. A load test must know: the exporters are
// wrapped, so that what was delivered and what failed is counted here, per
// pipeline, and returned when the pipeline is closed.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Protocols of OTLP.
const (
	GRPC = "grpc"
	HTTP = "http"
)

const exportTimeout = 10 * time.Second

// Config says where telemetry goes.
type Config struct {
	Endpoint string        // host:port of an OTLP receiver; plain text
	Protocol string        // GRPC or HTTP
	Interval time.Duration // between exports, of spans and of metrics
}

// Validate reports every problem of the configuration.
func (c Config) Validate() error {
	var errs []error
	if _, _, err := net.SplitHostPort(c.Endpoint); err != nil {
		errs = append(errs, fmt.Errorf("OTLP endpoint %q: want host:port", c.Endpoint))
	}
	if c.Protocol != GRPC && c.Protocol != HTTP {
		errs = append(errs, fmt.Errorf("OTLP protocol %q: want %s or %s", c.Protocol, GRPC, HTTP))
	}
	if c.Interval <= 0 {
		errs = append(errs, fmt.Errorf("export interval %v: want more than 0", c.Interval))
	}
	return errors.Join(errs...)
}

// Pipeline exports the telemetry of one resource.
type Pipeline struct {
	tracers *sdktrace.TracerProvider
	meters  *sdkmetric.MeterProvider
	tally   tally
}

// Stats counts what a pipeline delivered.
type Stats struct {
	Spans         int64 // spans that the receiver acknowledged
	FailedSpans   int64 // spans in exports that failed after all retries
	Metrics       int64 // exports of metrics that were acknowledged
	FailedMetrics int64 // exports of metrics that failed
	LastError     error // of the newest failed export
}

// Open starts a pipeline for the resource. spans is how many spans it must be
// able to hold, so that none is dropped even when the receiver is slow; with 0
// there is no trace exporter.
func Open(ctx context.Context, cfg Config, spans int, attrs []attribute.KeyValue) (*Pipeline, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("configure telemetry: %w", err)
	}
	res := resource.NewSchemaless(append([]attribute.KeyValue{
		attribute.String("telemetry.sdk.name", "opentelemetry"),
		attribute.String("telemetry.sdk.language", "go"),
	}, attrs...)...)
	p := &Pipeline{}
	metrics, err := metricExporter(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("create metric exporter: %w", err)
	}
	p.meters = sdkmetric.NewMeterProvider(sdkmetric.WithResource(res), sdkmetric.WithReader(
		sdkmetric.NewPeriodicReader(countedMetrics{metrics, &p.tally},
			sdkmetric.WithInterval(cfg.Interval), sdkmetric.WithTimeout(exportTimeout))))
	p.tracers = sdktrace.NewTracerProvider(sdktrace.WithResource(res))
	if spans > 0 {
		traces, err := spanExporter(ctx, cfg)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("create span exporter: %w", err), p.meters.Shutdown(ctx))
		}
		p.tracers.RegisterSpanProcessor(sdktrace.NewBatchSpanProcessor(countedSpans{traces, &p.tally},
			sdktrace.WithMaxQueueSize(spans), sdktrace.WithMaxExportBatchSize(2048),
			sdktrace.WithBatchTimeout(cfg.Interval), sdktrace.WithExportTimeout(exportTimeout)))
	}
	return p, nil
}

// Tracer returns the tracer of the named scope.
func (p *Pipeline) Tracer(scope string) trace.Tracer { return p.tracers.Tracer(scope) }

// Meter returns the meter of the named scope.
func (p *Pipeline) Meter(scope string) metric.Meter { return p.meters.Meter(scope) }

// Probe sends the metrics once, to learn now and not at the end that nobody
// listens.
func (p *Pipeline) Probe(ctx context.Context) error {
	before := p.Stats().FailedMetrics
	if err := p.meters.ForceFlush(ctx); err != nil {
		return fmt.Errorf("reach OTLP receiver: %w", err)
	}
	if after := p.Stats(); after.FailedMetrics > before {
		return fmt.Errorf("reach OTLP receiver: %w", after.LastError)
	}
	return nil
}

// Stats returns the counts so far.
func (p *Pipeline) Stats() Stats { return p.tally.read() }

// Close delivers everything that is still held, spans first, and stops.
func (p *Pipeline) Close(ctx context.Context) error {
	if err := errors.Join(p.tracers.Shutdown(ctx), p.meters.Shutdown(ctx)); err != nil {
		return fmt.Errorf("flush telemetry: %w", err)
	}
	if s := p.Stats(); s.FailedSpans > 0 || s.FailedMetrics > 0 {
		return fmt.Errorf("flush telemetry: %d spans and %d metric exports were not delivered: %w",
			s.FailedSpans, s.FailedMetrics, s.LastError)
	}
	return nil
}

func spanExporter(ctx context.Context, cfg Config) (sdktrace.SpanExporter, error) {
	if cfg.Protocol == HTTP {
		return otlptracehttp.New(ctx, otlptracehttp.WithEndpoint(cfg.Endpoint), otlptracehttp.WithInsecure(),
			otlptracehttp.WithTimeout(exportTimeout))
	}
	return otlptracegrpc.New(ctx, otlptracegrpc.WithEndpoint(cfg.Endpoint), otlptracegrpc.WithInsecure(),
		otlptracegrpc.WithTimeout(exportTimeout))
}

func metricExporter(ctx context.Context, cfg Config) (sdkmetric.Exporter, error) {
	if cfg.Protocol == HTTP {
		return otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpoint(cfg.Endpoint), otlpmetrichttp.WithInsecure(),
			otlpmetrichttp.WithTimeout(exportTimeout))
	}
	return otlpmetricgrpc.New(ctx, otlpmetricgrpc.WithEndpoint(cfg.Endpoint), otlpmetricgrpc.WithInsecure(),
		otlpmetricgrpc.WithTimeout(exportTimeout))
}

// tally counts exports.
type tally struct {
	mu sync.Mutex
	s  Stats
}

func (t *tally) read() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.s
}

func (t *tally) add(err error, count func(s *Stats, failed bool)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	count(&t.s, err != nil)
	if err != nil {
		t.s.LastError = err
	}
}
