package e2e_test

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

const mapping = `attributes:
  loadgen.intended_start: loadtest.intended_time_unix_nano
  loadgen.scenario: loadtest.scenario
`

// TestCaptures replays what a real generator sent, over every wire, and compares
// corrected and uncorrected percentiles with the generator's own summary.
func TestCaptures(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "mapping.yaml")
	if err := os.WriteFile(file, []byte(mapping), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"otelgen-http", "otelgen-stall", "otelgen-workers"} {
		var want struct {
			Requests    int64   `json:"requests"`
			P95         float64 `json:"p95_ms"`
			P99         float64 `json:"p99_ms"`
			IntendedP95 float64 `json:"intended_p95_ms"`
			IntendedP99 float64 `json:"intended_p99_ms"`
		}
		data, err := os.ReadFile(filepath.Join("../../collector/otlp/testdata", name, "expect.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		for _, wireName := range []string{"grpc", "grpc+gzip", "http", "http+gzip"} {
			t.Run(name+"/"+wireName, func(t *testing.T) {
				t.Parallel()
				s := serve(t, t.TempDir(), "--mapping", file)
				zip := strings.HasSuffix(wireName, "+gzip")
				var to sender = httpSender{addr: s.http, zip: zip}
				if strings.HasPrefix(wireName, "grpc") {
					to = newGRPC(t, s.grpc, zip)
				}
				for _, e := range capture(t, name) {
					if err := to.send(t.Context(), e); err != nil {
						t.Fatal(err)
					}
				}
				s.run("run", "finish", "latest")
				v := s.verdict("latest")
				r, u := v.Totals.ResponseTime, v.Totals.ServiceTime
				if r.N != want.Requests || v.Run.Grade == nil || *v.Run.Grade != "A" {
					t.Errorf("n %d, want %d, grade %v", r.N, want.Requests, v.Run.Grade)
				}
				within(t, "corrected p95", r.P95, want.IntendedP95/1e3)
				within(t, "corrected p99", r.P99, want.IntendedP99/1e3)
				within(t, "uncorrected p95", u.P95, want.P95/1e3)
				within(t, "uncorrected p99", u.P99, want.P99/1e3)
			})
		}
	}
}

func within(t *testing.T, what string, e wire.Estimate, want float64) {
	t.Helper()
	if e.Value == nil || math.Abs(*e.Value-want) > 0.01*want {
		t.Errorf("%s: %v, want %g within 1 %%", what, e.Value, want)
	}
}

// run builds a run of 90/s, 130/s and 60/s onto a service of 100/s, with
// retries, and the exports that carry it, in order of time.
func run(t *testing.T, id string, start int64) []export {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	var spans []span
	var exports []export
	free := start
	var retries []span
	due, n := start, 0
	for _, step := range []struct {
		rate, seconds int64
	}{{90, 10}, {130, 10}, {60, 20}} {
		for range step.rate * step.seconds {
			retries = append(retries, span{due: due, sent: due + rng.Int64N(2e6), request: "r" + strconv.Itoa(n), last: true})
			due += 1e9 / step.rate
			n++
		}
	}
	for _, s := range retries {
		free = max(free, s.sent) + int64(10e6*rng.ExpFloat64())
		s.done, s.status = free, 200
		if wait := s.done - s.sent; wait > 1e9 {
			s.done, s.status, s.last = s.sent+1e9, 0, false
			again := s
			again.sent, again.resend, again.last = s.done+20e6, 1, true
			again.done, again.status = again.sent+40e6, 200
			spans = append(spans, again)
		}
		spans = append(spans, s)
	}
	for len(spans) > 0 {
		k := min(40, len(spans))
		exports = append(exports, traces(t, rng, id, spans[:k]))
		spans = spans[k:]
	}
	for s := int64(1); s <= 40; s++ {
		exports = append(exports, counters(t, id, start, start+s*1e9, map[string]float64{"loadtest.arrivals.dropped": float64(s / 10)}))
	}
	return exports
}

// TestSameVerdict gives one run to four servers: live in order, at full speed
// over many connections, shuffled with every tenth request doubled, and through
// a kill in the middle. The documents must not differ.
func TestSameVerdict(t *testing.T) {
	t.Parallel()
	start := time.Now().Add(-time.Hour).UnixNano()
	exports := run(t, "orders-1", start)
	finish := func(s *server) string {
		if out, code := s.run("run", "finish", "orders-1"); code != 0 {
			t.Fatalf("finish: exit %d: %s", code, out)
		}
		return s.document("orders-1")
	}

	ordered := serve(t, t.TempDir())
	for i, e := range exports {
		must(t, httpSender{addr: ordered.http}.send(t.Context(), e))
		if i == len(exports)/2 {
			ordered.document("orders-1") // a look in the middle changes nothing
		}
	}
	want := finish(ordered)

	fast := serve(t, t.TempDir())
	var wg sync.WaitGroup
	client := newGRPC(t, fast.grpc, true)
	for k := range 8 {
		wg.Go(func() {
			for i := k; i < len(exports); i += 8 {
				must(t, client.send(t.Context(), exports[i]))
			}
		})
	}
	wg.Wait()
	if d := cmp.Diff(want, finish(fast)); d != "" {
		t.Errorf("replayed at full speed:\n%s", d)
	}

	rng := rand.New(rand.NewPCG(3, 3))
	doubled := append([]export(nil), exports...)
	for i := range exports {
		if i%10 == 0 {
			doubled = append(doubled, exports[i])
		}
	}
	rng.Shuffle(len(doubled), func(i, j int) { doubled[i], doubled[j] = doubled[j], doubled[i] })
	shuffled := serve(t, t.TempDir())
	for _, e := range doubled {
		must(t, httpSender{addr: shuffled.http, zip: true}.send(t.Context(), e))
	}
	if d := cmp.Diff(want, finish(shuffled)); d != "" {
		t.Errorf("shuffled and doubled:\n%s", d)
	}

	if d := cmp.Diff(want, finish(killed(t, exports))); d != "" {
		t.Errorf("killed in the middle:\n%s", d)
	}
}

// killed sends the run while the server is killed again and again; what was not
// acknowledged is sent again.
func killed(t *testing.T, exports []export) *server {
	t.Helper()
	dir := t.TempDir()
	s := serve(t, dir)
	pending := exports
	for round := 0; len(pending) > 0; round++ {
		var mu sync.Mutex
		var left []export
		var wg sync.WaitGroup
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		to := httpSender{addr: s.http}
		for k := range 4 {
			wg.Go(func() {
				for i := k; i < len(pending); i += 4 {
					if round < 3 && i == len(pending)/3 {
						_ = s.cmd.Process.Kill()
					}
					if to.send(ctx, pending[i]) != nil {
						mu.Lock()
						left = append(left, pending[i])
						mu.Unlock()
					}
				}
			})
		}
		wg.Wait()
		cancel()
		if round < 3 {
			<-s.done
			s.done = nil
			s = serve(t, dir)
		}
		pending = left
	}
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// TestDroppedArrivalsAreInvalid: 61 % dropped, all sent ones answered.
func TestDroppedArrivalsAreInvalid(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	rng := rand.New(rand.NewPCG(8, 8))
	start := time.Now().Add(-time.Minute).UnixNano()
	var spans []span
	for i := range int64(3900) {
		due := start + i*1e9/195
		spans = append(spans, span{due: due, sent: due, done: due + rng.Int64N(320e6), status: 200})
	}
	to := httpSender{addr: s.http}
	must(t, to.send(t.Context(), traces(t, rng, "dropped", spans)))
	must(t, to.send(t.Context(), counters(t, "dropped", start-1, start+20e9, map[string]float64{
		"loadtest.arrivals.dropped": 6100, "loadtest.arrivals.scheduled": 10000,
	})))
	s.run("run", "finish", "dropped")
	out, code := s.run("check", "dropped")
	if code != 4 || !strings.Contains(out, "61 %") {
		t.Errorf("exit %d:\n%s", code, out)
	}
	v := s.verdict("dropped")
	if v.Outcome != wire.OutcomeInvalid || v.Totals.ResponseTime.P99.Value != nil {
		t.Errorf("%s %+v", v.Outcome, v.Totals.ResponseTime)
	}
}
