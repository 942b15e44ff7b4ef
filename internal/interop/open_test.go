package interop

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// carried are the classes that a load well below what the service can do may
// have on a machine that stands still now and then.
func carried() []string { return []string{wire.ClassStable, wire.ClassInconclusive} }

const gatlingSimulation = `import io.gatling.javaapi.core.*;
import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.*;

public class Orders extends Simulation {
  {
    setUp(scenario("orders").exec(http("order").post("/orders").body(StringBody("{}"))).injectOpen(constantUsersPerSec(70).during(10)))
        .protocols(http.baseUrl(System.getProperty("base")));
  }
}
`

// TestGatling imports the simulation.log of an open injection.
func TestGatling(t *testing.T) {
	t.Parallel()
	java, javac := tool(t, "java"), tool(t, "javac")
	lib := tool(t, "gatling", "gatling/lib")
	svc, srv := newService(t), startServer(t)
	source := write(t, srv.dir, "Orders.java", gatlingSimulation)
	write(t, srv.dir, "logback.xml", "<configuration/>")
	(&command{dir: srv.dir, args: []string{javac, "-cp", lib + "/*", "-d", srv.dir, source}}).run(t)
	(&command{dir: srv.dir, args: []string{
		java, "-Xmx512m", "--add-opens=java.base/java.lang=ALL-UNNAMED", "-Dbase=" + svc.URL, "-cp", srv.dir + ":" + lib + "/*",
		"io.gatling.app.Gatling", "-s", "Orders", "-rf", "results", "-nr",
	}}).run(t)
	logs, err := filepath.Glob(filepath.Join(srv.dir, "results", "*", "simulation.log"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("%v: %v", logs, err)
	}
	srv.load("orders", logs[0])
	v, _ := srv.verdict("orders")
	want := expect{generator: "gatling", grade: text(v.Run.Grade).(string), classes: carried(), sent: svc.arrived.Load()}
	want.check(t, v)
	if v.Audit.Loop == "closed" {
		t.Errorf("loop %s of an open injection", v.Audit.Loop)
	}
}

const artilleryScript = `config:
  target: %s
  phases: [{ name: steady, duration: 10, arrivalRate: 50 }]
  plugins:
    publish-metrics:
      - type: open-telemetry
        serviceName: orders-load
        resourceAttributes: { loadtest.run.id: orders }
        metrics: { exporter: otlp-http, endpoint: "http://%[2]s/v1/metrics" }
        traces: { exporter: otlp-http, endpoint: "http://%[2]s/v1/traces", useRequestNames: true }
scenarios:
  - name: place-order
    flow:
      - post: { url: /orders, name: order, json: { sku: a } }
`

// TestArtillery lets Artillery export its spans and metrics. They say when requests
// were sent; with the schedule declared afterwards, when they were due.
func TestArtillery(t *testing.T) {
	t.Parallel()
	artillery := tool(t, "artillery", "artillery/node_modules/.bin/artillery")
	svc, srv := newService(t), startServer(t)
	script := write(t, srv.dir, "orders.yml", fmt.Sprintf(artilleryScript, svc.URL, srv.otlp))
	(&command{dir: srv.dir, env: []string{"ARTILLERY_DISABLE_TELEMETRY=true", "HOME=" + srv.dir}, args: []string{artillery, "run", script}}).run(t)
	v, _ := srv.verdict("orders")
	want := expect{generator: "artillery", grade: "S", classes: carried(), sent: svc.arrived.Load()}
	want.check(t, v)
	if v.Audit.Loop == "closed" {
		t.Errorf("loop %s of an open phase", v.Audit.Loop)
	}
	if out, code := srv.plimsoll("run", "declare", "--id", "orders", "--schedule", "constant:50/s x 10s"); code != 0 {
		t.Fatalf("declare: %s", out)
	}
	v, _ = srv.verdict("orders")
	want.grade = "B"
	want.check(t, v)
}

// TestOha imports oha's database, which holds when each request was due.
func TestOha(t *testing.T) {
	t.Parallel()
	oha := tool(t, "oha", "bin/oha")
	svc, srv := newService(t), startServer(t)
	db := filepath.Join(srv.dir, "oha.db")
	(&command{dir: srv.dir, args: []string{
		oha, "--no-tui", "-z", "10s", "-q", "70", "-c", "50", "--latency-correction", "-m", "POST", "--db-url", db, svc.URL + "/orders",
	}}).run(t)
	if _, err := os.Stat(db); err != nil {
		t.Fatal(err)
	}
	srv.load("orders", db)
	v, _ := srv.verdict("orders")
	want := expect{generator: "oha", grade: text(v.Run.Grade).(string), classes: carried(), sent: svc.arrived.Load(), slack: 60}
	want.check(t, v)
}

// TestWrk2 imports what wrk2 prints. It corrects its times itself, so nothing is
// corrected again.
func TestWrk2(t *testing.T) {
	t.Parallel()
	wrk2 := tool(t, "wrk2", "bin/wrk2")
	svc, srv := newService(t), startServer(t)
	out := (&command{args: []string{wrk2, "-t2", "-c20", "-d20s", "-R70", "-L", "-U", svc.URL + "/orders"}}).run(t)
	srv.load("orders", write(t, srv.dir, "wrk2.txt", string(out)))
	v, _ := srv.verdict("orders")
	want := expect{generator: "wrk2", grade: text(v.Run.Grade).(string), sent: svc.served.Load(), slack: 40}
	want.check(t, v)
}

// TestFortio writes fortio's access log, which has the form of line protocol, to
// the port for it, and imports the log in its other form, which says more.
func TestFortio(t *testing.T) {
	t.Parallel()
	fortio := tool(t, "fortio", "bin/fortio")
	svc, srv := newService(t), startServer(t)
	load := func(format, log string) int64 {
		before := svc.arrived.Load()
		(&command{dir: srv.dir, args: []string{
			fortio, "load", "-quiet", "-qps", "70", "-c", "14", "-t", "10s", "-uniform", "-payload", "{}",
			"-access-log-file", log, "-access-log-format", format, svc.URL + "/orders",
		}}).run(t)
		return svc.arrived.Load() - before
	}
	sent := load("influx", "access.lines")
	lines, err := os.ReadFile(filepath.Join(srv.dir, "access.lines"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post("http://"+srv.api+"/api/v2/write?bucket=fortio&run=lines", "text/plain", bytes.NewReader(lines))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusNoContent {
		t.Fatalf("write: %s", resp.Status)
	}
	v, _ := srv.verdict("lines")
	want := expect{generator: "fortio", grade: "S", sent: sent, slack: 14} // it warms its connections up without a word in the log
	want.check(t, v)
	want.sent = load("json", "access.json")
	srv.load("json", filepath.Join(srv.dir, "access.json"))
	v, _ = srv.verdict("json")
	want.grade = text(v.Run.Grade).(string)
	want.check(t, v)
}
