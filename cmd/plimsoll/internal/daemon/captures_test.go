package daemon_test

import (
	"encoding/binary"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/collector/convention"
	"github.com/plimsoll/plimsoll/collector/journal"
	"github.com/plimsoll/plimsoll/collector/journal/memory"
	"github.com/plimsoll/plimsoll/collector/otlp"
	"github.com/plimsoll/plimsoll/collector/runs"
	"github.com/plimsoll/plimsoll/internal/captured"
)

// takenIn is a catalogue that holds captured exports, long after the end.
func takenIn(t *testing.T, folder string, files ...string) *runs.Catalogue {
	t.Helper()
	now := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	c, err := runs.New(memory.New(), runs.DefaultConfig(), func() time.Time { return now }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	d := otlp.NewDecoder(convention.Default())
	for i, file := range files {
		decode := d.Traces
		switch isJSON, metrics := strings.HasSuffix(file, ".rawjson.gz"), strings.Contains(file, "metrics"); {
		case metrics && isJSON:
			decode = d.MetricsJSON
		case metrics:
			decode = d.Metrics
		case isJSON:
			decode = d.TracesJSON
		}
		for k, body := range captured.Exports(t, filepath.Join("..", "..", "..", "..", "collector", "otlp", "testdata", folder, file)) {
			batches, err := decode(body)
			if err != nil {
				t.Fatal(err)
			}
			id := journal.ID{byte(i)}
			binary.BigEndian.PutUint32(id[1:], uint32(k))
			if _, err := c.Import(t.Context(), id, batches); err != nil {
				t.Fatal(err)
			}
		}
	}
	return c
}

// TestCaptures takes in what real generators sent, all of it in any of the forms
// that they know, and holds the verdict against what they said of themselves.
func TestCaptures(t *testing.T) {
	t.Parallel()
	const (
		traces, metrics         = "otlp.traces.pb.gz", "otlp.metrics.pb.gz"
		jsonTraces, jsonMetrics = "otlp.traces.rawjson.gz", "otlp.metrics.rawjson.gz"
	)
	for _, c := range []struct {
		folder    string
		files     []string
		generator string
		grade     string
		loop      string
		due       int64
		failed    int64
		says      []string // codes
		silent    []string
	}{
		{"artillery", []string{jsonTraces, jsonMetrics}, "artillery", "S", "open", 750, 0, nil, []string{"telemetry_lost", "sampled_spans"}},
		{"artillery", []string{traces, metrics}, "artillery", "S", "open", 750, 0, nil, []string{"telemetry_lost", "sampled_spans"}},
		{"artillery-grpc", []string{traces, metrics}, "artillery", "S", "open", 630, 389, []string{"telemetry_lost"}, []string{"lossy_step"}},
		{"artillery-grpc", []string{metrics}, "artillery", "F", "open", 2100, 1319, nil, []string{"telemetry_lost"}},
		{"locust-grpc", []string{traces, metrics}, "locust", "S", "closed", 792, 0, []string{"closed_loop"}, []string{"telemetry_lost", "counted_twice"}},
		{"locust-http", []string{traces, metrics}, "locust", "S", "closed", 696, 0, []string{"closed_loop"}, []string{"telemetry_lost", "counted_twice"}},
		{"locust-http", []string{metrics}, "locust", "F", "closed", 688, 0, []string{"closed_loop"}, nil},
		{"fortiotel", []string{traces}, "fortio", "S", "", 350, 0, []string{"no_intended_time"}, []string{"telemetry_lost"}},
		{"k6-browser", []string{traces}, "k6", "S", "", 5, 0, []string{"outcome_unknown"}, []string{"telemetry_lost", "too_many_scenarios"}},
		{"k6-browser", []string{traces, metrics}, "k6", "S", "", 5, 0, []string{"outcome_unknown"}, []string{"telemetry_lost", "counted_twice"}},
		{"k6-browser", []string{metrics}, "k6", "F", "", 5, 0, []string{"counts_only", "lossy_step", "requests_per_iteration"}, nil},
		{"k6-arrival", []string{metrics}, "k6", "F", "", 2701, 0, nil, []string{"telemetry_lost"}},
	} {
		cat := takenIn(t, c.folder, c.files...)
		v := judged(t, cat)
		said := map[string]string{}
		for _, f := range v.Findings {
			said[f.Code] = f.Message
		}
		total := &v.Totals
		if v.Run.Generator != c.generator || v.Run.Grade == nil || *v.Run.Grade != c.grade || c.loop != "" && v.Audit.Loop != c.loop {
			t.Errorf("%s %v: generator %q, grade %v, loop %q", c.folder, c.files, v.Run.Generator, v.Run.Grade, v.Audit.Loop)
		}
		failed := total.Counts.Error + total.Counts.Timeout + total.Counts.Shed + total.Counts.Cancelled
		if total.Due != c.due || failed != c.failed {
			t.Errorf("%s %v: %d due, %d failed; want %d and %d", c.folder, c.files, total.Due, failed, c.due, c.failed)
		}
		for _, code := range c.says {
			if said[code] == "" {
				t.Errorf("%s %v: nothing says %s: %v", c.folder, c.files, code, said)
			}
		}
		for _, code := range c.silent {
			if said[code] != "" {
				t.Errorf("%s %v: %s: %s", c.folder, c.files, code, said[code])
			}
		}
		if c.grade == "F" && total.ResponseTime.Valid && total.ResponseTime.Grade != nil && *total.ResponseTime.Grade != "F" {
			t.Errorf("%s %v: a corrected percentile from counts", c.folder, c.files)
		}
		if v.Outcome == wire.OutcomePass && c.loop == "closed" {
			t.Errorf("%s %v passes", c.folder, c.files)
		}
		if testing.Verbose() {
			t.Logf("%s %v: %s; %v", c.folder, c.files, v.Headline, said)
		}
	}
}
