// Package export sends the rows of simulated runs to a server as OTLP over HTTP,
// in the way that an OpenTelemetry SDK sends the spans and counters of a load
// generator. One row becomes one client span.
package export

import (
	"context"
	"encoding/binary"
	"errors"
	"net/http"
	"strconv"
	"sync"

	"google.golang.org/protobuf/proto"

	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricv1 "go.opentelemetry.io/proto/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/internal/program"
)

const (
	size        = 512 // spans in one export, as the SDK's batch processor sends them
	connections = 4   // of one process, at once
)

// Source is one process that exports.
type Source struct {
	Server   string                // base URL of its OTLP/HTTP port
	Number   int                   // tells its spans from those of other sources
	Name     string                // of the instrumentation
	Resource []*commonpb.KeyValue  // attributes of the process
	Spans    []*commonpb.KeyValue  // attributes of every span
	Repeat   func(export int) bool // whether an export is sent twice, as after an answer that got lost; nil: never
}

// Rows sends rows at full speed over several connections, so that exports
// overtake each other.
func (s *Source) Rows(ctx context.Context, rows []sample.Row) error {
	var wg sync.WaitGroup
	var failed [connections]error
	for k := range connections {
		wg.Go(func() {
			for at := k * size; at < len(rows) && failed[k] == nil; at += connections * size {
				failed[k] = s.traces(ctx, rows[at:min(at+size, len(rows))], at)
			}
		})
	}
	wg.Wait()
	return errors.Join(failed[:]...)
}

// traces sends one export; at is how many rows came before.
func (s *Source) traces(ctx context.Context, rows []sample.Row, at int) error {
	spans := &tracev1.ScopeSpans{Scope: &commonpb.InstrumentationScope{Name: s.Name}}
	for i := range rows {
		spans.Spans = append(spans.Spans, s.span(&rows[i], uint64(s.Number+1)<<32+uint64(at+i)))
	}
	req := &tracepb.ExportTraceServiceRequest{ResourceSpans: []*tracev1.ResourceSpans{
		{Resource: &resourcepb.Resource{Attributes: s.Resource}, ScopeSpans: []*tracev1.ScopeSpans{spans}},
	}}
	if err := s.post(ctx, "/v1/traces", req); err != nil || s.Repeat == nil || !s.Repeat(at/size) {
		return err
	}
	return s.post(ctx, "/v1/traces", req)
}

// span is one attempt.
func (s *Source) span(r *sample.Row, id uint64) *tracev1.Span {
	p := &tracev1.Span{
		TraceId: append(make([]byte, 8), name8(id)...), SpanId: name8(id), Name: "POST", Kind: tracev1.Span_SPAN_KIND_CLIENT,
		StartTimeUnixNano: uint64(r.Sent), EndTimeUnixNano: uint64(r.Done),
		Attributes: append([]*commonpb.KeyValue{Str("http.request.method", "POST")}, s.Spans...),
	}
	add := func(kv *commonpb.KeyValue) { p.Attributes = append(p.Attributes, kv) }
	if r.Intended != 0 {
		add(Int("loadtest.intended_time_unix_nano", r.Intended))
	}
	if r.Index != sample.NoIndex {
		add(Int("loadtest.arrival.index", r.Index))
	}
	if r.Status != 0 {
		add(Int("http.response.status_code", int64(r.Status)))
	}
	if r.Outcome != sample.OK {
		p.Status = &tracev1.Status{Code: tracev1.Status_STATUS_CODE_ERROR}
	}
	if r.Outcome == sample.Timeout {
		add(Str("error.type", "timeout"))
	}
	if r.Key != 0 {
		add(Str("loadtest.request.id", strconv.FormatUint(r.Key, 10)))
		add(&commonpb.KeyValue{Key: "loadtest.attempt.last", Value: &commonpb.AnyValue{
			Value: &commonpb.AnyValue_BoolValue{BoolValue: r.Flags&sample.LastAttempt != 0},
		}})
	}
	if r.Attempt > 0 {
		add(Int("http.request.resend_count", int64(r.Attempt)))
	}
	return p
}

// Level is what a process has counted by an instant.
type Level struct {
	Name  string
	Value float64
	Gauge bool // how many there are; else how many there have been since the start
}

// Levels sends what was counted by the instant at, ns; the process began to count
// just before from.
func (s *Source) Levels(ctx context.Context, from, at int64, levels []Level) error {
	sm := &metricv1.ScopeMetrics{Scope: &commonpb.InstrumentationScope{Name: s.Name}}
	for _, l := range levels {
		sm.Metrics = append(sm.Metrics, &metricv1.Metric{Name: l.Name, Unit: "{request}", Data: &metricv1.Metric_Sum{Sum: &metricv1.Sum{
			IsMonotonic: !l.Gauge, AggregationTemporality: metricv1.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE,
			DataPoints: []*metricv1.NumberDataPoint{{
				StartTimeUnixNano: uint64(from - 1), TimeUnixNano: uint64(at), Value: &metricv1.NumberDataPoint_AsDouble{AsDouble: l.Value},
			}},
		}}})
	}
	return s.post(ctx, "/v1/metrics", &metricspb.ExportMetricsServiceRequest{ResourceMetrics: []*metricv1.ResourceMetrics{
		{Resource: &resourcepb.Resource{Attributes: s.Resource}, ScopeMetrics: []*metricv1.ScopeMetrics{sm}},
	}})
}

func (s *Source) post(ctx context.Context, path string, m proto.Message) error {
	body, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	_, err = program.Do(ctx, http.MethodPost, s.Server+path, "application/x-protobuf", body)
	return err
}

func name8(v uint64) []byte { return binary.BigEndian.AppendUint64(nil, v) }

// Str is an attribute that holds a word.
func Str(k, v string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: k, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: v}}}
}

// Int is an attribute that holds a whole number.
func Int(k string, v int64) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: k, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: v}}}
}

// Number is an attribute that holds any number.
func Number(k string, v float64) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: k, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: v}}}
}
