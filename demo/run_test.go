package demo_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/plimsoll/plimsoll/demo"
	"github.com/plimsoll/plimsoll/demo/generator"
	"github.com/plimsoll/plimsoll/demo/service"
	"github.com/plimsoll/plimsoll/demo/telemetry"
)

// fast is the demonstration in about two seconds: a service of 200/s, pushed to
// 400/s, with patience five times as short.
func fast(fixed bool, endpoint string) demo.Config {
	c := demo.DefaultConfig(fixed, time.Now)
	c.OTLPEndpoint, c.RunID = endpoint, "demo-test"
	c.Service.Slots, c.Service.ServiceTime = 4, 20*time.Millisecond
	c.Timeout, c.Deadline, c.Backoff = 200*time.Millisecond, 400*time.Millisecond, 10*time.Millisecond
	c.Interval, c.ProgressEvery = 200*time.Millisecond, 100*time.Millisecond
	if fixed {
		c.Service.RetryAfter = 0 // a whole second would be beyond every deadline here
	}
	c.Profile = generator.Schedule{
		{Name: "calm", Rate: 50, Duration: 500 * time.Millisecond},
		{Name: "push", Rate: 400, Duration: time.Second},
		{Name: "back", Rate: 100, Duration: 700 * time.Millisecond},
	}
	return c
}

func run(t *testing.T, cfg demo.Config) demo.Result {
	t.Helper()
	result, err := demo.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	balanced(t, "total", result.Generator.Total)
	for _, s := range result.Generator.Steps {
		balanced(t, s.Name, s.Counts)
	}
	return result
}

func balanced(t *testing.T, what string, c generator.Counts) {
	t.Helper()
	if c.Due != c.Dropped+c.Good+c.Late+c.Failed+c.TimedOut+c.Shed+c.Cancelled+c.InFlight || c.InFlight != 0 {
		t.Errorf("%s does not balance: %+v", what, c)
	}
}

func TestBroken(t *testing.T) {
	t.Parallel()
	rec, addr := serveGRPC(t)
	cfg := fast(false, addr)
	var looks []demo.Snapshot
	cfg.Progress = func(s demo.Snapshot) { looks = append(looks, s) }
	result := run(t, cfg)

	total := result.Generator.Total
	if total.Due != 25+400+70 || total.Dropped != 0 {
		t.Errorf("total = %+v", total)
	}
	if back := result.Generator.Steps[2]; back.TimedOut == 0 || back.Attempts < 2*back.Sent() {
		t.Errorf("after the push the service was well: %+v", back)
	}
	if result.Service.Abandoned == 0 {
		t.Errorf("service = %+v, want orders served for clients that had gone", result.Service)
	}
	if n := result.Naive; n == nil || n.Workers != cfg.ClosedWorkers || n.Total.OK == 0 || n.Total.Sent != n.Total.OK+n.Total.Failed {
		t.Errorf("naive twin = %+v", n)
	}
	checkSpans(t, rec, result)
	checkRequests(t, rec, result)
	checkMetrics(t, rec, result)
	checkProgress(t, looks, result)
}

// checkSpans checks each span by itself.
func checkSpans(t *testing.T, rec *receiver, result demo.Result) {
	t.Helper()
	if int64(len(rec.spans)) != result.Generator.Total.Attempts || result.Telemetry.Spans != int64(len(rec.spans)) {
		t.Fatalf("%d spans for %d attempts", len(rec.spans), result.Generator.Total.Attempts)
	}
	for _, s := range rec.spans {
		for key, want := range map[string]any{
			"resource.loadtest.run.id": "demo-test", "resource.loadtest.run.name": "orders",
			"resource.loadtest.generator": "plimsoll-demo", "resource.loadtest.arrival.model": "open",
			"resource.loadtest.arrival.process": "constant", "resource.loadtest.deadline": 0.4,
			"resource.service.name": "orders-loadtest", "loadtest.scenario": "orders",
			"http.request.method": "POST", "server.address": "127.0.0.1", "url.template": "/orders",
		} {
			if s.attrs[key] != want {
				t.Fatalf("%s = %v, want %v", key, s.attrs[key], want)
			}
		}
		due, ok := s.attrs["loadtest.intended_time_unix_nano"].(int64)
		if !ok || s.kind != ptrace.SpanKindClient || s.start < due || s.end < s.start {
			t.Fatalf("span %+v: due %d", s, due)
		}
		status, answered := s.attrs["http.response.status_code"]
		if kind := s.attrs["error.type"]; answered != (status == int64(201)) && kind == nil || !answered && kind == nil {
			t.Fatalf("span without an outcome: %+v", s.attrs)
		}
	}
}

// checkRequests joins the attempts and compares them with the generator's books.
func checkRequests(t *testing.T, rec *receiver, result demo.Result) {
	t.Helper()
	type request struct {
		due, count int64
		resends    map[int64]bool
		last       int
		lastEnd    int64
		newestEnd  int64
	}
	requests := map[string]*request{}
	for _, s := range rec.spans {
		id, _ := s.attrs["loadtest.request.id"].(string)
		r := requests[id]
		due := s.attrs["loadtest.intended_time_unix_nano"].(int64)
		if r == nil {
			r = &request{due: due, resends: map[int64]bool{}}
			requests[id] = r
		}
		if r.due != due {
			t.Fatalf("request %s has two due times", id)
		}
		resend, _ := s.attrs["http.request.resend_count"].(int64)
		if r.resends[resend] {
			t.Fatalf("request %s has two attempts %d", id, resend)
		}
		r.resends[resend] = true
		r.newestEnd = max(r.newestEnd, s.end)
		if s.attrs["loadtest.attempt.last"] == true {
			r.last++
			r.lastEnd = s.end
		}
		if r.count++; r.count > 3 {
			t.Fatalf("request %s has %d attempts", id, r.count)
		}
	}
	if int64(len(requests)) != result.Generator.Total.Sent() {
		t.Errorf("%d requests, want %d", len(requests), result.Generator.Total.Sent())
	}
	retried := 0
	for id, r := range requests {
		if r.last != 1 || r.lastEnd != r.newestEnd {
			t.Fatalf("request %s: %d last attempts of %d, ending at %d of %d", id, r.last, r.count, r.lastEnd, r.newestEnd)
		}
		for i := range r.count {
			if !r.resends[i] {
				t.Fatalf("request %s: attempt %d of %d is missing", id, i, r.count)
			}
		}
		if r.count > 1 {
			retried++
		}
	}
	if retried == 0 {
		t.Error("no request was retried")
	}
}

func checkMetrics(t *testing.T, rec *receiver, result demo.Result) {
	t.Helper()
	check := func(service, metric string, want float64) {
		t.Helper()
		if got, points := rec.last(service, metric); got != want || points < 5 {
			t.Errorf("%s = %v over %d points, want %v", metric, got, points, want)
		}
	}
	check("orders-loadtest", "loadtest.arrivals.scheduled", float64(result.Generator.Total.Due))
	check("orders-loadtest", "loadtest.arrivals.dropped", float64(result.Generator.Total.Dropped))
	check("orders-loadtest", "loadtest.requests.in_flight", 0)
	check("orders", "orders.slots.limit", 4)
	if v, _ := rec.last("orders", "http.server.request.duration"); v == 0 {
		t.Error("the service exported no durations")
	}
	if v, points := rec.last("orders", "orders.queue.depth"); points < 5 {
		t.Errorf("queue depth: %d points, newest %v", points, v)
	}
	// The integral is the sum of all stays, as the spans have them.
	first, last := map[string]int64{}, map[string]int64{}
	for _, s := range rec.spans {
		id := s.attrs["loadtest.request.id"].(string)
		if at, ok := first[id]; !ok || s.start < at {
			first[id] = s.start
		}
		last[id] = max(last[id], s.end)
	}
	sum := 0.0
	for id := range first {
		sum += float64(last[id]-first[id]) / 1e9
	}
	if got, _ := rec.last("orders-loadtest", "loadtest.requests.in_flight_time"); got < 0.98*sum || got > 1.02*sum+0.1 {
		t.Errorf("in_flight_time = %.3f, spans say %.3f", got, sum)
	}
}

func checkProgress(t *testing.T, looks []demo.Snapshot, result demo.Result) {
	t.Helper()
	if len(looks) < 10 {
		t.Fatalf("%d snapshots", len(looks))
	}
	seen := map[string]bool{}
	for _, s := range looks {
		seen[s.Step] = true
	}
	if !seen["push"] || !seen[demo.Draining] {
		t.Errorf("steps seen: %v", seen)
	}
	if newest := looks[len(looks)-1]; newest.Counts != result.Generator.Total || newest.Offered != 0 {
		t.Errorf("newest snapshot = %+v, want the total %+v", newest, result.Generator.Total)
	}
}

func TestFixed(t *testing.T) {
	t.Parallel()
	rec, addr := serveGRPC(t)
	result := run(t, fast(true, addr))
	push, back := result.Generator.Steps[1], result.Generator.Steps[2]
	if push.Shed == 0 || push.Good == 0 {
		t.Errorf("push = %+v, want orders both served and shed", push)
	}
	if back.Good < back.Due*9/10 {
		t.Errorf("after the push only %d of %d were good", back.Good, back.Due)
	}
	if extra := result.Generator.Total.Attempts - result.Generator.Total.Sent(); extra == 0 || extra > result.Generator.Total.Sent()/10+1 {
		t.Errorf("%d retries of %d requests, want some, at most a tenth", extra, result.Generator.Total.Sent())
	}
	checkSpans(t, rec, result)
	checkRequests(t, rec, result)
}

func TestHTTPAndDrops(t *testing.T) {
	t.Parallel()
	rec, addr := serveHTTP(t)
	cfg := fast(false, addr)
	cfg.OTLPProtocol, cfg.MaxInFlight, cfg.ClosedWorkers = telemetry.HTTP, 20, 0
	result := run(t, cfg)
	if result.Generator.Total.Dropped == 0 || result.Naive != nil {
		t.Errorf("result = %+v, want drops and no twin", result)
	}
	checkSpans(t, rec, result)
	checkMetrics(t, rec, result)
}

// A stopped run delivers what there is.
func TestCancelled(t *testing.T) {
	t.Parallel()
	rec, addr := serveGRPC(t)
	ctx, cancel := context.WithCancel(t.Context())
	cfg := fast(false, addr)
	cfg.Progress = func(s demo.Snapshot) {
		if s.Step == "push" && s.Waiting > 20 {
			cancel()
		}
	}
	result, err := demo.Run(ctx, cfg)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error = %v, want the context's", err)
	}
	if strings.Contains(err.Error(), "lost") || result.Generator.Total.Cancelled == 0 || result.Generator.Total.Due >= 495 {
		t.Errorf("error %v, total %+v", err, result.Generator.Total)
	}
	balanced(t, "total", result.Generator.Total)
	checkSpans(t, rec, result)
	last := 0
	for _, s := range rec.spans {
		if s.attrs["loadtest.attempt.last"] == true {
			last++
		}
	}
	if int64(last) != result.Generator.Total.Sent() {
		t.Errorf("%d last attempts of %d requests", last, result.Generator.Total.Sent())
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	listener.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	cfg := fast(false, addr)
	cfg.OTLPProtocol = telemetry.HTTP
	if result, err := demo.Run(ctx, cfg); err == nil || result.Generator.Total.Due != 0 {
		t.Errorf("error = %v, total = %+v; want an error before the first request", err, result.Generator.Total)
	}
}

func TestPreparedAndDeclaration(t *testing.T) {
	t.Parallel()
	now := func() time.Time { return time.Date(2026, 11, 30, 10, 0, 7, 0, time.UTC) }
	for _, fixed := range []bool{false, true} {
		cfg := demo.DefaultConfig(fixed, now)
		cfg.Scale = 0.5
		cfg, err := cfg.Prepared()
		if err != nil {
			t.Fatal(err)
		}
		again, err := cfg.Prepared()
		if err != nil || again.Expected() != cfg.Expected() {
			t.Errorf("preparing twice changed the run: %v, %v", again.Expected(), err)
		}
		want := map[bool]string{false: "demo-20261130-100007", true: "demo-fixed-20261130-100007"}[fixed]
		d := cfg.Declaration()
		if cfg.RunID != want || d.ID != want || d.Name != "orders" || *d.DeadlineS != 2 || *d.TimeoutS < 3 || len(d.Objectives) != 0 {
			t.Errorf("declaration = %+v", d)
		}
		var got []string
		for _, s := range d.Steps {
			got = append(got, fmt.Sprintf("%gx%g", s.RatePerS, s.DurationS))
		}
		if strings.Join(got, " ") != "40x4 60x4 80x4 90x4 130x5 60x9" {
			t.Errorf("steps = %v", got)
		}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	check := func(want string, change func(*demo.Config)) {
		t.Helper()
		cfg := demo.DefaultConfig(false, time.Now)
		change(&cfg)
		if _, err := demo.Run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want one about %q", err, want)
		}
	}
	check("not on this machine", func(c *demo.Config) { c.OTLPEndpoint = "192.0.2.1:4317" })
	check("host:port", func(c *demo.Config) { c.OTLPEndpoint = "nonsense" })
	check("protocol", func(c *demo.Config) { c.OTLPProtocol = "udp" })
	check("scale", func(c *demo.Config) { c.Scale = 0 })
	check("at least one step", func(c *demo.Config) { c.Profile = nil })
	check("slots", func(c *demo.Config) { c.Service = service.Config{} })
	check("clock", func(c *demo.Config) { c.Now = nil })
	check("closed workers", func(c *demo.Config) { c.ClosedWorkers = -1 })
	check("attempts", func(c *demo.Config) { c.Attempts = 0 })
	check("interval", func(c *demo.Config) { c.Interval = 0 })
}
