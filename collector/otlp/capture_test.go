package otlp

import (
	"encoding/json"
	"flag"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/internal/captured"
)

var captures = flag.String("captures", "testdata", "folder of captured exports to decode")

// TestCaptures decodes what real generators sent as the full decoder does.
func TestCaptures(t *testing.T) {
	t.Parallel()
	table := testTable(t)
	found := 0
	err := filepath.WalkDir(*captures, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".pb.gz") && !strings.HasSuffix(path, ".rawjson.gz") {
			return err
		}
		found++
		t.Run(path, func(t *testing.T) {
			d := NewDecoder(table)
			for _, body := range captured.Exports(t, path) {
				decodeLikeOracle(t, d, path, body)
			}
		})
		return nil
	})
	if err != nil || found == 0 {
		t.Fatalf("found %d captures: %v", found, err)
	}
}

func decodeLikeOracle(t *testing.T, d *Decoder, path string, body []byte) {
	t.Helper()
	isJSON, metrics := strings.Contains(path, "rawjson"), strings.Contains(path, "metrics")
	var err, oerr error
	mreq, treq := pmetricotlp.NewExportRequest(), ptraceotlp.NewExportRequest()
	switch {
	case metrics && isJSON:
		_, err = d.MetricsJSON(body)
		oerr = mreq.UnmarshalJSON(body)
	case metrics:
		_, err = d.Metrics(body)
		oerr = mreq.UnmarshalProto(body)
	case isJSON:
		_, err = d.TracesJSON(body)
		oerr = treq.UnmarshalJSON(body)
	default:
		_, err = d.Traces(body)
		oerr = treq.UnmarshalProto(body)
	}
	if err != nil || oerr != nil {
		t.Fatalf("decode: %v, oracle: %v", err, oerr)
	}
	if metrics {
		compareMetrics(t, d, mreq.Metrics())
	} else {
		compareTraces(t, d, d.table, treq.Traces())
	}
	if d.Report().Rejected() != 0 {
		t.Errorf("refused: %s", d.Report().Message())
	}
}

// compareMetrics checks the points of a request against the oracle's.
func compareMetrics(t *testing.T, d *Decoder, md pmetric.Metrics) {
	t.Helper()
	o := metricOracle{table: d.table}
	o.read(md)
	got := slices.DeleteFunc(flattenPoints(d.router.Batches()), func(p flatPoint) bool { // made of others
		return p.Series.Scope == artilleryScope && p.Series.Name == "loadtest.arrivals.dropped"
	})
	if diff := gocmp.Diff(o.points, got, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("points differ from the full decoder's (-want +got):\n%s", diff)
	}
	if n := d.Report().Rejected(); n != o.refused {
		t.Fatalf("%d refused, want %d: %s", n, o.refused, d.Report().Message())
	}
}

// expectation is what a generator's own summary says of a run.
type expectation struct {
	Requests                int
	MaxMs                   float64 `json:"max_ms"`
	P95ms                   float64 `json:"p95_ms"`
	P99ms                   float64 `json:"p99_ms"`
	IntendedP95ms           float64 `json:"intended_p95_ms"`
	IntendedP99ms           float64 `json:"intended_p99_ms"`
	CompletedInItsOwnReport int     `json:"completed"`
}

func readExpectation(t testing.TB, folder string) (e expectation) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", folder, "expect.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

// check compares rows with the generator's own figures.
func (e *expectation) check(t *testing.T, rows []flatRow) {
	t.Helper()
	if len(rows) != e.Requests {
		t.Fatalf("%d rows, the generator sent %d", len(rows), e.Requests)
	}
	var service, response []float64
	for _, r := range rows {
		service = append(service, float64(r.Row.Done-r.Row.Sent)/1e6)
		if r.Row.Intended == 0 || r.Group.Scenario != "orders" {
			t.Fatalf("row without intended time or scenario: %+v", r)
		}
		response = append(response, float64(r.Row.Done-r.Row.Intended)/1e6)
	}
	near := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 0.01*want {
			t.Errorf("%s is %.3f ms, the generator says %.3f ms", name, got, want)
		}
	}
	near("p95", nearestRank(service, 0.95), e.P95ms)
	near("p99", nearestRank(service, 0.99), e.P99ms)
	near("p95 from the intended time", nearestRank(response, 0.95), e.IntendedP95ms)
	near("p99 from the intended time", nearestRank(response, 0.99), e.IntendedP99ms)
}

func nearestRank(v []float64, q float64) float64 {
	slices.Sort(v)
	return v[max(int(math.Ceil(q*float64(len(v))))-1, 0)]
}

// TestArtillery counts requests, not the client spans around them.
func TestArtillery(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"artillery/otlp.traces.rawjson.gz", "artillery/otlp.traces.pb.gz"} {
		d := NewDecoder(testTable(t))
		rows, keys := []flatRow{}, map[uint64]bool{}
		var nested int64
		for _, body := range captured.Exports(t, filepath.Join("testdata", file)) {
			decodeLikeOracle(t, d, file, body)
			rows = append(rows, flatten(d.router.Batches())...)
			nested += d.Report().Count(Nested)
		}
		for _, r := range rows {
			if r.Row.Self == 0 || r.Run == "" {
				t.Fatalf("%s: row without a name of its own, or without a run: %+v", file, r)
			}
			keys[r.Row.Key] = true
		}
		leaves := 0
		for _, r := range rows {
			if !keys[r.Row.Self] {
				leaves++
			}
		}
		if leaves != 750 || len(rows)+int(nested) != 1500 {
			t.Errorf("%s: %d leaves of %d rows, %d nested; want 750 leaves and 1500 spans", file, leaves, len(rows), nested)
		}
	}
}

// TestFortiotel counts the calls of the run: neither what otelhttptrace says that
// a call is made of, nor the calls that open the connections before the run.
func TestFortiotel(t *testing.T) {
	t.Parallel()
	e := readExpectation(t, "fortiotel")
	d := NewDecoder(testTable(t))
	var rows []flatRow
	for _, body := range captured.Exports(t, "testdata/fortiotel/otlp.traces.pb.gz") {
		decodeLikeOracle(t, d, "fortiotel", body)
		rows = append(rows, flatten(d.router.Batches())...)
	}
	var took []float64
	for _, r := range rows {
		took = append(took, float64(r.Row.Done-r.Row.Sent)/1e6)
		if r.Run != "fortiotel" || r.Group.Generator != "fortio" || r.Row.Status != 200 {
			t.Fatalf("%+v", r)
		}
	}
	// fortio's own slowest call is the one of the span, and what is around it.
	if p50, longest := nearestRank(took, 0.5), nearestRank(took, 1); len(rows) != e.Requests || longest > e.MaxMs || longest < 0.97*e.MaxMs || p50 < 40 || p50 > 42 {
		t.Errorf("%d rows, p50 %.1f ms, the slowest %.2f ms; fortio has %d and %.2f ms", len(rows), p50, longest, e.Requests, e.MaxMs)
	}
}

// TestVLLM: spans of a model server are no requests of a run, but what they say
// of its queue is kept.
func TestVLLM(t *testing.T) {
	t.Parallel()
	d := NewDecoder(testTable(t))
	want := map[string]float64{"gen_ai.latency.time_in_queue": 5, "gen_ai.latency.e2e": 19.5}
	for _, body := range captured.Exports(t, "testdata/vllm/otlp.traces.pb.gz") {
		decodeLikeOracle(t, d, "vllm", body)
		for _, p := range flattenPoints(d.router.Batches()) {
			if p.Run != sample.Telemetry || p.Point.Histogram == nil || p.Point.Histogram.Count != 50 || math.Abs(p.Point.Value-want[p.Series.Name]) > 1e-6 {
				t.Errorf("%+v %+v", p, p.Point.Histogram)
			}
			delete(want, p.Series.Name)
		}
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}
