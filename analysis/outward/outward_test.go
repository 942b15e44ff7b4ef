package outward_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	logspb "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"

	"github.com/plimsoll/plimsoll/analysis/alert"
	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/outward"
)

// collector takes OTLP over HTTP.
type collector struct {
	mu      sync.Mutex
	logs    logspb.ExportLogsServiceRequest
	metrics metricspb.ExportMetricsServiceRequest
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		body, _ = gzip.NewReader(r.Body)
	}
	data, err := io.ReadAll(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var into proto.Message = &c.logs
	if r.URL.Path == "/v1/metrics" {
		into = &c.metrics
	}
	if err := (proto.UnmarshalOptions{Merge: true}).Unmarshal(data, into); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// TestCollectorHears sends the state of a run, an alert and a verdict to a
// collector, as the environment says.
func TestCollectorHears(t *testing.T) {
	var c collector
	srv := httptest.NewServer(&c)
	defer srv.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", srv.URL)
	capacity, offered, step := 97.5, 120.0, 0
	end := time.Unix(1_790_000_072, 0).UTC()
	v := &wire.Verdict{
		Outcome: wire.OutcomeFail, Headline: "At 120/s the backlog grew.",
		Run:      wire.Run{ID: "orders-42", Name: "orders", EndedAt: &end},
		Steps:    []wire.Step{{Offered: &offered}},
		Knee:     wire.Knee{Capacity: &wire.Estimate{Value: &capacity}},
		Findings: []wire.Finding{{Code: "unstable_step", Severity: wire.Fail, Step: &step, Message: "In flight grew."}, {Code: "stall", Severity: wire.Warn}},
	}
	status := alert.Status{Run: alert.Run{ID: "orders-42", Name: "orders"}, Now: fold.Now{Watched: true, InFlight: 7}, Verdict: v}
	s, err := outward.New(t.Context(), outward.Config{
		Lookup: os.LookupEnv, Version: "1", Statuses: func() []alert.Status { return []alert.Status{status} },
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Alert(t.Context(), alert.Alert{
		Labels: alert.Labels{Name: alert.Unstable, RunName: "orders", Severity: alert.Critical}, RunID: "orders-42", Step: "peak",
		Description: "120/s were offered.", StartsAt: end,
	})
	s.Verdict(t.Context(), v)
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var events []string
	for _, r := range c.logs.ResourceLogs {
		for _, sc := range r.ScopeLogs {
			for _, l := range sc.LogRecords {
				events = append(events, l.EventName+" "+l.SeverityText+" "+l.Body.GetStringValue()+" "+text(l.Attributes, "loadtest.run.id"))
			}
		}
	}
	if want := []string{
		"plimsoll.alert ERROR 120/s were offered. orders-42", "plimsoll.verdict ERROR At 120/s the backlog grew. orders-42",
		"plimsoll.finding WARN In flight grew. orders-42",
	}; !slices.Equal(events, want) {
		t.Errorf("log records %q, want %q", events, want)
	}
	values := map[string]float64{}
	for _, r := range c.metrics.ResourceMetrics {
		for _, sc := range r.ScopeMetrics {
			for _, m := range sc.Metrics {
				for _, p := range m.GetGauge().GetDataPoints() {
					values[m.Name+" "+text(p.Attributes, "loadtest.run.name")+text(p.Attributes, "loadtest.step")] = p.GetAsDouble()
				}
			}
		}
	}
	for name, want := range map[string]float64{
		"plimsoll.run.outcome orders": 3, "plimsoll.run.in_flight orders": 7, "plimsoll.run.capacity orders": 97.5,
		"plimsoll.step.offered orders0": 120, "plimsoll.run.unstable orders": 0,
	} {
		if got, ok := values[name]; !ok || got != want {
			t.Errorf("%s = %v (%v), want %v", name, got, ok, want)
		}
	}
}

func text(attributes []*commonpb.KeyValue, key string) string {
	for _, a := range attributes {
		if a.Key == key {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

// TestOffWithoutAnEnvironment sends nothing, and says what is not understood.
func TestOffWithoutAnEnvironment(t *testing.T) {
	t.Parallel()
	env := map[string]string{}
	lookup := func(k string) (string, bool) { v, ok := env[k]; return v, ok }
	s, err := outward.New(t.Context(), outward.Config{Lookup: lookup})
	if err != nil {
		t.Fatal(err)
	}
	s.Verdict(t.Context(), &wire.Verdict{})
	s.Alert(t.Context(), alert.Alert{})
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	env["OTEL_EXPORTER_OTLP_ENDPOINT"], env["OTEL_METRICS_EXPORTER"] = "http://x", "none"
	if outward.Wanted(lookup, "METRICS") || !outward.Wanted(lookup, "LOGS") {
		t.Error("signals are not told apart")
	}
	env["OTEL_EXPORTER_OTLP_PROTOCOL"] = "carrier-pigeon"
	if _, err := outward.New(t.Context(), outward.Config{Lookup: lookup}); err == nil {
		t.Error("any protocol is taken")
	}
}
