package plugin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// One query that fails does not fail the others, and says whose fault it is.
func TestFailuresStayAlone(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	got := ask(t, s.settings(""), map[string]string{
		"good":    `{"queryType":"verdict"}`,
		"unknown": `{"queryType":"latency"}`,
		"lonely":  `{"queryType":"compare","run":"a"}`,
		"late":    `{"queryType":"verdict","deadline":"soon"}`,
		"newer":   `{"queryType":"verdict","version":99}`,
		"broken":  `{"queryType":`,
		"clock":   `{"queryType":"series","clock":"moon"}`,
		"measure": `{"queryType":"alert","measure":"mood"}`,
		"show":    `{"queryType":"annotations","show":["mood"]}`,
		"hold":    `{"queryType":"alert","holdMin":-1}`,
	})
	if got["good"].Error != nil {
		t.Errorf("good query: %v", got["good"].Error)
	}
	for ref, want := range map[string]string{
		"unknown": "unknown", "lonely": "second run", "late": "not a time", "newer": "update the plugin",
		"broken": "read query", "clock": "neither wall nor elapsed", "measure": "mood", "show": "mood", "hold": "minutes",
	} {
		r := got[ref]
		if r.Error == nil || !strings.Contains(r.Error.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", ref, r.Error, want)
		}
		if r.ErrorSource != backend.ErrorSourceDownstream {
			t.Errorf("%s: error source %q", ref, r.ErrorSource)
		}
	}
}

func TestRefusalsOfTheServerAreDownstream(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusNotFound, http.StatusInternalServerError, http.StatusServiceUnavailable} {
		s := newServer(t)
		s.status = status
		got := ask(t, s.settings(""), map[string]string{"A": `{"queryType":"verdict"}`})["A"]
		if got.Error == nil || !strings.Contains(got.Error.Error(), "try otherwise") || got.ErrorSource != backend.ErrorSourceDownstream {
			t.Errorf("%d: %v from %q", status, got.Error, got.ErrorSource)
		}
		if got.Status != backend.Status(status) {
			t.Errorf("%d: status %d", status, got.Status)
		}
	}
	gone := newServer(t)
	settings := gone.settings("")
	gone.Close()
	if got := ask(t, settings, map[string]string{"A": `{}`})["A"]; got.ErrorSource != backend.ErrorSourceDownstream || got.Error == nil {
		t.Errorf("a server that is not there: %v from %q", got.Error, got.ErrorSource)
	}
}

// What the server answered is read by this plugin: that it cannot be is the plugin's
// fault, and so is a panic. What never came, or is no JSON, is not.
func TestWhoseFault(t *testing.T) {
	t.Parallel()
	check := func(kind, path, said string, want backend.ErrorSource, answer any) {
		t.Helper()
		s := newServer(t)
		s.instead[path] = answer
		got := ask(t, s.settings(""), map[string]string{"A": `{"queryType":"` + kind + `"}`})["A"]
		if got.Error == nil || !strings.Contains(got.Error.Error(), said) || got.ErrorSource != want {
			t.Errorf("%s of %s: %v from %q, want %q from %q", kind, path, got.Error, got.ErrorSource, said, want)
		}
	}
	check("steps", "verdict", "decode answer", backend.ErrorSourcePlugin, map[string]any{"steps": 5})
	check("heatmap", "heatmap", "internal error", backend.ErrorSourcePlugin, wire.Heatmap{Time: []time.Time{time.Unix(1, 0), time.Unix(2, 0)}})
	check("runs", "runs", "500", backend.ErrorSourceDownstream, func(*http.Request) any { return nil })
	check("verdict", "verdict", "decode answer", backend.ErrorSourceDownstream, cutShort{})
}

// cutShort is an answer that ends in the middle.
type cutShort struct{}

// A run that takes longer to read than Grafana waits says how far it is.
func TestLateAnswersSayHowFar(t *testing.T) {
	t.Parallel()
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/verdict") {
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(wire.RunItem{ID: "day", Judging: new(0.43)})
	}))
	t.Cleanup(slow.Close)
	settings := &backend.DataSourceInstanceSettings{
		ID: nextID.Add(1), UID: "p", URL: slow.URL, JSONData: []byte(`{"timeout":1}`), Updated: time.Unix(1, 0),
	}
	got := ask(t, settings, map[string]string{"A": `{"queryType":"steps","run":"day"}`})["A"]
	if got.Error == nil || !strings.Contains(got.Error.Error(), "still reading the run, 43 % is done") || got.ErrorSource != backend.ErrorSourceDownstream {
		t.Errorf("%v from %q", got.Error, got.ErrorSource)
	}
}

func TestParametersReachTheServer(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.one(t, `{"queryType":"verdict","run":"a/b","deadline":"ttft:500ms,e2e:2s","scenario":"checkout","source":"$__all"}`)
	want := "/api/v1/runs/a%2Fb/verdict?deadline_s=2&first_byte_deadline_s=0.5&scenario=checkout"
	if len(s.asked) != 1 || s.asked[0] != want {
		t.Errorf("asked %q, want %q", s.asked, want)
	}
	s.asked = nil
	s.one(t, `{"queryType":"series","run":"x","names":["offered","queue:db"],"deadline":"300ms"}`)
	if len(s.asked) != 2 || !strings.Contains(s.asked[1], "max_points=500&names=offered%2Cqueue%3Adb") {
		t.Errorf("asked %q", s.asked)
	}
}

// A long answer is refused, and a long list is cut and says so.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	long := make([]wire.Finding, 0, 5000)
	for i := range 5000 {
		long = append(long, wire.Finding{Code: "alarm", Severity: "warn", Message: fmt.Sprintf("%d %s", i, strings.Repeat("x", 400))})
	}
	s.verdict(t, func(v *wire.Verdict) { v.Findings = long })
	got := ask(t, s.settings(`{"maxAnswerMiB":1}`), map[string]string{"A": `{"queryType":"findings"}`})["A"]
	if got.Error == nil || !strings.Contains(got.Error.Error(), "too large") || got.ErrorSource != backend.ErrorSourceDownstream {
		t.Errorf("an answer over the limit: %v from %q", got.Error, got.ErrorSource)
	}
	cut := s.one(t, `{"queryType":"findings"}`)
	if rows := cut.Frames[0].Rows(); rows != 1000 || !strings.Contains(notices(cut), "1000 of 5000") {
		t.Errorf("%d rows with notices %q", rows, notices(cut))
	}
	many := wire.RunList{NextCursor: "more"}
	for i := range 3 {
		many.Runs = append(many.Runs, wire.RunItem{ID: fmt.Sprint(i), State: wire.Finished})
	}
	s.instead["runs"] = many
	list := s.one(t, `{"queryType":"runs","limit":3}`)
	if rows := list.Frames[0].Rows(); rows != 3 || !strings.Contains(notices(list), "newest 3 runs") {
		t.Errorf("%d runs with notices %q", rows, notices(list))
	}
}

func TestElapsedClockStartsAtZero(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	start := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	s.instead["series"] = wire.SeriesAnswer{
		Time:    []time.Time{start, start.Add(time.Second), start.Add(2 * time.Second)},
		Columns: map[string][]*float64{"offered": {new(1.0), nil, new(3.0)}, "goodput": {nil, nil, nil}},
	}
	got := s.one(t, `{"queryType":"series","names":["offered","goodput"],"clock":"elapsed","prefix":"before: "}`)
	if len(got.Frames) != 1 {
		t.Fatalf("%d curves, want one: an XY chart draws a null as 0", len(got.Frames))
	}
	f := got.Frames[0]
	if f.Rows() != 2 || f.Fields[0].At(0) != 0.0 || f.Fields[0].At(1) != 2.0 || f.Fields[1].At(1) != 3.0 || f.Fields[1].Config.DisplayNameFromDS != "before: Offered" {
		t.Errorf("clock %v %v, name %q", f.Fields[0].At(0), f.Fields[0].At(1), f.Fields[1].Config.DisplayNameFromDS)
	}
	if !strings.Contains(notices(got), "Goodput: no number at any time") {
		t.Errorf("notices %q", notices(got))
	}
}
