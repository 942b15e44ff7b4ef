package interop

import (
	"testing"
	"time"
)

// TestHey runs ten workers that wait for answers, and imports their requests.
func TestHey(t *testing.T) {
	t.Parallel()
	hey := tool(t, "hey", "bin/hey")
	svc, srv := newService(t), startServer(t)
	out := (&command{args: []string{hey, "-z", "10s", "-c", "10", "-m", "POST", "-d", "{}", "-o", "csv", svc.URL + "/orders"}}).run(t)
	srv.load("orders", write(t, srv.dir, "results.csv", string(out)))
	v, code := srv.verdict("orders", "p95<300ms")
	if code != 4 {
		t.Errorf("check exits %d: a closed loop cannot answer", code)
	}
	want := expect{generator: "hey", grade: "S", loop: "closed", outcome: "inconclusive", sent: svc.arrived.Load(), slack: 10}
	want.check(t, v)
	closed(t, v)
}

// TestWrk runs wrk, which prints a summary alone.
func TestWrk(t *testing.T) {
	t.Parallel()
	wrk := tool(t, "wrk", "bin/wrk")
	svc, srv := newService(t), startServer(t)
	out := (&command{args: []string{wrk, "-t2", "-c10", "-d10s", "--latency", svc.URL + "/orders"}}).run(t)
	srv.load("orders", write(t, srv.dir, "wrk.txt", string(out)))
	v, code := srv.verdict("orders", "p95<300ms")
	if code != 4 {
		t.Errorf("check exits %d: a closed loop cannot answer", code)
	}
	want := expect{generator: "wrk", grade: "F", loop: "closed", outcome: "inconclusive", sent: svc.served.Load(), slack: 20}
	want.check(t, v)
	closed(t, v)
}

const locustfile = `from locust import HttpUser, constant, task

class Shopper(HttpUser):
    wait_time = constant(0)

    @task
    def order(self):
        self.client.post("/orders", json={"sku": "a"})
`

// TestLocust lets Locust export its spans while it runs.
func TestLocust(t *testing.T) {
	t.Parallel()
	locust := tool(t, "locust", "locust/bin/locust")
	svc, srv := newService(t), startServer(t)
	write(t, srv.dir, "locustfile.py", locustfile)
	(&command{
		dir: srv.dir,
		env: []string{
			"OTEL_EXPORTER_OTLP_ENDPOINT=http://" + srv.grpc, "OTEL_RESOURCE_ATTRIBUTES=loadtest.run.id=orders",
			"OTEL_METRIC_EXPORT_INTERVAL=2000",
		},
		args: []string{
			locust, "-f", "locustfile.py", "--headless", "--otel", "-u", "10", "-r", "10", "-t", "10s", "--host", svc.URL, "--only-summary",
		},
	}).run(t)
	v, code := srv.verdict("orders", "p95<300ms")
	if code != 4 {
		t.Errorf("check exits %d: a closed loop cannot answer", code)
	}
	want := expect{generator: "locust", grade: "S", loop: "closed", outcome: "inconclusive", sent: svc.arrived.Load(), slack: 20}
	want.check(t, v)
	closed(t, v)
	if took := time.Duration(v.Totals.DurationS * 1e9); took < 8*time.Second || took > 15*time.Second {
		t.Errorf("the run took %v", took)
	}
}
