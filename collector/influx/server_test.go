package influx

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/plimsoll/plimsoll/collector/convention"
	"github.com/plimsoll/plimsoll/collector/journal"
)

const good = "jmeter,status=ok,transaction=a,threadName=t1 duration=5,ttfb=4,connectTime=0 " + stamp + "\n"

func serve(t testing.TB, k *keeper, change func(*Config)) http.Handler {
	t.Helper()
	cfg := DefaultConfig()
	if change != nil {
		change(&cfg)
	}
	s, err := New(cfg, k, convention.Default(), func() time.Time { return time.Unix(1_796_065_900, 0) }, slog.New(slog.DiscardHandler), NewMetrics(metrics.NewSet()))
	if err != nil {
		t.Fatal(err)
	}
	return s.Handler()
}

// answer is what a call was told.
type answer struct {
	status int
	header http.Header
	body   map[string]any
}

func call(t testing.TB, h http.Handler, method, target, body string, headers ...string) answer {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	a := answer{status: w.Code, header: w.Header()}
	if data, _ := io.ReadAll(w.Body); len(data) > 0 {
		if err := json.Unmarshal(data, &a.body); err != nil {
			t.Fatalf("%s: %v: %s", target, err, data)
		}
	}
	return a
}

// TestAnswers compares answers with those of InfluxDB 1.8 and 2.
func TestAnswers(t *testing.T) {
	t.Parallel()
	h := serve(t, &keeper{}, nil)
	for _, c := range []struct {
		method, target, body string
		status               int
		key, text            string
		line                 float64
	}{
		{"POST", "/write?db=jmeter", good, 204, "", "", 0},
		{"POST", "/api/v2/write?org=o&bucket=b&precision=ns", good, 204, "", "", 0},
		{"POST", "/write?db=x", "", 204, "", "", 0},
		{"POST", "/api/v2/write?bucket=b", "", 400, "message", "writing requires points", 0},
		{"POST", "/write?db=x", "cpu\n", 400, "error", "unable to parse 'cpu': missing fields", 1},
		{"POST", "/write?db=x", good + "cpu\n", 400, "error", "partial write: unable to parse 'cpu': missing fields dropped=1", 2},
		{"POST", "/api/v2/write?bucket=b", good + "# c\ncpu v=x 5\n", 400, "message", "partial write: unable to parse 'cpu v=x 5': invalid boolean dropped=1", 3},
		{"POST", "/write?precision=d", good, 400, "error", "invalid precision; valid precision units are ns, us, ms, and s", 0},
		{"GET", "/write?db=x", "", 405, "error", "use POST", 0},
		{"POST", "/query?q=CREATE+DATABASE+k6", "", 200, "results", "", 0},
		{"GET", "/query?q=create%20database%20%22k6%22", "", 200, "results", "", 0},
		{"POST", "/query?q=DROP+DATABASE+k6", "", 400, "error", "only CREATE DATABASE is understood: nothing can be queried here, verdicts are at /api/v1/runs", 0},
		{"GET", "/ping", "", 204, "", "", 0},
		{"GET", "/ping?verbose=true", "", 200, "version", "1.8-plimsoll-devel", 0},
		{"GET", "/health", "", 200, "status", "pass", 0},
	} {
		a := call(t, h, c.method, c.target, c.body)
		if a.status != c.status {
			t.Errorf("%s %s: %d %v, want %d", c.method, c.target, a.status, a.body, c.status)
			continue
		}
		if c.text != "" && a.body[c.key] != c.text {
			t.Errorf("%s %s: %v, want %q", c.method, c.target, a.body, c.text)
		}
		if line, _ := a.body["line"].(float64); line != c.line {
			t.Errorf("%s %s: line %v, want %v", c.method, c.target, line, c.line)
		}
		if a.header.Get("X-Influxdb-Version") == "" {
			t.Errorf("%s %s: no version", c.method, c.target)
		}
	}
	if a := call(t, h, "POST", "/write?db=x", good, "Sec-Fetch-Site", "cross-site"); a.status != 403 {
		t.Errorf("from another page: %d", a.status)
	}
}

// TestKept keeps good lines once, whatever comes around them.
func TestKept(t *testing.T) {
	t.Parallel()
	k := &keeper{}
	h := serve(t, k, nil)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = io.WriteString(z, good)
	_ = z.Close()
	for _, send := range []func() answer{
		func() answer { return call(t, h, "POST", "/write?db=a", good) },
		func() answer { return call(t, h, "POST", "/write?db=a&u=x&p=y", good) },
		func() answer { return call(t, h, "POST", "/write?db=a", zipped.String(), "Content-Encoding", "gzip") },
	} {
		if a := send(); a.status != 204 {
			t.Errorf("%d %v", a.status, a.body)
		}
	}
	if k.rows != 1 {
		t.Errorf("%d rows of one line sent three times", k.rows)
	}
	call(t, h, "POST", "/write?db=b", good)
	call(t, h, "POST", "/write?db=a&run=r", good)
	call(t, h, "POST", "/write?db=a", strings.Replace(good, stamp, "1796065843941", 1)+"x y")
	call(t, h, "POST", "/write?db=a&precision=ms", strings.Replace(good, stamp, "1796065843941", 1)+"x y")
	if k.rows != 4 {
		t.Errorf("%d rows, want 4: another database, another run, and another precision", k.rows)
	}
	if a := call(t, h, "POST", "/write?db=a", "xx", "Content-Encoding", "gzip"); a.status != 400 {
		t.Errorf("no gzip: %d", a.status)
	}
}

// TestUntimed keeps lines without a time each time that they come.
func TestUntimed(t *testing.T) {
	t.Parallel()
	k := &keeper{}
	now := time.Unix(1_796_065_900, 0)
	s, err := New(DefaultConfig(), k, convention.Default(), func() time.Time { now = now.Add(time.Second); return now }, slog.New(slog.DiscardHandler), NewMetrics(metrics.NewSet()))
	if err != nil {
		t.Fatal(err)
	}
	h := s.Handler()
	for range 3 {
		call(t, h, "POST", "/write?db=k6", "dropped_iterations,scenario=a value=1\n")
	}
	if k.points != 3 {
		t.Errorf("%d points, want 3", k.points)
	}
}

// TestNotKept asks senders to come back when nothing could be kept.
func TestNotKept(t *testing.T) {
	t.Parallel()
	k := &keeper{err: journal.ErrFull}
	h := serve(t, k, nil)
	for _, target := range []string{"/write?db=a", "/api/v2/write?bucket=a"} {
		a := call(t, h, "POST", target, good)
		if a.status != 503 || a.header.Get("Retry-After") != "1" {
			t.Errorf("%s: %d, retry after %q", target, a.status, a.header.Get("Retry-After"))
		}
	}
	k.err = errors.New("broken")
	if a := call(t, h, "POST", "/write?db=a", good); a.status != 503 {
		t.Errorf("%d", a.status)
	}
	k.err, k.answer = nil, journal.Receipt{Rejected: 1, Message: "1 rows or points older than 24h0m0s (max-age)"}
	if a := call(t, h, "POST", "/write?db=a", good); a.status != 400 || a.body["error"] != "partial write: 1 rows or points older than 24h0m0s (max-age) dropped=1" {
		t.Errorf("%d %v", a.status, a.body)
	}
	if a := call(t, h, "POST", "/api/v2/write?bucket=a2", good); a.status != 422 || a.body["code"] != "unprocessable entity" {
		t.Errorf("%d %v", a.status, a.body)
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	k := &keeper{}
	h := serve(t, k, func(c *Config) { c.MaxBody, c.MaxInFlight = 1<<20, 1<<20 })
	big := strings.Repeat(good, 2<<20/len(good))
	if a := call(t, h, "POST", "/write?db=a", big); a.status != 413 {
		t.Errorf("large: %d", a.status)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = io.WriteString(z, big)
	_ = z.Close()
	if a := call(t, h, "POST", "/write?db=a", zipped.String(), "Content-Encoding", "gzip"); a.status != 413 {
		t.Errorf("large once inflated: %d", a.status)
	}
	if k.rows != 0 {
		t.Errorf("%d rows", k.rows)
	}
	if err := (&Config{}).Validate(); err == nil {
		t.Error("an empty configuration is valid")
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	h := serve(t, &keeper{}, func(c *Config) { c.Token = "secret" })
	for _, c := range []struct {
		target, header string
		status         int
	}{
		{"/write?db=a", "", 401},
		{"/write?db=a", "Token wrong", 401},
		{"/write?db=a&u=me&p=secret", "", 204},
		{"/write?db=a", "Token secret", 204},
		{"/write?db=a", "Token me:secret", 204},
		{"/write?db=a", "Bearer secret", 204},
		{"/write?db=a", "Basic bWU6c2VjcmV0", 204},
		{"/api/v2/write?bucket=a", "Token secret", 204},
		{"/api/v2/write?bucket=a", "", 401},
		{"/query?q=CREATE+DATABASE+a", "", 401},
	} {
		var headers []string
		if c.header != "" {
			headers = []string{"Authorization", c.header}
		}
		if a := call(t, h, "POST", c.target, good, headers...); a.status != c.status {
			t.Errorf("%s with %q: %d", c.target, c.header, a.status)
		}
	}
}
