package demo_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
)

// receiver is a fake OTLP receiver that keeps everything.
type receiver struct {
	mu     sync.Mutex
	spans  []span
	points []point
}

// span and point are what the tests look at, with resource attributes merged in
// under "resource." names.
type span struct {
	name       string
	kind       ptrace.SpanKind
	start, end int64
	attrs      map[string]any
}

type point struct {
	metric, unit string
	monotonic    bool
	value        float64 // the count of a histogram
	at           int64
	attrs        map[string]any
}

func (r *receiver) traces(td ptrace.Traces) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				r.spans = append(r.spans, span{
					name: s.Name(), kind: s.Kind(), start: int64(s.StartTimestamp()), end: int64(s.EndTimestamp()),
					attrs: merge(rs.Resource().Attributes(), s.Attributes()),
				})
			}
		}
	}
}

func (r *receiver) metrics(md pmetric.Metrics) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rm := range md.ResourceMetrics().All() {
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				p := point{metric: m.Name(), unit: m.Unit()}
				var numbers pmetric.NumberDataPointSlice
				switch m.Type() {
				case pmetric.MetricTypeGauge:
					numbers = m.Gauge().DataPoints()
				case pmetric.MetricTypeSum:
					numbers, p.monotonic = m.Sum().DataPoints(), m.Sum().IsMonotonic()
				case pmetric.MetricTypeHistogram:
					for _, d := range m.Histogram().DataPoints().All() {
						p.value, p.at, p.attrs = float64(d.Count()), int64(d.Timestamp()), merge(rm.Resource().Attributes(), d.Attributes())
						r.points = append(r.points, p)
					}
					continue
				}
				for _, d := range numbers.All() {
					p.value, p.at, p.attrs = d.DoubleValue(), int64(d.Timestamp()), merge(rm.Resource().Attributes(), d.Attributes())
					if d.ValueType() == pmetric.NumberDataPointValueTypeInt {
						p.value = float64(d.IntValue())
					}
					r.points = append(r.points, p)
				}
			}
		}
	}
}

func merge(resource, own pcommon.Map) map[string]any {
	out := own.AsRaw()
	for k, v := range resource.AsRaw() {
		out["resource."+k] = v
	}
	return out
}

// last returns the newest value of a metric of one service, over all its
// attribute sets.
func (r *receiver) last(service, metric string) (value float64, points int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := int64(0)
	for _, p := range r.points {
		if p.metric != metric || p.attrs["resource.service.name"] != service {
			continue
		}
		points++
		switch {
		case p.at > at:
			at, value = p.at, p.value
		case p.at == at:
			value += p.value
		}
	}
	return value, points
}

type traceServer struct {
	ptraceotlp.UnimplementedGRPCServer
	to *receiver
}

func (s *traceServer) Export(_ context.Context, req ptraceotlp.ExportRequest) (ptraceotlp.ExportResponse, error) {
	s.to.traces(req.Traces())
	return ptraceotlp.NewExportResponse(), nil
}

type metricServer struct {
	pmetricotlp.UnimplementedGRPCServer
	to *receiver
}

func (s *metricServer) Export(_ context.Context, req pmetricotlp.ExportRequest) (pmetricotlp.ExportResponse, error) {
	s.to.metrics(req.Metrics())
	return pmetricotlp.NewExportResponse(), nil
}

// serveGRPC starts a receiver and returns its address.
func serveGRPC(t *testing.T) (*receiver, string) {
	t.Helper()
	r := &receiver{}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	ptraceotlp.RegisterGRPCServer(server, &traceServer{to: r})
	pmetricotlp.RegisterGRPCServer(server, &metricServer{to: r})
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(listener); err != nil {
			t.Errorf("serve OTLP: %v", err)
		}
	}()
	t.Cleanup(func() { server.Stop(); <-done })
	return r, listener.Addr().String()
}

// serveHTTP does the same for OTLP over HTTP with protobuf bodies.
func serveHTTP(t *testing.T) (*receiver, string) {
	t.Helper()
	r := &receiver{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		switch req.URL.Path {
		case "/v1/traces":
			in := ptraceotlp.NewExportRequest()
			if err := in.UnmarshalProto(body); err != nil {
				t.Error(err)
			}
			r.traces(in.Traces())
		case "/v1/metrics":
			in := pmetricotlp.NewExportRequest()
			if err := in.UnmarshalProto(body); err != nil {
				t.Error(err)
			}
			r.metrics(in.Metrics())
		default:
			t.Errorf("unexpected path %s", req.URL.Path)
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(server.Close)
	return r, strings.TrimPrefix(server.URL, "http://")
}
