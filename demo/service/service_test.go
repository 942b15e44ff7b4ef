package service_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/plimsoll/plimsoll/demo/service"
)

func start(t *testing.T, cfg service.Config) *service.Service {
	t.Helper()
	s, err := service.Start(t.Context(), cfg, noop.Meter{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

// post sends one order and returns its status; 0 when the client gave up.
func post(t *testing.T, url string, timeout time.Duration, header ...string) (int, http.Header) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("{}"))
	if err != nil {
		t.Error(err)
		return 0, nil
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, resp.Header
}

// eventually waits for a condition that other goroutines bring about.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for limit := time.Now().Add(5 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("timed out waiting until %s", what)
		}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for _, c := range []service.Config{service.Broken(), service.Fixed()} {
		if err := c.Validate(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		if c.Capacity() != 100 {
			t.Errorf("capacity = %v, want 100", c.Capacity())
		}
	}
	err := service.Config{Jitter: 1, QueueLimit: -1, RetryAfter: -1}.Validate()
	for _, want := range []string{"slots", "service time", "jitter", "queue limit", "retry after"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not name %q", err, want)
		}
	}
	if _, err := service.Start(t.Context(), service.Config{}, noop.Meter{}, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("an invalid configuration was started")
	}
}

// A full pool works at exactly slots / service time, whatever the timers do.
func TestCapacityIsExact(t *testing.T) {
	t.Parallel()
	s := start(t, service.Config{Slots: 2, ServiceTime: 5 * time.Millisecond})
	began := time.Now()
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			if status, _ := post(t, s.URL(), 10*time.Second); status != http.StatusCreated {
				t.Errorf("status = %d", status)
			}
		})
	}
	wg.Wait()
	if d := time.Since(began); d < 245*time.Millisecond { // 100 orders at 400/s; no upper bound on a busy machine
		t.Errorf("100 orders took %v, less than the pool allows", d)
	}
}

// The broken service works for clients that have gone.
func TestBrokenServesTheGone(t *testing.T) {
	t.Parallel()
	s := start(t, service.Config{Slots: 1, ServiceTime: 40 * time.Millisecond})
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() { post(t, s.URL(), 20*time.Millisecond, service.TimeoutHeader, "20") })
	}
	wg.Wait() // all have given up
	eventually(t, "all orders are served", func() bool { return s.Stats().Served == 5 })
	if st := s.Stats(); st.Abandoned != 5 || st.Expired != 0 || st.Shed != 0 {
		t.Errorf("stats = %+v, want 5 orders served for nobody", st)
	}
}

func TestFixedDropsExpired(t *testing.T) {
	t.Parallel()
	s := start(t, service.Config{Slots: 1, ServiceTime: 100 * time.Millisecond, DropExpired: true})
	var wg sync.WaitGroup
	var gateway, gone atomic.Int64
	send := func(timeout time.Duration, header ...string) {
		wg.Go(func() {
			switch status, _ := post(t, s.URL(), timeout, header...); status {
			case http.StatusGatewayTimeout:
				gateway.Add(1)
			case 0:
				gone.Add(1)
			}
		})
	}
	send(5 * time.Second)
	eventually(t, "the slot is taken", func() bool { return s.Stats().Accepted == 1 && s.Stats().Waiting == 0 })
	send(5*time.Second, service.TimeoutHeader, "10") // waits for the answer, but said 10 ms
	send(20 * time.Millisecond)                      // leaves
	wg.Wait()
	eventually(t, "the queue is empty", func() bool { st := s.Stats(); return st.Served+st.Expired == 3 })
	if st := s.Stats(); st.Served != 1 || st.Expired != 2 || gateway.Load() != 1 || gone.Load() != 1 {
		t.Errorf("stats = %+v, %d answered 504, %d left", st, gateway.Load(), gone.Load())
	}
}

func TestFixedSheds(t *testing.T) {
	t.Parallel()
	s := start(t, service.Config{Slots: 1, ServiceTime: 200 * time.Millisecond, QueueLimit: 2, RetryAfter: 1500 * time.Millisecond})
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() { post(t, s.URL(), 5*time.Second) })
		eventually(t, "the order is queued", func() bool { st := s.Stats(); return st.Accepted == int64(i+1) && st.Waiting == i })
	}
	began := time.Now()
	status, header := post(t, s.URL(), 5*time.Second)
	if status != http.StatusServiceUnavailable || header.Get("Retry-After") != "2" {
		t.Errorf("status = %d, Retry-After = %q; want 503 and 2 (rounded up)", status, header.Get("Retry-After"))
	}
	if d := time.Since(began); d > 150*time.Millisecond {
		t.Errorf("refusing took %v", d)
	}
	wg.Wait()
	if st := s.Stats(); st.Shed != 1 || st.Served != 3 || st.Deepest != 2 {
		t.Errorf("stats = %+v", st)
	}
}

func TestCloseAnswersTheQueue(t *testing.T) {
	t.Parallel()
	s := start(t, service.Config{Slots: 1, ServiceTime: time.Hour})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if status, _ := post(t, s.URL(), 10*time.Second); status != http.StatusServiceUnavailable {
				t.Errorf("status = %d, want 503", status)
			}
		})
	}
	eventually(t, "the orders are in", func() bool { st := s.Stats(); return st.Accepted == 3 && st.Waiting == 2 })
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if st := s.Stats(); st.Stopped != 3 {
		t.Errorf("stats = %+v", st)
	}
}

func TestRefusesOtherRequests(t *testing.T) {
	t.Parallel()
	s := start(t, service.Broken())
	resp, err := http.Get(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET: status = %d", resp.StatusCode)
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	reader := sdkmetric.NewManualReader()
	meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("orders")
	s, err := service.Start(t.Context(), service.Config{Slots: 1, ServiceTime: time.Hour}, meter, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() { post(t, s.URL(), 10*time.Second) })
	}
	eventually(t, "the orders are in", func() bool { st := s.Stats(); return st.Accepted == 3 && st.Waiting == 2 })
	check := func(want map[string]int64) {
		t.Helper()
		var rm metricdata.ResourceMetrics
		if err := reader.Collect(t.Context(), &rm); err != nil {
			t.Fatal(err)
		}
		got := map[string]int64{}
		for _, m := range rm.ScopeMetrics[0].Metrics {
			switch data := m.Data.(type) {
			case metricdata.Gauge[int64]:
				got[m.Name] = data.DataPoints[0].Value
			case metricdata.Sum[int64]:
				got[m.Name] = data.DataPoints[0].Value
			case metricdata.Histogram[float64]:
				got[m.Name] = int64(data.DataPoints[0].Count)
			}
		}
		for name, v := range want {
			if got[name] != v {
				t.Errorf("%s = %d, want %d", name, got[name], v)
			}
		}
	}
	check(map[string]int64{"http.server.active_requests": 3, service.QueueDepthMetric: 2, service.SlotsBusyMetric: 1, service.SlotsLimitMetric: 1})
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	wg.Wait()
	check(map[string]int64{"http.server.active_requests": 0, "http.server.request.duration": 3})
}
