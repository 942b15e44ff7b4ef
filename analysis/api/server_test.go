package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api"
	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// Every refusal has its status and code.
func TestRefusals(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *api.Config) { c.MaxBodyBytes = 4096 })
	check := func(method, path, body string, status int, code string) {
		t.Helper()
		got, header, text := f.do(t, method, path, body)
		var e wire.Error
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			t.Errorf("%s %s: answer %d is not JSON: %s", method, path, got, text)
			return
		}
		if got != status || e.Code != code || e.Error == "" {
			t.Errorf("%s %s = %d %s (%s), want %d %s", method, path, got, e.Code, e.Error, status, code)
		}
		if status == http.StatusMethodNotAllowed && header.Get("Allow") == "" {
			t.Errorf("%s %s: no Allow header", method, path)
		}
	}
	const verdict = "/api/v1/runs/latest/verdict"
	check("GET", "/nowhere", "", 404, "no_such_call")
	check("GET", "/api/v1/runs/", "", 404, "no_such_call")
	check("GET", "/api/v1/runs/none", "", 404, "run_not_found")
	check("GET", "/api/v1/runs/latest:none/verdict", "", 404, "run_not_found")
	check("POST", "/api/v1/runs/none/finish", "", 404, "run_not_found")
	check("PUT", "/api/v1/runs", "", 405, "method_not_allowed")
	check("GET", "/api/v1/runs/latest/finish", "", 405, "method_not_allowed")
	check("POST", verdict, "", 405, "method_not_allowed")
	for _, q := range []string{
		"deadline_s=0", "deadline_s=-1", "deadline_s=NaN", "deadline_s=Inf", "deadline_s=", "deadline_s=1&deadline_s=2", "from=yesterday",
		"from=2026-11-30T10:01:00Z&to=2026-11-30T10:00:00Z", "to=9999-01-01T00:00:00Z", "objective=fast", "names=offered", "x=1", "limit=1",
		"scenario=" + strings.Repeat("a", 2000), "a=%zz", "max_points=0",
	} {
		check("GET", verdict+"?"+q, "", 400, "bad_parameter")
	}
	for _, q := range []string{"names=", "names=latency", "names=offered,,sent", "max_points=1e3", "max_points=99999"} {
		check("GET", "/api/v1/runs/latest/series?"+q, "", 400, "bad_parameter")
	}
	for _, q := range []string{"limit=0", "limit=501", "limit=ten", "cursor=zzz", "state=live"} {
		check("GET", "/api/v1/runs?"+q, "", 400, "bad_parameter")
	}
	for _, body := range []string{
		"", "{", "[]", "null x", `{"id":"a"} {}`, `{"id":"a","dedline_s":2}`, `{"id":7}`, `{"id":"latest"}`, `{"start":"soon"}`,
	} {
		check("POST", "/api/v1/runs", body, 400, "bad_body")
	}
	check("POST", "/api/v1/runs", `{"id":"`+strings.Repeat("a", 8192)+`"}`, 413, "body_too_large")
	check("POST", "/api/v1/runs/latest/finish", `{"now":true}`, 400, "bad_body")
	check("POST", "/api/v1/runs/latest/finish", strings.Repeat(" ", 8192), 413, "body_too_large")
	check("POST", "/api/v1/runs/latest/marks", `{"at":"2026-11-30T10:00:00Z"}`, 400, "bad_body")
	check("POST", "/api/v1/runs/latest/marks", `{"at":"0009-11-30T10:00:00Z","name":"deploy"}`, 400, "bad_body")
}

func TestDeclare(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	check := func(body string, want int) {
		t.Helper()
		if got, _, text := f.do(t, "POST", "/api/v1/runs", body); got != want {
			t.Errorf("declare %s = %d %s, want %d", body, got, text, want)
		}
	}
	check(declaration, 201)
	check(declaration, 200)
	check(`{"id":"orders-43","name":"otherwise"}`, 409)
	check(`{"name":"unnamed"}`, 201)
	f.runs.err = api.ErrFull
	if got, header, _ := f.do(t, "POST", "/api/v1/runs", declaration); got != 503 || header.Get("Retry-After") == "" {
		t.Errorf("declare on a full disk = %d, Retry-After %q", got, header.Get("Retry-After"))
	}
}

// An id may hold anything, also a slash.
func TestEscapedID(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.runs.add(api.Run{ID: "team/a b?", Finished: true, Revision: 1})
	if status, _, body := f.do(t, "GET", "/api/v1/runs/team%2Fa%20b%3F/verdict", ""); status != 200 || !strings.Contains(body, `"id":"team/a b?"`) {
		t.Errorf("verdict = %d %s", status, body)
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *api.Config) { c.Token = "s3cret" })
	check := func(path, header string, want int) {
		t.Helper()
		if got, _, _ := f.do(t, "GET", path, "", "Authorization", header); got != want {
			t.Errorf("GET %s with %q = %d, want %d", path, header, got, want)
		}
	}
	check("/api/v1/runs", "", 401)
	check("/api/v1/runs", "Bearer wrong", 401)
	check("/api/v1/runs", "Basic s3cret", 401)
	check("/api/v1/runs", "s3cret", 401)
	check("/nowhere", "", 401)
	check("/metrics", "", 401)
	check("/api/v1/runs", "Bearer s3cret", 200)
	check("/metrics", "bearer s3cret", 200)
	check("/healthz", "", 200)
	check("/-/ready", "", 200)
}

func TestCrossOrigin(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	if got, _, body := f.do(t, "POST", "/api/v1/runs/latest/finish", "", "Sec-Fetch-Site", "cross-site"); got != 403 || !strings.Contains(body, "cross_origin") {
		t.Errorf("foreign page = %d %s", got, body)
	}
	if got, _, _ := f.do(t, "GET", "/api/v1/runs", "", "Sec-Fetch-Site", "cross-site"); got != 200 {
		t.Errorf("reading = %d", got)
	}
}

// What goes wrong inside is logged under the id that the answer names, and its
// text stays inside.
func TestInternalError(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func() error{
		"error": func() error { return errors.New("disk of 10.0.0.1 is gone") },
		"panic": func() error { panic("disk of 10.0.0.1 is gone") },
	} {
		f := newFixture(t, nil)
		f.analysis.fail = fail
		status, _, body := f.do(t, "GET", "/api/v1/runs/latest/verdict", "")
		var e wire.Error
		if err := json.Unmarshal([]byte(body), &e); err != nil || status != 500 || e.Code != "internal" || strings.Contains(body, "10.0.0.1") {
			t.Errorf("%s: answer = %d %s", name, status, body)
		}
		_, id, _ := strings.Cut(e.Hint, "error_id ")
		f.logMu.Lock()
		if log := f.log.String(); id == "" || !strings.Contains(log, "error_id="+id) || !strings.Contains(log, "10.0.0.1") {
			t.Errorf("%s: log %q lacks the error of id %q", name, log, id)
		}
		f.logMu.Unlock()
	}
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	srv, err := api.New(api.DefaultConfig(), api.Deps{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	check := func(want int) {
		t.Helper()
		for _, path := range []string{"/readyz", "/-/ready"} {
			if got := serve(t, srv, path); got != want {
				t.Errorf("%s = %d, want %d", path, got, want)
			}
		}
	}
	check(503)
	srv.SetReady()
	check(200)
	srv.Drain()
	check(503)
	if got := serve(t, srv, "/healthz"); got != 200 {
		t.Errorf("/healthz = %d while draining", got)
	}
}

func serve(t *testing.T, h http.Handler, path string) int {
	t.Helper()
	w := &memoryWriter{header: http.Header{}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	h.ServeHTTP(w, r)
	return w.status
}

type memoryWriter struct {
	header http.Header
	status int
}

func (m *memoryWriter) Header() http.Header         { return m.header }
func (m *memoryWriter) WriteHeader(status int)      { m.status = status }
func (m *memoryWriter) Write(p []byte) (int, error) { return len(p), nil }

func TestMetrics(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.do(t, "GET", "/api/v1/runs/latest/verdict", "")
	f.do(t, "GET", "/api/v1/runs/latest/verdict", "")
	_, _, body := f.do(t, "GET", "/metrics", "")
	for _, want := range []string{
		`plimsoll_build_info{version="1.2.3"} 1`, `plimsoll_http_requests_total{path="/api/v1/runs/{id}/verdict",code="200"} 2`,
		"plimsoll_http_cache_hits_total 1", "process_cpu_seconds_total", "go_goroutines", "other_metric 1", "plimsoll_ready 1",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("metrics lack %q", want)
		}
	}
	if _, _, text := f.do(t, "GET", "/", ""); !strings.Contains(text, "/api/v1/runs") {
		t.Errorf("GET / = %q", text)
	}
}

func TestConfigValidate(t *testing.T) {
	t.Parallel()
	if err := api.DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
	if _, err := api.New(api.Config{}, api.Deps{Now: time.Now}); err == nil || strings.Count(err.Error(), "\n") < 3 {
		t.Errorf("New with an empty config: %v, want all problems", err)
	}
}

// Options reach the analysis as they were asked for.
func TestOptions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.do(t, "GET", "/api/v1/runs/latest/verdict?deadline_s=0.5&from=2026-11-30T11:00:00%2B01:00&scenario=a&source=b&objective=p99%3C1s&objective=error%3C1%25", "")
	o := f.analysis.last
	if o.DeadlineS == nil || *o.DeadlineS != 0.5 || o.From == nil || !o.From.Equal(at(0)) || o.To != nil || o.Scenario != "a" || o.Source != "b" || len(o.Objectives) != 2 {
		t.Errorf("options = %+v", o)
	}
	f.do(t, "GET", "/api/v1/runs/latest/series?max_points=7&names=offered,sent&names=offered", "")
	if o := f.analysis.last; o.MaxPoints != 7 || strings.Join(o.Names, " ") != "offered sent" {
		t.Errorf("options = %+v", o)
	}
}

// A verdict is computed once per revision and question.
func TestRemembered(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	judged := func(want int) {
		t.Helper()
		f.analysis.mu.Lock()
		defer f.analysis.mu.Unlock()
		if f.analysis.judged != want {
			t.Errorf("judged %d times, want %d", f.analysis.judged, want)
		}
	}
	for range 3 {
		f.do(t, "GET", "/api/v1/runs/latest/verdict", "")
		f.do(t, "GET", "/api/v1/runs/latest/littleslaw", "")
	}
	f.do(t, "GET", "/api/v1/runs", "")
	judged(1)
	f.do(t, "GET", "/api/v1/runs/latest/verdict?deadline_s=1", "")
	judged(2)
	f.runs.change("orders-42", func(*api.Run) {})
	f.do(t, "GET", "/api/v1/runs/latest/verdict", "")
	judged(3)
	if f.runs.saved != 2 {
		t.Errorf("summary was kept %d times, want once per revision", f.runs.saved)
	}
	f.do(t, "DELETE", "/api/v1/runs/orders-42", "")
	f.runs.add(api.Run{ID: "orders-42", Finished: true, Revision: 119})
	f.do(t, "GET", "/api/v1/runs/latest/verdict", "")
	judged(4)
}

// The verdict outlives the rows; what needs rows does not.
func TestGone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.runs.add(api.Run{ID: "old", Finished: true, Gone: true, Revision: 9, Summary: &api.Summary{Revision: 9}})
	f.runs.add(api.Run{ID: "older", Finished: true, Gone: true, Revision: 9})
	if status, _, body := f.do(t, "GET", "/api/v1/runs/old/verdict", ""); status != 200 || !strings.Contains(body, "As it was kept.") {
		t.Errorf("kept verdict = %d %s", status, body)
	}
	for _, path := range []string{"old/verdict?deadline_s=1", "old/spectrum", "older/verdict"} {
		if status, _, body := f.do(t, "GET", "/api/v1/runs/"+path, ""); status != 410 || !strings.Contains(body, "rows_gone") {
			t.Errorf("%s = %d %s", path, status, body)
		}
	}
	f.runs.err = api.ErrTooMany
	if status, _, _ := f.do(t, "POST", "/api/v1/runs", declaration); status != 429 {
		t.Errorf("declare past the bound = %d", status)
	}
}

// Settling judges finished runs once, and one that cannot be judged not again
// until it changes.
func TestSettle(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.runs.add(api.Run{ID: "live", Revision: 1})
	settle := func(wantErr bool, judged, saved int) {
		t.Helper()
		if err := f.api.Settle(t.Context()); (err != nil) != wantErr || f.analysis.judged != judged || f.runs.saved != saved {
			t.Errorf("Settle = %v, judged %d, saved %d; want %d, %d", err, f.analysis.judged, f.runs.saved, judged, saved)
		}
	}
	f.analysis.fail = func() error { return errors.New("no") }
	settle(true, 1, 0)
	settle(false, 1, 0)
	f.analysis.fail = nil
	f.runs.change("orders-42", func(*api.Run) {})
	settle(false, 2, 1)
	settle(false, 2, 1)
}

// What is remembered stays within its budget, the oldest use goes first.
func TestBudget(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *api.Config) { c.CacheBytes = 40_000 }) // room for two verdicts
	ask := func(id string, want int) {
		t.Helper()
		f.do(t, "GET", "/api/v1/runs/"+id+"/verdict", "")
		if f.analysis.judged != want {
			t.Errorf("asked for %s: judged %d times, want %d", id, f.analysis.judged, want)
		}
	}
	for _, id := range []string{"a", "b", "c"} {
		f.runs.add(api.Run{ID: id, Revision: 1})
	}
	ask("a", 1)
	ask("b", 2)
	ask("a", 2)
	ask("c", 3)
	ask("a", 3)
	ask("b", 4)
	none := newFixture(t, func(c *api.Config) { c.CacheBytes = 0 })
	none.do(t, "GET", "/api/v1/runs/latest/verdict", "")
	none.do(t, "GET", "/api/v1/runs/latest/verdict", "")
	if none.analysis.judged != 2 {
		t.Errorf("judged %d times without memory, want 2", none.analysis.judged)
	}
}

// A body that does not come is not waited for.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *api.Config) { c.BodyTimeout = 10 * time.Millisecond })
	conn, err := net.Dial("tcp", f.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "POST /api/v1/runs HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{"); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if !strings.Contains(string(answer), "408 ") || !strings.Contains(string(answer), "body_too_slow") {
		t.Errorf("answer = %s, %v", answer, err)
	}
}

// No query makes a call fail that is not the caller's fault.
func FuzzQuery(f *testing.F) {
	for _, q := range []string{"deadline_s=1", "from=2026-11-30T10:00:00Z", "objective=p99<1s&objective=step:a error<1%", "names=offered,queue:x", "limit=5&cursor=x&q=y", "%zz"} {
		f.Add(q)
	}
	srv, err := api.New(api.DefaultConfig(), api.Deps{Runs: newFakeRuns(), Analysis: &fakeAnalysis{}, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(srv.Close)
	f.Fuzz(func(t *testing.T, q string) {
		for _, path := range []string{"/api/v1/runs", "/api/v1/runs/latest/verdict", "/api/v1/runs/latest/series", "/api/v1/runs/latest/heatmap"} {
			w := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
			r.URL.RawQuery = q
			srv.ServeHTTP(w, r)
			if w.Code != 200 && w.Code != 400 || !json.Valid(w.Body.Bytes()) {
				t.Errorf("GET %s?%s = %d %s", path, q, w.Code, w.Body)
			}
		}
	})
}

// A list judges few runs and shows no outcome for the others.
func TestListIsBounded(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *api.Config) { c.MaxListJudged = 1 })
	f.runs.add(api.Run{ID: "orders-43", Revision: 1})
	for want := 1; want <= 2; want++ {
		_, _, body := f.do(t, "GET", "/api/v1/runs", "")
		var list wire.RunList
		if err := json.Unmarshal([]byte(body), &list); err != nil {
			t.Fatal(err)
		}
		outcomes := 0
		for _, r := range list.Runs[:2] {
			if r.Outcome != "" {
				outcomes++
			}
		}
		if outcomes != want {
			t.Errorf("list %d shows %d outcomes of runs that were not judged before", want, outcomes)
		}
	}
}

// Callers with the same question share one computation, and it is called off
// when all of them have gone.
func TestShared(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.runs.change("orders-42", func(r *api.Run) { r.Finished = false })
	f.callOff(t, "?deadline_s=3")
	waitFor(t, func() bool {
		_, _, body := f.do(t, "GET", "/metrics", "")
		return strings.Contains(body, "plimsoll_http_computing 0")
	})
	close(f.analysis.hold)
	if status, _, _ := f.do(t, "GET", "/api/v1/runs/latest/verdict?deadline_s=3", ""); status != 200 {
		t.Errorf("verdict after calls that were called off = %d", status)
	}
}

// TestGoesOn: a finished run is read to its end though nobody waits any more, so that
// whoever waits for less than that gets there, too.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.callOff(t, "")
	close(f.analysis.hold)
	if status, _, _ := f.do(t, "GET", "/api/v1/runs/latest/verdict", ""); status != 200 {
		t.Errorf("verdict after calls that were called off = %d", status)
	}
	f.analysis.mu.Lock()
	defer f.analysis.mu.Unlock()
	if f.analysis.judged != 1 {
		t.Errorf("judged %d times, want once", f.analysis.judged)
	}
}

// callOff asks three times for a verdict and gives up when it is being computed.
func (f *fixture) callOff(t *testing.T, question string) {
	t.Helper()
	f.analysis.hold = make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 3)
	for range 3 {
		go func() {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL+"/api/v1/runs/latest/verdict"+question, http.NoBody)
			if err == nil {
				var res *http.Response
				if res, err = http.DefaultClient.Do(req); err == nil {
					res.Body.Close()
				}
			}
			done <- err
		}()
	}
	waitFor(t, func() bool {
		f.analysis.mu.Lock()
		defer f.analysis.mu.Unlock()
		return f.analysis.judged == 1
	})
	cancel()
	for range 3 {
		if err := <-done; err == nil {
			t.Error("a call that was called off was answered")
		}
	}
}

func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	for range 2000 {
		if ok() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("waited in vain")
}
