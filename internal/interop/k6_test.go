package interop

import (
	"fmt"
	"math"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// k6Scenario is a script for k6 that places orders, and what must be said of it.
type k6Scenario struct {
	name, executor string
	retries        bool // up to three attempts of at most 2 s
	objectives     []string
	judge          func(t *testing.T, v *wire.Verdict, code int)
}

const k6Script = `import http from 'k6/http';
import { check } from 'k6';
export const options = { scenarios: { orders: { %s } } };
export default function () {
  let ok = false;
  for (let attempt = 1; attempt <= %d && !ok; attempt++) {
    const res = http.post('%s/orders', '{"sku":"a"}', { timeout: '%s', tags: { attempt: String(attempt)%s } });
    ok = res.status === 200;
  }
  check(ok, { 'order accepted': (v) => v });
}
`

// k6Joined are tags that join the attempts of a request. Over OTLP each would make
// a series of its own.
const k6Joined = ", 'loadtest.request.id': `${__VU}-${__ITER}`, 'http.request.resend_count': String(attempt - 1)"

func k6Scenarios() []k6Scenario {
	const (
		constant = `executor: 'constant-arrival-rate', timeUnit: '1s', preAllocatedVUs: 50, maxVUs: 200, `
		ramping  = `executor: 'ramping-arrival-rate', timeUnit: '1s', preAllocatedVUs: 100, `
	)
	objective := []string{"p95<300ms"}
	return []k6Scenario{
		{name: "closed", executor: `executor: 'constant-vus', vus: 10, duration: '20s'`, objectives: objective, judge: judgeClosed},
		{name: "over", executor: constant + `rate: 150, duration: '30s'`, objectives: objective, judge: judgeOver},
		{name: "over, no objective", executor: constant + `rate: 150, duration: '20s'`, judge: judgeNoPass},
		{name: "below", executor: constant + `rate: 80, duration: '30s'`, judge: judgeBelow},
		{name: "ramp", executor: ramping + `startRate: 50, stages: [{ target: 150, duration: '60s' }], maxVUs: 1000`, judge: judgeRamp},
		{
			name: "retries", retries: true, judge: judgeSustained,
			executor: ramping + `startRate: 90, maxVUs: 400, stages: [{ target: 90, duration: '20s' }, { target: 150, duration: '0s' }, ` +
				`{ target: 150, duration: '20s' }, { target: 60, duration: '0s' }, { target: 60, duration: '40s' }]`,
		},
	}
}

func judgeClosed(t *testing.T, v *wire.Verdict, code int) {
	t.Helper()
	closed(t, v)
	if code != 4 || v.Audit.Loop != "closed" {
		t.Errorf("exit %d, loop %s", code, v.Audit.Loop)
	}
}

func judgeOver(t *testing.T, v *wire.Verdict, code int) {
	t.Helper()
	if code != 3 || v.Audit.Loop != "capped" {
		t.Errorf("exit %d, loop %s: an overload has to fail its objective", code, v.Audit.Loop)
	}
	if r := v.Totals.DroppedRatio; r < 0.25 || r > 0.45 {
		t.Errorf("dropped %v, about 30 %% were", r)
	}
	if p := v.Totals.ResponseTime.P95.Value; p != nil {
		t.Errorf("a p95 of %v s was made of those that were sent", *p)
	}
}

func judgeNoPass(t *testing.T, v *wire.Verdict, code int) {
	t.Helper()
	if code == 0 {
		t.Errorf("an overload passes: %s", v.Headline)
	}
	t.Logf("attempts per request %v, metastability %s", text(v.Totals.AttemptsPerReq), v.Metastability.State)
}

// judgeSustained looks at retries that keep a service overloaded, where attempts
// can be told from requests and requests from each other: not in counts.
func judgeSustained(t *testing.T, v *wire.Verdict, code int) {
	t.Helper()
	judgeNoPass(t, v, code)
	if v.Run.Grade == nil || *v.Run.Grade != "C" {
		return
	}
	switch {
	case len(v.Steps) < 3: // on a machine that stands still k6 starts and drops in bursts, and its stages cannot be seen
		t.Logf("%d steps were found of three", len(v.Steps))
	case v.Metastability.State != "sustained":
		t.Errorf("%s after the push: %s", v.Metastability.State, v.Headline)
	}
	if a := v.Totals.AttemptsPerReq; a == nil || *a < 1.9 || *a > 2.5 {
		t.Errorf("%v attempts per request, about 2.1 were", text(a))
	}
}

func judgeBelow(t *testing.T, v *wire.Verdict, _ int) {
	t.Helper()
	if c := v.Steps[0].Class; c != wire.ClassStable && c != wire.ClassInconclusive {
		t.Errorf("%s at 80/s: %s", c, v.Headline)
	}
	if v.Audit.Loop == "closed" {
		t.Errorf("an open load is called closed: %s", v.Headline)
	}
}

func judgeRamp(t *testing.T, v *wire.Verdict, _ int) {
	t.Helper()
	if c := v.Knee.Capacity; c != nil && c.Lo != nil && (*c.Lo > 101 || *c.Lo < 50) {
		t.Errorf("capacity of at least %g/s, it is 100/s", *c.Lo)
	}
}

// TestK6 runs the published demonstration: a closed loop, overload, a load that
// is carried, a ramp, and an overload that retries keep up, through OTLP and
// through line protocol.
func TestK6(t *testing.T) {
	t.Parallel()
	for _, sc := range k6Scenarios() {
		for _, way := range []string{"otlp", "influx", "json"} {
			t.Run(sc.name+"/"+way, func(t *testing.T) {
				t.Parallel()
				k6 := tool(t, "k6", "bin/k6")
				svc, srv := newService(t), startServer(t)
				attempts, timeout, joined := 1, "60s", ""
				if sc.retries {
					attempts, timeout = 3, "2s"
				}
				if sc.retries && way == "influx" {
					joined = k6Joined
				}
				script := write(t, srv.dir, "orders.js", fmt.Sprintf(k6Script, sc.executor, attempts, svc.URL, timeout, joined))
				c := command{dir: srv.dir, args: []string{k6, "run", "--no-usage-report", "--no-color", "--quiet", "--tag", "testid=orders"}}
				switch way {
				case "otlp":
					c.args = append(c.args, "--out", "opentelemetry")
					c.env = []string{
						"K6_OTEL_EXPORTER_PROTOCOL=grpc", "K6_OTEL_GRPC_EXPORTER_INSECURE=true", "K6_OTEL_GRPC_EXPORTER_ENDPOINT=" + srv.grpc,
						"K6_OTEL_EXPORT_INTERVAL=1s", "OTEL_RESOURCE_ATTRIBUTES=loadtest.run.id=orders",
					}
				case "influx":
					c.args = append(c.args, "--out", "influxdb=http://"+srv.api+"/k6")
				default:
					c.args = append(c.args, "--out", "json=results.json")
				}
				c.args = append(c.args, script)
				c.run(t)
				if way == "json" {
					srv.load("orders", srv.dir+"/results.json")
				}
				v, code := srv.verdict("orders", sc.objectives...)
				if v.Run.Generator != "k6" {
					t.Errorf("generator %q", v.Run.Generator)
				}
				if grade := map[string]string{"otlp": "F", "influx": "C", "json": "C"}[way]; sc.name != "closed" && text(v.Run.Grade) != grade {
					t.Errorf("grade %v, want %s", text(v.Run.Grade), grade)
				}
				if n, saw := float64(v.Totals.Sent), float64(svc.arrived.Load()); !sc.retries && math.Abs(n-saw) > 2+0.001*saw {
					t.Errorf("%v sent, the service saw %v", n, saw)
				}
				sc.judge(t, v, code)
			})
		}
	}
}
