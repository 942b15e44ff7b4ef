package importer_test

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/verdict"
	"github.com/plimsoll/plimsoll/collector/convention"
	"github.com/plimsoll/plimsoll/collector/importer"
	"github.com/plimsoll/plimsoll/collector/journal"
	"github.com/plimsoll/plimsoll/collector/journal/memory"
	"github.com/plimsoll/plimsoll/collector/otlp"
	"github.com/plimsoll/plimsoll/collector/runs"
)

// imported is a file that was imported into a catalogue, and its verdict.
type imported struct {
	report  *importer.Report
	verdict *wire.Verdict
	rows    []sample.Row
}

// bring imports a file of testdata and judges its run. A schedule is declared.
func bring(t *testing.T, name string, d *wire.Declaration) imported {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	now := func() time.Time { return time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC) }
	c, err := runs.New(memory.New(), runs.DefaultConfig(), now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	var got imported
	keep := func(ctx context.Context, id journal.ID, batches []*sample.Batch) (journal.Receipt, error) {
		for _, b := range batches {
			for i := range b.Sent {
				got.rows = append(got.rows, b.Row(i))
			}
		}
		return c.Import(ctx, id, batches)
	}
	got.report, err = importer.Import(t.Context(), importer.Input{
		Name: name, Reader: f, Written: 1796046400e9, Scheduled: d != nil, OTLP: otlp.NewDecoder(convention.Default()),
	}, keep)
	if err != nil {
		t.Fatalf("import: %v", err)
	}
	for _, id := range got.report.Runs {
		if d != nil {
			d.ID = id
			if _, _, err := c.Declare(t.Context(), *d); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.Finish(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	ev, err := c.Open(t.Context(), got.report.Runs[0])
	if err != nil {
		t.Fatal(err)
	}
	if got.verdict, err = (verdict.Analysis{}).Judge(t.Context(), ev, query.Options{}); err != nil {
		t.Fatal(err)
	}
	return got
}

// capture is a run of a real generator, as it counted itself.
type capture struct {
	file      string
	format    string
	grade     string
	sent      int64 // attempts
	requests  int64 // due and sent
	dropped   float64
	failed    int64
	loop      string
	quantiles map[float64]float64 // service time in ms, as the generator says; its own may interpolate
	within    float64
	findings  []string
}

func captures() []capture {
	return []capture{
		{
			file: "k6/a-constant-vus.json.zst", format: "k6-json", grade: "S", sent: 2947, requests: 2947, loop: "closed",
			quantiles: map[float64]float64{0.5: 101.854, 0.95: 122.873, 0.99: 125.843, 1: 133.621}, within: 0.001,
			findings: []string{"closed_loop"},
		},
		{
			file: "k6/b-arrival-150.json.zst", format: "k6-json", grade: "C", sent: 3131, requests: 3131, dropped: 1370, loop: "capped",
			findings: []string{"dropped_arrivals", "worker_cap"},
		},
		{
			file: "k6/c-arrival-90.json.zst", format: "k6-json", grade: "C", sent: 2701, requests: 2701, loop: "open",
		},
		{
			file: "k6/e-stall-100.json.zst", format: "k6-json", grade: "C", sent: 5926, requests: 5926, dropped: 75,
			findings: []string{"stall", "dropped_arrivals"},
		},
		{
			file: "k6/e2-stall-100-20vus.json.zst", format: "k6-json", grade: "C", sent: 1821, requests: 1821, dropped: 180,
			findings: []string{"stall", "dropped_arrivals"},
		},
		{
			file: "k6/e3-stall-closed.json.zst", format: "k6-json", grade: "S", sent: 1735, requests: 1735, loop: "closed",
			quantiles: map[float64]float64{0.5: 1.919, 0.95: 5.548, 1: 2001.106}, within: 0.005,
			findings: []string{"stall", "closed_loop", "closed_loop_slump"},
		},
		{
			file: "k6/f-overload-return.json.zst", format: "k6-json", grade: "C", sent: 12693, requests: 5923, dropped: 1276, failed: 10155,
			findings: []string{"recovery", "lossy_step", "dropped_arrivals", "worker_cap"},
		},
		{
			file: "k6/j-system-tags.json.zst", format: "k6-json", grade: "C", sent: 901, requests: 901, loop: "open",
		},
		{
			file: "k6/k-browser-traces.json.zst", format: "k6-json", grade: "S", sent: 10, requests: 10, failed: 5,
		},
		{
			file: "vegeta/orders-90.bin.zst", format: "vegeta-gob", grade: "B", sent: 1795, requests: 1795, loop: "open",
			quantiles: map[float64]float64{0.5: 41.506, 0.95: 133.723, 0.99: 163.381, 1: 197.621}, within: 0.005,
		},
		{
			file: "vegeta/orders-90.csv.zst", format: "vegeta-csv", grade: "B", sent: 1795, requests: 1795, loop: "open",
		},
		{
			file: "vegeta/stall-100.bin.zst", format: "vegeta-gob", grade: "B", sent: 2000, requests: 2000, loop: "open",
			quantiles: map[float64]float64{0.5: 1.688, 0.95: 1007.356, 0.99: 1807.049, 1: 2003.517}, within: 0.005, findings: []string{"stall"},
		},
		{
			file: "vegeta/stall-100.csv.zst", format: "vegeta-csv", grade: "B", sent: 2000, requests: 2000, loop: "open", findings: []string{"stall"},
		},
		{
			file: "vegeta/stall-100.json.zst", format: "vegeta-json", grade: "B", sent: 2000, requests: 2000, loop: "open", findings: []string{"stall"},
		},
		{
			file: "jmeter/stall.jtl.zst", format: "jtl-xml", grade: "S", sent: 1721, requests: 1721, loop: "closed",
			quantiles: map[float64]float64{0.5: 3, 0.95: 37, 0.99: 239, 1: 1990}, within: 0, findings: []string{"stall", "closed_loop"},
		},
		{
			file: "../../otlp/testdata/otelgen-stall/otlp.traces.pb.gz", format: "otlp-proto", grade: "S", sent: 2000, requests: 2000,
		},
	}
}

func TestCaptures(t *testing.T) {
	t.Parallel()
	for _, c := range captures() {
		t.Run(strings.ReplaceAll(c.file, "/", "_"), func(t *testing.T) {
			t.Parallel()
			got := bring(t, c.file, nil)
			c.check(t, &got)
		})
	}
}

func (c *capture) check(t *testing.T, got *imported) {
	t.Helper()
	r, v := got.report, got.verdict
	if r.Format != c.format || r.Rows != c.sent || r.Dropped != c.dropped || r.Bad != 0 || r.Grade() != c.grade {
		t.Errorf("%s: %d rows, %v dropped, %d bad, grade %s", r.Format, r.Rows, r.Dropped, r.Bad, r.Grade())
	}
	if v.Run.Grade == nil || *v.Run.Grade != c.grade {
		t.Errorf("the verdict is of grade %v", v.Run.Grade)
	}
	failed := int64(0)
	for _, row := range got.rows {
		if row.Outcome != sample.OK {
			failed++
		}
	}
	if failed != c.failed {
		t.Errorf("%d requests failed, want %d", failed, c.failed)
	}
	if c.requests > 0 && (v.Totals.Sent != c.requests || v.Totals.Dropped != int64(c.dropped)) {
		t.Errorf("the verdict has %d sent and %d dropped of %d due", v.Totals.Sent, v.Totals.Dropped, v.Totals.Due)
	}
	if c.loop != "" && v.Audit.Loop != c.loop {
		t.Errorf("loop %s, want %s", v.Audit.Loop, c.loop)
	}
	var codes []string
	for _, f := range v.Findings {
		codes = append(codes, f.Code)
	}
	for _, code := range c.findings {
		if !slices.Contains(codes, code) {
			t.Errorf("no finding %s among %v", code, codes)
		}
	}
	c.checkQuantiles(t, got)
	if t.Failed() {
		t.Logf("%s; %v; %v; %v", v.Headline, r.Warnings, r.Advice, codes)
	}
}

// checkQuantiles holds the service times of the verdict against those of the
// rows (the verdict may round to three digits), and the rows against what the
// generator says of itself.
func (c *capture) checkQuantiles(t *testing.T, got *imported) {
	t.Helper()
	slices.SortFunc(got.rows, func(a, b sample.Row) int { return cmp.Compare(a.Done-a.Sent, b.Done-b.Sent) })
	rank := func(q float64) float64 {
		r := got.rows[max(0, int(math.Ceil(q*float64(len(got.rows))))-1)]
		return float64(r.Done-r.Sent) / 1e6
	}
	for q, want := range c.quantiles {
		if got := rank(q); math.Abs(got-want) > c.within*want {
			t.Errorf("p%v of the rows is %v ms, the generator says %v", 100*q, got, want)
		}
	}
	s := got.verdict.Totals.ServiceTime
	if c.sent != c.requests {
		return
	}
	for _, e := range []struct {
		q   float64
		est wire.Estimate
	}{{0.5, s.P50}, {0.9, s.P90}, {0.95, s.P95}, {0.99, s.P99}} {
		if e.est.Value == nil {
			continue
		}
		if want := rank(e.q) / 1e3; math.Abs(*e.est.Value-want) > 0.001*want+1e-6 {
			t.Errorf("p%v of the verdict is %v s, of the rows %v s", 100*e.q, *e.est.Value, want)
		}
	}
}
