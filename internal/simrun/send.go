package main

import (
	"context"
	"encoding/binary"
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
	"github.com/plimsoll/plimsoll/internal/simrun/truth"
)

const (
	exportSpans = 512 // in one request, as the SDK's batch processor sends them
	connections = 4   // at once, of one generator
)

// send exports a case as its generators would, at full speed over several
// connections, so that requests overtake each other. Every tenth export is sent
// twice, as after an answer that got lost.
func (s *server) send(ctx context.Context, c *truth.Case) error {
	var wg sync.WaitGroup
	var errs [connections]error
	for n, part := range c.Parts() {
		for k := range connections {
			wg.Go(func() {
				for at := k * exportSpans; at < len(part.Rows); at += connections * exportSpans {
					if err := s.traces(ctx, c, n, part.Rows[at:min(at+exportSpans, len(part.Rows))], at); err != nil {
						errs[k] = err
						return
					}
				}
			})
		}
		wg.Wait()
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return s.metrics(ctx, c)
}

func (s *server) post(ctx context.Context, path string, m proto.Message) error {
	body, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	_, err = program.Do(ctx, http.MethodPost, "http://"+s.OTLPHTTP+path, "application/x-protobuf", body)
	return err
}

// traces sends one export of the generator n; at is how many rows came before.
func (s *server) traces(ctx context.Context, c *truth.Case, n int, rows []sample.Row, at int) error {
	spans := &tracev1.ScopeSpans{Scope: &commonpb.InstrumentationScope{Name: "simrun"}}
	for i := range rows {
		spans.Spans = append(spans.Spans, span(&rows[i], uint64(n+1)<<32+uint64(at+i)))
	}
	req := &tracepb.ExportTraceServiceRequest{ResourceSpans: []*tracev1.ResourceSpans{
		{Resource: resource(c, n), ScopeSpans: []*tracev1.ScopeSpans{spans}},
	}}
	if err := s.post(ctx, "/v1/traces", req); err != nil || at/exportSpans%10 != 9 {
		return err
	}
	return s.post(ctx, "/v1/traces", req)
}

// span is one attempt.
func span(r *sample.Row, id uint64) *tracev1.Span {
	p := &tracev1.Span{
		TraceId: append(make([]byte, 8), name8(id)...), SpanId: name8(id), Name: "POST", Kind: tracev1.Span_SPAN_KIND_CLIENT,
		StartTimeUnixNano: uint64(r.Sent), EndTimeUnixNano: uint64(r.Done),
		Attributes: []*commonpb.KeyValue{str("http.request.method", "POST"), str("loadtest.scenario", "orders")},
	}
	add := func(kv *commonpb.KeyValue) { p.Attributes = append(p.Attributes, kv) }
	if r.Intended != 0 {
		add(integer("loadtest.intended_time_unix_nano", r.Intended))
	}
	if r.Index != sample.NoIndex {
		add(integer("loadtest.arrival.index", r.Index))
	}
	if r.Status != 0 {
		add(integer("http.response.status_code", int64(r.Status)))
	}
	if r.Outcome != sample.OK {
		p.Status = &tracev1.Status{Code: tracev1.Status_STATUS_CODE_ERROR}
	}
	if r.Outcome == sample.Timeout {
		add(str("error.type", "timeout"))
	}
	if r.Key != 0 {
		add(str("loadtest.request.id", strconv.FormatUint(r.Key, 10)))
		add(&commonpb.KeyValue{Key: "loadtest.attempt.last", Value: &commonpb.AnyValue{
			Value: &commonpb.AnyValue_BoolValue{BoolValue: r.Flags&sample.LastAttempt != 0},
		}})
	}
	if r.Attempt > 0 {
		add(integer("http.request.resend_count", int64(r.Attempt)))
	}
	return p
}

// metrics sends what the generator counts, a second at a time.
func (s *server) metrics(ctx context.Context, c *truth.Case) error {
	counters := c.Counters()
	if len(counters) == 0 {
		return nil
	}
	longest := 0
	for _, k := range counters {
		longest = max(longest, len(k.At))
	}
	for i := range longest {
		sm := &metricv1.ScopeMetrics{Scope: &commonpb.InstrumentationScope{Name: "simrun"}}
		for _, k := range counters {
			if i >= len(k.At) {
				continue
			}
			sm.Metrics = append(sm.Metrics, &metricv1.Metric{Name: k.Name, Unit: "{request}", Data: &metricv1.Metric_Sum{Sum: &metricv1.Sum{
				IsMonotonic: true, AggregationTemporality: metricv1.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE,
				DataPoints: []*metricv1.NumberDataPoint{{
					StartTimeUnixNano: uint64(truth.Start - 1), TimeUnixNano: uint64(k.At[i]), Value: &metricv1.NumberDataPoint_AsDouble{AsDouble: k.Values[i]},
				}},
			}}})
		}
		err := s.post(ctx, "/v1/metrics", &metricspb.ExportMetricsServiceRequest{ResourceMetrics: []*metricv1.ResourceMetrics{
			{Resource: resource(c, 0), ScopeMetrics: []*metricv1.ScopeMetrics{sm}},
		}})
		if err != nil {
			return err
		}
	}
	return nil
}

func resource(c *truth.Case, n int) *resourcepb.Resource {
	r := &resourcepb.Resource{Attributes: []*commonpb.KeyValue{
		str("service.name", "loadgen"), str("service.instance.id", strconv.Itoa(n)), str("loadtest.run.id", c.ID()), str("loadtest.run.name", c.Name()), str("loadtest.generator", "sim"),
		number("loadtest.deadline", float64(c.DeadlineNS)/1e9),
	}}
	if m := c.Group.Model; m != sample.UnknownModel {
		r.Attributes = append(r.Attributes, str("loadtest.arrival.model", m.String()))
	}
	if c.Group.Rate > 0 {
		r.Attributes = append(r.Attributes, number("loadtest.arrival.rate", c.Group.Rate))
	}
	return r
}

func name8(v uint64) []byte { return binary.BigEndian.AppendUint64(nil, v) }

func str(k, v string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: k, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: v}}}
}

func integer(k string, v int64) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: k, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: v}}}
}

func number(k string, v float64) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: k, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: v}}}
}
