package telemetry_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/plimsoll/plimsoll/demo/telemetry"
)

// serve answers every export with the status that it is told.
func serve(t *testing.T) (*atomic.Int64, string) {
	t.Helper()
	var status atomic.Int64
	status.Store(http.StatusOK)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-protobuf")
		w.WriteHeader(int(status.Load()))
	}))
	t.Cleanup(server.Close)
	return &status, strings.TrimPrefix(server.URL, "http://")
}

func open(t *testing.T, endpoint string) *telemetry.Pipeline {
	t.Helper()
	p, err := telemetry.Open(t.Context(), telemetry.Config{Endpoint: endpoint, Protocol: telemetry.HTTP, Interval: time.Hour}, 5000,
		[]attribute.KeyValue{attribute.String("service.name", "test")})
	if err != nil {
		t.Fatal(err)
	}
	counter, err := p.Meter("test").Int64Counter("c")
	if err != nil {
		t.Fatal(err)
	}
	counter.Add(t.Context(), 1)
	return p
}

func spans(p *telemetry.Pipeline, n int) {
	for range n {
		_, s := p.Tracer("test").Start(context.Background(), "s")
		s.End()
	}
}

func TestEverySpanIsDelivered(t *testing.T) {
	t.Parallel()
	_, endpoint := serve(t)
	p := open(t, endpoint)
	if err := p.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	spans(p, 5000) // more than the SDK's default queue
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := p.Stats(); s.Spans != 5000 || s.FailedSpans != 0 || s.Metrics != 2 || s.LastError != nil {
		t.Errorf("stats = %+v", s)
	}
}

func TestLossIsReported(t *testing.T) {
	t.Parallel()
	status, endpoint := serve(t)
	p := open(t, endpoint)
	status.Store(http.StatusBadRequest)
	if err := p.Probe(t.Context()); err == nil || !strings.Contains(err.Error(), "reach OTLP receiver") {
		t.Errorf("probe: error = %v", err)
	}
	spans(p, 10)
	err := p.Close(t.Context())
	if err == nil || !strings.Contains(err.Error(), "10 spans and 2 metric exports") {
		t.Errorf("close: error = %v", err)
	}
	if s := p.Stats(); s.Spans != 0 || s.FailedSpans != 10 || s.LastError == nil {
		t.Errorf("stats = %+v", s)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	_, err := telemetry.Open(t.Context(), telemetry.Config{Endpoint: "x", Protocol: "y"}, 0, nil)
	for _, want := range []string{"host:port", "protocol", "interval"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not name %q", err, want)
		}
	}
}
