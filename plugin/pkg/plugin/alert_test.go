package plugin_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
	"github.com/grafana/grafana-plugin-sdk-go/data"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

func TestAlertNumbers(t *testing.T) {
	t.Parallel()
	check := func(measure string, want float64, change func(v *wire.Verdict)) {
		t.Helper()
		s := newServer(t)
		s.verdict(t, change)
		got := s.one(t, `{"queryType":"alert","measure":"`+measure+`"}`)
		if len(got.Frames) != 1 || len(got.Frames[0].Fields) != 1 {
			t.Fatalf("%s: %d frames", measure, len(got.Frames))
		}
		f := got.Frames[0]
		if f.Meta.Type != data.FrameTypeNumericMulti || f.Fields[0].At(0) != want {
			t.Errorf("%s: %v of type %s, want %v", measure, f.Fields[0].At(0), f.Meta.Type, want)
		}
		for _, label := range []string{"run", "run_id"} {
			if _, ok := f.Fields[0].Labels[label]; ok {
				t.Errorf("%s: label %s changes from run to run", measure, label)
			}
		}
		if f.Fields[0].Labels["run_name"] != "orders" || f.Fields[0].Labels["scenario"] != "orders" {
			t.Errorf("%s: labels %v", measure, f.Fields[0].Labels)
		}
	}
	for outcome, code := range map[string]float64{"pass": 0, "inconclusive": 1, "invalid": 2, "fail": 3} {
		check("outcome", code, func(v *wire.Verdict) { v.Outcome = outcome })
	}
	check("unstable", 3, func(*wire.Verdict) {})
	check("unstable", 0, func(v *wire.Verdict) { v.Outcome = "pass" })
	check("unstable", 1, func(v *wire.Verdict) { v.Outcome, v.Findings = "inconclusive", nil })
	check("unstable", 3, func(v *wire.Verdict) {
		v.Run.State, v.Outcome, v.Findings = wire.Live, "inconclusive", []wire.Finding{{Code: "alarm"}}
	})
	check("unstable", 1, func(v *wire.Verdict) {
		v.Run.State, v.Outcome, v.Findings = wire.Live, "inconclusive", []wire.Finding{{Code: "alarm", ClearedAt: new(time.Unix(1, 0))}}
	})
	check("generator", 2, func(v *wire.Verdict) { v.Audit.Valid = false })
	check("generator", 0, func(v *wire.Verdict) { v.Audit.Valid = true })
	for state, code := range map[string]float64{"sustained": 3, "degraded": 3, "undecided": 1, "draining": 1, "recovered": 0, "not_tested": 0} {
		check("recovery", code, func(v *wire.Verdict) { v.Metastability.State = state })
	}
	for state, code := range map[string]float64{wire.Missed: 3, wire.Met: 0, wire.Undecided: 1} {
		check("goodput", code, func(v *wire.Verdict) {
			v.Objectives = []wire.Held{{Kind: wire.GoodputKind, Title: "goodput>=99%", State: state}, {Kind: wire.QuantileKind, State: wire.Missed}}
		})
	}
}

// A run that has ended counts for the hold, and only the newest of a name.
func TestAlertHolds(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	end := time.Date(2026, 11, 30, 10, 5, 0, 0, time.UTC) // of the range
	item := func(name string, ago time.Duration) wire.RunItem {
		at := end.Add(-ago)
		return wire.RunItem{ID: name + ago.String(), Name: name, State: wire.Finished, StartedAt: &at, EndedAt: &at}
	}
	s.instead["runs"] = wire.RunList{Runs: []wire.RunItem{item("a", time.Minute), item("a", 2*time.Minute), item("b", 14*time.Minute), item("c", 16*time.Minute)}}
	s.one(t, `{"queryType":"alert"}`)
	if got := strings.Join(s.asked, " "); !strings.Contains(got, "a1m0s") || !strings.Contains(got, "b14m0s") || strings.Contains(got, "a2m") || strings.Contains(got, "c16m") {
		t.Errorf("asked %s", got)
	}
	empty := s.one(t, `{"queryType":"alert","holdMin":0.5}`)
	if len(empty.Frames) != 1 || len(empty.Frames[0].Fields) != 0 {
		t.Errorf("no run within the hold gives %d frames of %d fields", len(empty.Frames), len(empty.Frames[0].Fields))
	}
}

// A failed run does not resolve by vanishing: not behind newer runs of other names,
// and not by a server that cannot judge it.
func TestAlertDoesNotResolve(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	end := time.Date(2026, 11, 30, 10, 5, 0, 0, time.UTC) // of the range
	items := func(from, n int) (out []wire.RunItem) {
		for i := from; i < from+n; i++ {
			at := end.Add(-time.Duration(i) * time.Second)
			out = append(out, wire.RunItem{ID: fmt.Sprint(i), Name: "short", State: wire.Finished, StartedAt: &at, EndedAt: &at})
		}
		return out
	}
	begun := end.Add(-24 * time.Hour)
	s.instead["runs"] = func(r *http.Request) any {
		if r.URL.Query().Get("cursor") == "" {
			return wire.RunList{Runs: items(0, 500), NextCursor: "2"}
		}
		return wire.RunList{Runs: append(items(500, 100), wire.RunItem{ID: "soak", Name: "soak", State: wire.Live, StartedAt: &begun})}
	}
	if got := s.one(t, `{"queryType":"alert"}`); len(got.Frames) != 2 {
		t.Errorf("%d alerts, want two: the newest short run, and the soak that began before 600 others", len(got.Frames))
	}
	s.mu.Lock()
	s.instead["verdict"] = func(r *http.Request) any {
		if strings.Contains(r.URL.Path, "soak") {
			return nil
		}
		return wire.Verdict{Run: wire.Run{Name: "short"}}
	}
	s.mu.Unlock()
	one := ask(t, s.settings(""), map[string]string{"A": `{"queryType":"alert"}`})["A"]
	if one.Error == nil || !strings.Contains(one.Error.Error(), "soak") || one.ErrorSource != backend.ErrorSourceDownstream {
		t.Errorf("a run that cannot be judged: %d frames, %v from %q", len(one.Frames), one.Error, one.ErrorSource)
	}
}

// More runs than can be judged are an error: those left out would resolve.
func TestAlertOfTooMany(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	end := time.Date(2026, 11, 30, 10, 5, 0, 0, time.UTC)
	var list wire.RunList
	for i := range 201 {
		list.Runs = append(list.Runs, wire.RunItem{ID: fmt.Sprint(i), Name: fmt.Sprint(i), State: wire.Live, StartedAt: &end})
	}
	s.instead["runs"] = list
	got := ask(t, s.settings(""), map[string]string{"A": `{"queryType":"alert"}`})["A"]
	if got.Error == nil || !strings.Contains(got.Error.Error(), "narrow the search") || got.ErrorSource != backend.ErrorSourceDownstream {
		t.Errorf("%v from %q", got.Error, got.ErrorSource)
	}
}
