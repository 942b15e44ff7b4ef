package interop

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// TestFortiotel lets fortio's variant export a span of each call.
func TestFortiotel(t *testing.T) {
	t.Parallel()
	fortiotel := tool(t, "fortiotel", "bin/fortiotel")
	svc, srv := newService(t), startServer(t)
	(&command{
		dir: srv.dir, env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://" + srv.grpc, "OTEL_RESOURCE_ATTRIBUTES=loadtest.run.id=orders"},
		args: []string{fortiotel, "load", "-quiet", "-h2=false", "-qps", "70", "-c", "14", "-t", "10s", "-payload", "{}", svc.URL + "/orders"},
	}).run(t)
	v, _ := srv.verdict("orders")
	want := expect{generator: "fortio", grade: "S", sent: svc.arrived.Load() - 14} // each connection is opened with a call of its own
	want.check(t, v)
}

// TestH2load imports the log of ten clients that wait for answers.
func TestH2load(t *testing.T) {
	t.Parallel()
	h2load := tool(t, "h2load", "bin/h2load")
	svc, srv := newService(t), startServer(t)
	log, body := filepath.Join(srv.dir, "h2load.log"), write(t, srv.dir, "body.json", "{}")
	(&command{dir: srv.dir, args: []string{h2load, "--h1", "-c10", "-t1", "-D", "10", "--log-file=" + log, "-d", body, svc.URL + "/orders"}}).run(t)
	srv.load("orders", log)
	v, code := srv.verdict("orders", "p95<300ms")
	if code != 4 {
		t.Errorf("check exits %d: a closed loop cannot answer", code)
	}
	want := expect{generator: "h2load", grade: "S", loop: "closed", outcome: "inconclusive", sent: svc.arrived.Load(), slack: 10}
	want.check(t, v)
	closed(t, v)
}

// TestAB imports what ab writes for gnuplot.
func TestAB(t *testing.T) {
	t.Parallel()
	ab := tool(t, "ab", "bin/ab")
	svc, srv := newService(t), startServer(t)
	plot, body := filepath.Join(srv.dir, "plot.tsv"), write(t, srv.dir, "body.json", "{}")
	out := (&command{dir: srv.dir, args: []string{ab, "-q", "-n", "900", "-c", "10", "-k", "-p", body, "-T", "application/json", "-g", plot, svc.URL + "/orders"}}).run(t)
	if !strings.Contains(string(out), "Complete requests:      900") {
		t.Fatalf("%s", tail(out))
	}
	srv.load("orders", plot)
	v, _ := srv.verdict("orders", "p95<300ms")
	want := expect{generator: "ab", grade: "F", loop: "closed", outcome: "inconclusive", sent: 900}
	want.check(t, v)
	closed(t, v)
}

// TestAutocannon imports what autocannon prints as JSON, which counts requests that
// were answered.
func TestAutocannon(t *testing.T) {
	t.Parallel()
	autocannon := tool(t, "autocannon", "autocannon/node_modules/.bin/autocannon")
	svc, srv := newService(t), startServer(t)
	out := (&command{args: []string{autocannon, "-j", "-c", "10", "-d", "10", "-m", "POST", "-b", "{}", svc.URL + "/orders"}}).run(t)
	var result struct {
		Requests struct {
			Total int64 `json:"total"`
		} `json:"requests"`
		Latency struct {
			P50 float64 `json:"p50"`
		} `json:"latency"`
	}
	if err := json.Unmarshal(out, &result); err != nil {
		t.Fatal(err)
	}
	file := write(t, srv.dir, "result.json", string(out))
	srv.load("orders", file)
	v, _ := srv.verdict("orders", "p95<300ms")
	want := expect{generator: "autocannon", grade: "F", loop: "closed", outcome: "inconclusive", sent: result.Requests.Total}
	want.check(t, v)
	closed(t, v)
	if p := v.Totals.ServiceTime.P50; p.Lo == nil || p.Hi == nil || *p.Lo > result.Latency.P50/1e3 || *p.Hi < result.Latency.P50/1e3 {
		t.Errorf("p50 %+v, autocannon says %g ms", p, result.Latency.P50)
	}
}
