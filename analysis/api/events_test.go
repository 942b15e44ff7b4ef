package api_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api"
)

// follow opens the events of a run and returns a function that reads the next
// line that is not empty, and "" at the end.
func follow(t *testing.T, f *fixture, id string) (*http.Response, func() string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.URL+"/api/v1/runs/"+id+"/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	lines := bufio.NewScanner(res.Body)
	return res, func() string {
		for lines.Scan() {
			if text := lines.Text(); text != "" {
				return text
			}
		}
		return ""
	}
}

func expect(t *testing.T, next func() string, prefixes ...string) {
	t.Helper()
	for _, want := range prefixes {
		if got := next(); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Fatalf("line = %q, want %q", got, want)
		}
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.runs.add(api.Run{ID: "live", Revision: 1})
	res, next := follow(t, f, "live")
	if got := res.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("Content-Type = %q", got)
	}
	expect(t, next, "event: revision", "id: 1", `data: {"revision":1,"state":"live","outcome":"fail"`)
	f.runs.change("live", func(*api.Run) {})
	expect(t, next, "event: revision", "id: 2", `data: {"revision":2,"state":"live"`)
	f.runs.change("live", func(r *api.Run) { r.Finished = true })
	expect(t, next, "event: revision", "id: 3", `data: {"revision":3,"state":"finished"`, "event: end", "data: {}", "")
	if status, _, _ := f.do(t, "GET", "/api/v1/runs/live/events", "", "Last-Event-ID", "3"); status != 204 {
		t.Errorf("coming back to a finished run = %d, want 204", status)
	}
}

func TestEventsKeepAlive(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *api.Config) { c.KeepAlive = 5 * time.Millisecond })
	f.runs.add(api.Run{ID: "live", Revision: 1})
	_, next := follow(t, f, "live")
	expect(t, next, "event: revision", "id: 1", "data: ", ": still here", ": still here")
}

func TestEventsBounded(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *api.Config) { c.MaxStreams = 1 })
	f.runs.add(api.Run{ID: "live", Revision: 1})
	_, next := follow(t, f, "live")
	expect(t, next, "event: revision")
	status, header, body := f.do(t, "GET", "/api/v1/runs/live/events", "")
	if status != 503 || header.Get("Retry-After") == "" || !strings.Contains(body, "too_many_streams") {
		t.Errorf("second stream = %d %s", status, body)
	}
}

// Streams end when the server drains, so that it can stop.
func TestEventsEndOnDrain(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.runs.add(api.Run{ID: "live", Revision: 1})
	_, next := follow(t, f, "live")
	expect(t, next, "event: revision", "id: 1", "data: ")
	f.api.Drain()
	expect(t, next, "")
}

// A stream says why it ends early.
func TestEventsError(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.runs.add(api.Run{ID: "live", Revision: 1})
	_, next := follow(t, f, "live")
	expect(t, next, "event: revision", "id: 1", "data: ")
	f.runs.change("live", func(*api.Run) {})
	f.runs.mu.Lock()
	f.runs.err = api.ErrNotFound
	f.runs.mu.Unlock()
	for line := next(); ; line = next() { // the revision may have been sent before the error
		if line == "event: error" {
			expect(t, next, `data: {"error":"no such run","code":"run_not_found"`, "")
			return
		}
		if line == "" {
			t.Fatal("the stream ended without a word")
		}
		f.runs.mu.Lock()
		for _, c := range f.runs.watchers["live"] {
			select {
			case c <- struct{}{}:
			default:
			}
		}
		f.runs.mu.Unlock()
	}
}
