package generator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.opentelemetry.io/otel/metric/noop"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

func TestBudget(t *testing.T) {
	t.Parallel()
	unlimited := &budget{}
	for range 100 {
		if !unlimited.take() {
			t.Fatal("an unlimited budget refused")
		}
	}
	b := &budget{share: 0.1}
	if b.take() {
		t.Error("a retry before any request had earned it")
	}
	for range 10 {
		b.request()
	}
	if !b.take() || b.take() {
		t.Error("ten requests must earn one retry")
	}
	for range 10000 {
		b.request()
	}
	n := 0
	for b.take() {
		n++
	}
	if n != maxSaved {
		t.Errorf("saved up %d retries, want %d", n, maxSaved)
	}
}

func TestLedgerBalances(t *testing.T) {
	t.Parallel()
	l := newLedger(Schedule{{Rate: 1, Duration: time.Second}, {Rate: 1, Duration: time.Second}})
	for i := range 8 {
		if admitted := l.admit(i%2, 7); admitted != (i < 7) {
			t.Errorf("arrival %d admitted: %v", i, admitted)
		}
	}
	for i, o := range []Outcome{OK, OK, Failed, TimedOut, Shed, Cancelled} {
		l.attempt(i % 2)
		l.end(i%2, o, time.Duration(i+1)*time.Second, 1500*time.Millisecond)
	}
	got := l.report()
	want := Counts{Due: 8, Dropped: 1, Good: 1, Late: 1, Failed: 1, TimedOut: 1, Shed: 1, Cancelled: 1, InFlight: 1, Attempts: 6}
	if got.Total != want {
		t.Errorf("total = %+v, want %+v", got.Total, want)
	}
	// Step 0 had answers at 1 s, 3 s and a shed one that is not in.
	if s := got.Steps[0]; s.P50 != time.Second || s.P99 != 3*time.Second || s.Completed() != 1 || s.Sent() != 4 {
		t.Errorf("step 0 = %+v", s)
	}
	if quantile(nil, 0.5) != 0 {
		t.Error("quantile of nothing")
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	check := func(err error, outcome Outcome, kind string, retriable bool) {
		t.Helper()
		got := failure(context.Background(), fmt.Errorf("post: %w", err), 0)
		if got.outcome != outcome || got.errorType != kind || got.retriable() != retriable {
			t.Errorf("%v: %+v, retriable %v", err, got, got.retriable())
		}
	}
	check(context.DeadlineExceeded, TimedOut, "timeout", true)
	check(os.ErrDeadlineExceeded, TimedOut, "timeout", true)
	check(syscall.ECONNREFUSED, Failed, "connection_refused", false)
	check(syscall.ECONNRESET, Failed, "connection_reset", false)
	check(io.EOF, Failed, "connection_reset", false)
	check(syscall.EMFILE, Failed, "too_many_open_files", false)
	check(errors.New("else"), Failed, "_OTHER", false)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got := failure(ctx, context.DeadlineExceeded, 0); got.outcome != Cancelled || got.retriable() {
		t.Errorf("in a stopped run: %+v", got)
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	check := func(status int, outcome Outcome, retriable bool) {
		t.Helper()
		got := judge(&http.Response{StatusCode: status, Header: http.Header{"Retry-After": {"2"}}})
		if got.outcome != outcome || got.retriable() != retriable || got.status != status || (got.errorType == "") != (outcome == OK) {
			t.Errorf("%d: %+v, retriable %v", status, got, got.retriable())
		}
		if (got.retryAfter == 2*time.Second) != (outcome == Shed) {
			t.Errorf("%d: retry after %v", status, got.retryAfter)
		}
	}
	check(201, OK, false)
	check(400, Failed, false)
	check(404, Failed, false)
	check(408, TimedOut, true)
	check(429, Shed, true)
	check(500, Failed, true)
	check(503, Shed, true)
	check(504, TimedOut, true)
}

func TestAgain(t *testing.T) {
	t.Parallel()
	cfg := valid()
	cfg.HonourRetryAfter = true
	g, err := New(cfg, tracenoop.Tracer{}, noop.Meter{})
	if err != nil {
		t.Fatal(err)
	}
	due := time.Unix(0, 0)
	check := func(got answer, attempt int, doneAfter time.Duration, lo, hi time.Duration, again bool) {
		t.Helper()
		pause, ok := g.again(got, attempt, due, due.Add(doneAfter))
		if ok != again || pause < lo || pause > hi {
			t.Errorf("%+v after attempt %d: pause %v, again %v", got, attempt, pause, ok)
		}
	}
	timedOut, shed := answer{outcome: TimedOut}, answer{outcome: Shed, status: 503, retryAfter: time.Second}
	check(answer{status: 201}, 0, 0, 0, 0, false)
	check(timedOut, 0, time.Second, 10e6, 15e6, true)
	check(timedOut, 1, time.Second, 20e6, 30e6, true)
	check(timedOut, 2, time.Second, 0, 0, false) // the third was the last
	check(shed, 0, 0, time.Second, 1010*time.Millisecond, true)
	check(shed, 0, time.Second, 0, 0, false) // would be after the deadline of 2 s
}

func valid() Config {
	return Config{
		URL: "http://127.0.0.1:1/orders", RunID: "r", Scenario: "s", Schedule: Schedule{{Rate: 100, Duration: 100 * time.Millisecond}},
		Timeout: time.Second, Attempts: 3, Backoff: 10 * time.Millisecond, Deadline: 2 * time.Second, MaxInFlight: 10,
	}
}

func TestLongest(t *testing.T) {
	t.Parallel()
	c := valid()
	if got, want := c.Longest(), 3*time.Second+45*time.Millisecond; got != want {
		t.Errorf("longest = %v, want %v", got, want)
	}
	c.HonourRetryAfter = true
	if got, want := c.Longest(), 4*time.Second+45*time.Millisecond; got != want {
		t.Errorf("with Retry-After: %v, want %v", got, want)
	}
}

func TestConfigValidate(t *testing.T) {
	t.Parallel()
	if err := valid().Validate(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Config){
		"url": func(c *Config) { c.URL = "https://x/" }, "run": func(c *Config) { c.RunID = "" },
		"timeout": func(c *Config) { c.Timeout = 0 }, "attempts": func(c *Config) { c.Attempts = 0 },
		"backoff": func(c *Config) { c.Backoff = -1 }, "deadline": func(c *Config) { c.Deadline = -1 },
		"budget": func(c *Config) { c.RetryBudget = 2 }, "cap": func(c *Config) { c.MaxInFlight = 0 },
	} {
		c := valid()
		change(&c)
		if _, err := New(c, tracenoop.Tracer{}, noop.Meter{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := (Closed{}).Run(t.Context(), time.Now()); err == nil {
		t.Error("an empty closed loop ran")
	}
}

// A server that stalls holds the closed loop up, not the open one.
func TestOpenAndClosedDuringAStall(t *testing.T) {
	t.Parallel()
	stalled := func() (*httptest.Server, *atomic.Int64) {
		var n atomic.Int64
		stall := make(chan struct{})
		s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			if n.Add(1) == 1 {
				time.AfterFunc(500*time.Millisecond, func() { close(stall) })
			}
			<-stall // for the first half second; then everything is answered at once
		}))
		t.Cleanup(s.Close)
		return s, &n
	}
	schedule := Schedule{{Name: "only", Rate: 100, Duration: time.Second}}

	server, _ := stalled()
	cfg := valid()
	cfg.URL, cfg.Schedule, cfg.MaxInFlight, cfg.Timeout = server.URL, schedule, 1000, 5*time.Second
	g, err := New(cfg, tracenoop.Tracer{}, noop.Meter{})
	if err != nil {
		t.Fatal(err)
	}
	open := g.Run(t.Context(), time.Now())
	if open.Total.Due != 100 || open.Total.Completed() != 100 || open.Total.Attempts != 100 {
		t.Errorf("open loop = %+v", open.Total)
	}
	if p := open.Steps[0].P95; p < 400*time.Millisecond {
		t.Errorf("open loop: p95 = %v, want most of the stall", p)
	}

	server, _ = stalled()
	closed, err := Closed{URL: server.URL, Schedule: schedule, Workers: 2, Timeout: 5 * time.Second}.Run(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	// Two sends were caught by the stall and the 48 after them were never made.
	if n := closed.Total.Sent; n > 60 || closed.Total.OK != n {
		t.Errorf("closed loop sent %d, want about half", n)
	}
	if closed.Total.P50 > 100*time.Millisecond {
		t.Errorf("closed loop: p50 = %v, want it blind to the stall", closed.Total.P50)
	}
}
