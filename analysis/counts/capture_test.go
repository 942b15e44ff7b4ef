package counts_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"

	"github.com/plimsoll/plimsoll/analysis/counts"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// capture reads a captured OTLP stream, one batch an export request.
func capture(t *testing.T, name string) []*sample.Batch {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".pb.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var out []*sample.Batch
	for r := bytes.NewReader(all); r.Len() > 0; {
		n, err := binary.ReadUvarint(r)
		if err != nil {
			t.Fatal(err)
		}
		body := make([]byte, n)
		if _, err := io.ReadFull(r, body); err != nil {
			t.Fatal(err)
		}
		req := pmetricotlp.NewExportRequest()
		if err := req.UnmarshalProto(body); err != nil {
			t.Fatal(err)
		}
		out = append(out, convert(req.Metrics()))
	}
	return out
}

func convert(md pmetric.Metrics) *sample.Batch {
	b := &sample.Batch{}
	for _, rm := range md.ResourceMetrics().All() {
		service, _ := rm.Resource().Attributes().Get("service.name")
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				s := sample.Series{
					Source: service.AsString(), Service: service.AsString(), Scope: sm.Scope().Name(), Name: m.Name(), Unit: m.Unit(),
				}
				addMetric(b, s, m)
			}
		}
	}
	return b
}

func addMetric(b *sample.Batch, s sample.Series, m pmetric.Metric) {
	add := func(attributes pcommon.Map, start, at pcommon.Timestamp, v float64, d *sample.Distribution) {
		s.Attributes = attributesOf(attributes)
		b.Series = append(b.Series, s)
		b.Points = append(b.Points, sample.Point{
			Series: uint32(len(b.Series) - 1), Start: int64(start), Time: int64(at), Value: v, Histogram: d,
		})
	}
	number := func(p pmetric.NumberDataPoint) float64 {
		if p.ValueType() == pmetric.NumberDataPointValueTypeInt {
			return float64(p.IntValue())
		}
		return p.DoubleValue()
	}
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		s.Kind = sample.Gauge
		for _, p := range m.Gauge().DataPoints().All() {
			add(p.Attributes(), p.StartTimestamp(), p.Timestamp(), number(p), nil)
		}
	case pmetric.MetricTypeSum:
		s.Kind = sample.Counter
		if m.Sum().AggregationTemporality() == pmetric.AggregationTemporalityDelta {
			s.Kind = sample.DeltaSum
		}
		for _, p := range m.Sum().DataPoints().All() {
			add(p.Attributes(), p.StartTimestamp(), p.Timestamp(), number(p), nil)
		}
	case pmetric.MetricTypeHistogram:
		s.Kind = sample.Histogram
		for _, p := range m.Histogram().DataPoints().All() {
			add(p.Attributes(), p.StartTimestamp(), p.Timestamp(), p.Sum(), &sample.Distribution{
				Count: p.Count(), Min: p.Min(), Max: p.Max(),
				Bounds: p.ExplicitBounds().AsRaw(), Buckets: p.BucketCounts().AsRaw(),
			})
		}
	}
}

// attributesOf writes attributes as intake does.
func attributesOf(m pcommon.Map) string {
	var out []string
	escape := strings.NewReplacer(`\`, `\\`, `,`, `\,`)
	for k, v := range m.All() {
		if k != "startTime" && k != "endTime" { // Artillery's, which intake leaves out
			out = append(out, k+"="+escape.Replace(v.AsString()))
		}
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}

// expectation is what the generator said of itself.
type expectation struct {
	Requests       float64 `json:"requests"`
	Iterations     float64 `json:"iterations"`
	FailedRequests float64 `json:"failed_requests"`
	Dropped        float64 `json:"dropped_iterations"`
	ChecksFailed   float64 `json:"checks_failed"`
	Completed      float64 `json:"completed"`
	VUsMax         float64 `json:"vus_max"`
	P50            float64 `json:"p50_ms"`
	P95            float64 `json:"p95_ms"`
	P99            float64 `json:"p99_ms"`
	Must           string  `json:"analysis_must_say"`
}

func expected(t *testing.T, name string) expectation {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var e expectation
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestPrint(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.pb.gz")
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".pb.gz")
		e := expected(t, name)
		for _, in := range counts.Recognise(capture(t, name)...) {
			t.Logf("%s %q %q: %d intervals, totals %+v\n want %+v", name, in.Source, in.Stream, len(in.Intervals), in.Totals(), e)
			r := counts.Judge(in.WithoutDrain())
			t.Logf("  %s loop %q: %s\n advice %q warnings %q", r.State, r.Loop, r.Reason, r.Advice, r.Warnings)
			t.Logf("  %+v", r.Evidence)
			t.Logf("  %+v", counts.Percentiles(in, 0.5, 0.95, 0.99))
			for _, w := range counts.Rates(in) {
				t.Logf("  %.1f s: offered %.4g ended %.4g failed %.4g dropped %.4g L %.4g", float64(w.To-w.From)/1e9, w.Offered, w.Ended, w.Failed, w.Dropped, w.InFlight)
			}
		}
	}
}
