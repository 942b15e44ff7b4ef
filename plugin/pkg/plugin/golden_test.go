package plugin_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
	"github.com/grafana/grafana-plugin-sdk-go/data"
	"github.com/grafana/grafana-plugin-sdk-go/experimental"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/plugin/pkg/plugin"
)

// TestGoldenFrames keeps the frames of every kind of query, as they come over
// gRPC.
func TestGoldenFrames(t *testing.T) {
	t.Parallel()
	for _, kind := range plugin.Kinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			got := newServer(t).one(t, `{"queryType":"`+kind+`","run":"latest","other":"orders-42","measure":"unstable"}`)
			for _, f := range got.Frames {
				if f.Meta == nil || f.Meta.Type == "" || f.Meta.TypeVersion.IsZero() {
					t.Errorf("frame %q has no type of the data plane", f.Name)
				}
			}
			experimental.CheckGoldenJSONResponse(t, "testdata", kind, &got, *update)
		})
	}
}

// TestGoldenCuts keeps what a table looks like that is longer than it may be.
func TestGoldenCuts(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"steps", "findings", "littleslaw", "knee", "annotations", "compare", "runs"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			s.verdict(t, func(v *wire.Verdict) {
				for i := 1; i < 3; i++ {
					again := v.Steps[0]
					again.Index = i
					v.Steps, v.Findings = append(v.Steps, again), append(v.Findings, v.Findings[0])
				}
			})
			s.instead["runs"] = wire.RunList{NextCursor: "more", Runs: []wire.RunItem{{ID: "c"}, {ID: "b"}}}
			query := `{"queryType":"` + kind + `","run":"latest","other":"orders-42"}`
			got := ask(t, s.settings(`{"maxRows":2}`), map[string]string{"A": query})["A"]
			if got.Error != nil {
				t.Fatal(got.Error)
			}
			for _, f := range got.Frames {
				if f.Rows() > 2 {
					t.Errorf("%s has %d rows, at most 2 are allowed", f.Name, f.Rows())
				}
			}
			if !strings.Contains(notices(got), "Cut: ") {
				t.Errorf("notices %q do not say that it is cut", notices(got))
			}
			experimental.CheckGoldenJSONResponse(t, "testdata", "cut-"+kind, &got, *update)
		})
	}
}

func notices(r backend.DataResponse) string {
	var out []string
	for _, f := range r.Frames {
		if f.Meta == nil {
			continue
		}
		for _, n := range f.Meta.Notices {
			out = append(out, n.Text)
		}
	}
	return strings.Join(out, "\n")
}

func text(t *testing.T, f *data.Frame, name string) string {
	t.Helper()
	got, i := f.FieldByName(name)
	if i < 0 || got.Len() == 0 {
		t.Fatalf("frame %q has no %q", f.Name, name)
	}
	return got.At(0).(string)
}

// A refused percentile is words, never a gap.
func TestRefusedPercentilesSayWhy(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.verdict(t, func(v *wire.Verdict) {
		v.Steps[0].ResponseTime = wire.Response{Reason: "4.1 % dropped"}
		v.Steps[0].ServiceTime = wire.Response{Reason: "no number: 4.1 % dropped"}
	})
	const want = "no number: 4.1 % dropped"
	steps := s.one(t, `{"queryType":"steps"}`)
	for _, name := range []string{"p50", "p99", "p99_service"} {
		if got := text(t, steps.Frames[0], name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	for _, query := range []string{`{"queryType":"steps"}`, `{"queryType":"knee"}`, `{"queryType":"series","names":["response_p99"]}`} {
		if got := notices(s.one(t, query)); !strings.Contains(got, want) {
			t.Errorf("%s: notices %q do not say %q", query, got, want)
		}
	}
	found := false
	titles, _ := s.one(t, `{"queryType":"annotations"}`).Frames[0].FieldByName("text")
	for i := range titles.Len() {
		found = found || titles.At(i) == want
	}
	if !found {
		t.Error("no annotation says where there are no percentiles")
	}
}

func TestCensoredPercentilesAreBounds(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.verdict(t, func(v *wire.Verdict) { v.Steps[0].ResponseTime.P99 = wire.Estimate{Lo: new(2.0), Confidence: 0.95} })
	if got := text(t, s.one(t, `{"queryType":"steps"}`).Frames[0], "p99"); got != "> 2 s" {
		t.Errorf("p99 = %q, want > 2 s", got)
	}
}

// Links to traces are there where a data source with traces is set, and ask for
// what the step's uncorrected times say is slow.
func TestTracesOfTheSlowest(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	p99, _ := s.one(t, `{"queryType":"steps"}`).Frames[0].FieldByName("p99")
	if len(p99.Config.Links) != 0 {
		t.Errorf("links without a data source of traces: %+v", p99.Config.Links)
	}
	for want, service := range map[string]wire.Response{
		`{ .loadtest.run.id = "orders-42" && duration >= 250000us }`:  {P99: wire.Estimate{Value: new(0.25)}, Max: new(9.0)},
		`{ .loadtest.run.id = "orders-42" && duration >= 2000000us }`: {P99: wire.Estimate{Lo: new(2.0)}, Max: new(9.0)},
		`{ .loadtest.run.id = "orders-42" && duration >= 1800000us }`: {Reason: "4.1 % dropped", Max: new(2.0)},
		`{ .loadtest.run.id = "orders-42" }`:                          {Reason: "4.1 % dropped"},
	} {
		s.verdict(t, func(v *wire.Verdict) { v.Steps[0].ServiceTime = service })
		got := ask(t, s.settings(`{"tracesUid":"tempo","tracesName":"Tempo"}`), map[string]string{"A": `{"queryType":"steps"}`})["A"]
		if got.Error != nil {
			t.Fatal(got.Error)
		}
		p99, _ := got.Frames[0].FieldByName("p99")
		if len(p99.Config.Links) != 1 {
			t.Fatalf("links %+v", p99.Config.Links)
		}
		if asked := paneOf(t, text(t, got.Frames[0], "traces")); asked.Datasource != "tempo" || asked.Queries[0].Query != want || asked.Range.From != "1796032800000" {
			t.Errorf("the link leads to %+v, want %s", asked, want)
		}
	}
}

// pane is what an address of Explore shows.
type pane struct {
	Datasource string
	Queries    []struct{ Query string }
	Range      struct{ From, To string }
}

func paneOf(t *testing.T, address string) pane {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	var panes map[string]pane
	if err := json.Unmarshal([]byte(u.Query().Get("panes")), &panes); err != nil {
		t.Fatalf("%s: %v", address, err)
	}
	return panes["traces"]
}

func TestDoubtsAreNotices(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.verdict(t, func(v *wire.Verdict) {
		v.Run.Grade, v.Run.State, v.Horizon.Assumed, v.Audit.Valid = new("S"), wire.Live, true, false
		v.Horizon.HeldBy = new("host-2")
	})
	for _, query := range []string{"verdict", "steps", "knee", "series", "spectrum", "heatmap", "littleslaw", "findings", "goodput"} {
		got := notices(s.one(t, `{"queryType":"`+query+`"}`))
		for _, want := range []string{"Grade S", "The run goes on", "host-2 is silent", "No time-out is declared", "cannot be trusted"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: notices lack %q:\n%s", query, want, got)
			}
		}
	}
}
