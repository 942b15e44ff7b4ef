package e2e_test

import (
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/proto"

	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricv1 "go.opentelemetry.io/proto/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
)

// span is one attempt to be exported.
type span struct {
	due, sent, done int64
	status          int64
	request         string
	resend          int64
	last            bool
}

func str(k, v string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: k, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: v}}}
}

func integer(k string, v int64) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: k, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: v}}}
}

func boolean(k string, v bool) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: k, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: v}}}
}

func number(k string, v float64) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: k, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: v}}}
}

func resource(run string) *resourcepb.Resource {
	return &resourcepb.Resource{Attributes: []*commonpb.KeyValue{
		str("service.name", "loadgen"), str("loadtest.run.id", run), str("loadtest.run.name", "orders"),
		str("loadtest.arrival.model", "open"), number("loadtest.deadline", 0.5),
	}}
}

// traces encodes spans as one export request.
func traces(t testing.TB, rng *rand.Rand, run string, spans []span) export {
	t.Helper()
	ss := &tracev1.ScopeSpans{Scope: &commonpb.InstrumentationScope{Name: "e2e"}}
	for _, s := range spans {
		id := func(n int) []byte {
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(rng.Uint32())
			}
			return b
		}
		p := &tracev1.Span{
			TraceId: id(16), SpanId: id(8), Name: "POST", Kind: tracev1.Span_SPAN_KIND_CLIENT,
			StartTimeUnixNano: uint64(s.sent), EndTimeUnixNano: uint64(s.done),
			Attributes: []*commonpb.KeyValue{
				str("loadtest.scenario", "orders"), integer("loadtest.intended_time_unix_nano", s.due),
				str("http.request.method", "POST"),
			},
		}
		if s.status != 0 {
			p.Attributes = append(p.Attributes, integer("http.response.status_code", s.status))
		}
		if s.status == 0 {
			p.Attributes = append(p.Attributes, str("error.type", "timeout"))
			p.Status = &tracev1.Status{Code: tracev1.Status_STATUS_CODE_ERROR}
		}
		if s.resend > 0 {
			p.Attributes = append(p.Attributes, integer("http.request.resend_count", s.resend))
		}
		if s.request != "" {
			p.Attributes = append(p.Attributes, str("loadtest.request.id", s.request), boolean("loadtest.attempt.last", s.last))
		}
		ss.Spans = append(ss.Spans, p)
	}
	body, err := proto.Marshal(&tracepb.ExportTraceServiceRequest{ResourceSpans: []*tracev1.ResourceSpans{
		{Resource: resource(run), ScopeSpans: []*tracev1.ScopeSpans{ss}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return export{body: body}
}

// counter encodes cumulative counters at one time as one export request.
func counters(t testing.TB, run string, start, at int64, values map[string]float64) export {
	t.Helper()
	sm := &metricv1.ScopeMetrics{Scope: &commonpb.InstrumentationScope{Name: "e2e"}}
	for name, v := range values {
		sm.Metrics = append(sm.Metrics, &metricv1.Metric{Name: name, Data: &metricv1.Metric_Sum{Sum: &metricv1.Sum{
			IsMonotonic: true, AggregationTemporality: metricv1.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE,
			DataPoints: []*metricv1.NumberDataPoint{{
				StartTimeUnixNano: uint64(start), TimeUnixNano: uint64(at), Value: &metricv1.NumberDataPoint_AsDouble{AsDouble: v},
			}},
		}}})
	}
	body, err := proto.Marshal(&metricspb.ExportMetricsServiceRequest{ResourceMetrics: []*metricv1.ResourceMetrics{
		{Resource: resource(run), ScopeMetrics: []*metricv1.ScopeMetrics{sm}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return export{metrics: true, body: body}
}
