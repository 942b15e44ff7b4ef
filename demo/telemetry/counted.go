package telemetry

import (
	"context"
	"errors"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// countedSpans counts what the exporter below delivers. A failure is kept in the
// tally and not returned: the SDK could only hand it to a process-wide handler.
type countedSpans struct {
	sdktrace.SpanExporter
	tally *tally
}

// ExportSpans implements sdktrace.SpanExporter.
func (c countedSpans) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := c.SpanExporter.ExportSpans(ctx, spans)
	c.tally.add(err, func(s *Stats, failed bool) {
		if failed {
			s.FailedSpans += int64(len(spans))
		} else {
			s.Spans += int64(len(spans))
		}
	})
	return nil
}

// countedMetrics does the same for metrics.
type countedMetrics struct {
	sdkmetric.Exporter
	tally *tally
}

// Export implements sdkmetric.Exporter.
func (c countedMetrics) Export(ctx context.Context, rm *metricdata.ResourceMetrics) error {
	err := c.Exporter.Export(ctx, rm)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		// The reader is being shut down. Its last export follows, and its points
		// are cumulative: nothing is lost.
		return nil
	}
	c.tally.add(err, func(s *Stats, failed bool) {
		if failed {
			s.FailedMetrics++
		} else {
			s.Metrics++
		}
	})
	return nil
}
