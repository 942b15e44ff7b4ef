package counts_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"

	"github.com/plimsoll/plimsoll/analysis/counts"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/stability"
	"github.com/plimsoll/plimsoll/internal/captured"
)

// capture reads a captured OTLP stream, one batch an export request.
func capture(t *testing.T, name string) []*sample.Batch {
	t.Helper()
	var out []*sample.Batch
	for _, body := range captured.Exports(t, filepath.Join("testdata", name+".pb.gz")) {
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

func captures(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.pb.gz")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".pb.gz")
	}
	return files
}

func whole(t *testing.T, name string) counts.Input {
	t.Helper()
	in := counts.Recognise(capture(t, name)...)
	if len(in) != 1 {
		t.Fatalf("%s: %d inputs", name, len(in))
	}
	return in[0]
}

// TestCapturesExact: counts are the generator's own, to the last one.
func TestCapturesExact(t *testing.T) {
	t.Parallel()
	for _, name := range captures(t) {
		e, got := expected(t, name), whole(t, name).Totals()
		want := counts.Totals{
			Ended: e.Iterations, Dropped: e.Dropped, Requests: e.Requests, FailedRequests: e.FailedRequests, FailedChecks: e.ChecksFailed,
		}
		if strings.HasPrefix(name, "artillery") { // users, of one request each
			want = counts.Totals{Ended: e.Requests, Requests: e.Requests, Failed: e.FailedRequests}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// TestCapturesAnyOrder: neither order nor repetition of exports matters, nor how
// they are cut.
func TestCapturesAnyOrder(t *testing.T) {
	t.Parallel()
	for _, name := range captures(t) {
		batches := capture(t, name)
		want := counts.Recognise(batches...)
		again := append(slices.Clone(batches), batches[len(batches)/2:]...)
		slices.Reverse(again)
		if d := cmp.Diff(want, counts.Recognise(again...), cmpopts.EquateNaNs(), cmp.Exporter(func(reflect.Type) bool { return true })); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
}

// TestCapturesPercentiles: the generator's own percentiles lie in the buckets.
// Its quantiles lie between two samples, so the edges allow for one.
func TestCapturesPercentiles(t *testing.T) {
	t.Parallel()
	for _, name := range captures(t) {
		e, in := expected(t, name), whole(t, name)
		ps := counts.Percentiles(in, 0.5, 0.95, 0.99)
		if strings.HasPrefix(name, "artillery") || name == "k6-k-browser-traces" {
			continue // no histogram, or one of the iteration where the summary has the browser's requests
		}
		for i, want := range []float64{e.P50, e.P95, e.P99} {
			if p := ps[i]; want > 0 && (want/1e3 <= p.Bucket.Lo*0.999 || want/1e3 > p.Bucket.Hi*1.001) {
				t.Errorf("%s: p%v %v ms in (%v, %v] s", name, p.Quantile*100, want, p.Bucket.Lo, p.Bucket.Hi)
			}
			if p := ps[i]; p.Supported != (p.Quantile <= 1-e.Dropped/(e.Dropped+e.Iterations)) {
				t.Errorf("%s: p%v supported %v with %v dropped", name, p.Quantile*100, p.Supported, e.Dropped)
			}
		}
	}
}

// TestCapturesSay: what a correct analysis must say of each, as far as counts can.
func TestCapturesSay(t *testing.T) {
	t.Parallel()
	check := func(name string, state stability.State, loop counts.Loop, words string) counts.Result {
		t.Helper()
		r := counts.Judge(whole(t, name).WithoutDrain())
		if r.State != state || r.Loop != loop || !strings.Contains(r.Reason, words) {
			t.Errorf("%s: %s, loop %q: %s", name, r.State, r.Loop, r.Reason)
		}
		return r
	}
	r := check("k6-a-constant-vus", stability.Inconclusive, counts.LoopClosed, "a closed loop: 10 in flight")
	if math.Abs(r.EndedPerS-97.8) > 5 || r.NeedS != 0 {
		t.Errorf("a-constant-vus: %+v", r)
	}
	// The first second ran at a tenth of the duration of the rest, which bounds
	// the capacity below the rate that was asked for.
	r = check("k6-b-arrival-150", stability.Unstable, counts.LoopUnknown, "200 workers all busy")
	if math.Abs(r.EndedPerS-97.8) > 0.5 || math.Abs(r.Offered-150) > 3 || r.CapacityUp < 100 || math.Abs(r.Omission-0.304) > 0.02 {
		t.Errorf("b-arrival-150: %+v", r)
	}
	check("k6-c-arrival-90", stability.Stable, counts.LoopUnknown, "stays calm")
	r = check("k6-e-stall-100", stability.Inconclusive, counts.LoopUnknown, "75 of")
	if math.Abs(r.Omission-75.0/6001) > 1e-6 {
		t.Errorf("e-stall-100: omission %v", r.Omission)
	}
	check("k6-e2-stall-100-20vus", stability.Inconclusive, counts.LoopUnknown, "180 of")
	check("k6-e3-stall-closed", stability.Inconclusive, counts.LoopClosed, "a closed loop: 10 in flight")
	r = check("k6-g-grpc-default-interval", stability.Inconclusive, counts.LoopUnknown, "only 1 export intervals")
	if !slices.Contains(r.Advice, "K6_OTEL_EXPORT_INTERVAL=1s exports every second") {
		t.Errorf("g: %q", r.Advice)
	}
	check("artillery-ramp-grpc", stability.Inconclusive, counts.LoopOpen, "export intervals")
}

// TestCapturesOverloadAndReturn cuts run f by its schedule: 90/s, 150/s, 60/s.
func TestCapturesOverloadAndReturn(t *testing.T) {
	t.Parallel()
	in := whole(t, "k6-f-overload-return")
	const start = int64(1796045855993076149)
	step := func(from, to int64) counts.Result { return counts.Judge(in.Between(start+from*1e9, start+to*1e9)) }
	if r := step(0, 20); r.State == stability.Unstable || r.Omission > 0.01 || r.Failed > 0.01 {
		t.Errorf("90/s: %s %s", r.State, r.Reason)
	}
	if r := step(20, 40); r.State == stability.Stable || r.Omission < 0.3 || r.Failed < 0.5 {
		t.Errorf("150/s: %s %s", r.State, r.Reason)
	}
	r := step(50, 80)
	if r.Failed < 0.99 || !slices.Contains(r.Warnings, counts.WarnFailures) || math.Abs(r.EndedPerS-60) > 3 || math.Abs(r.Mean-360) > 40 {
		t.Errorf("60/s again: %s %s, failed %v, X %v, L %v", r.State, r.Reason, r.Failed, r.EndedPerS, r.Mean)
	}
	if r.State == stability.Stable && !strings.Contains(r.Reason, "100 % of requests failed") {
		t.Errorf("60/s again: %s", r.Reason)
	}
}

// TestFailedIterations: failed requests bound how many iterations failed.
func TestFailedIterations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of          counts.Totals
		least, most float64
	}{
		{counts.Totals{Ended: 100, Requests: 100, FailedRequests: 7}, 7, 7},
		{counts.Totals{Ended: 5923, Requests: 12693, FailedRequests: 10155}, 3385, 5923},
		{counts.Totals{Ended: 100, Requests: 300, FailedRequests: 100}, 0, 100}, // one of three each, or all of a third
		{counts.Totals{Ended: 100, Requests: 300, FailedRequests: 20}, 0, 20},
		{counts.Totals{Ended: 100, Failed: 5, Requests: 300, FailedRequests: 20}, 5, 5},
		{counts.Totals{Ended: 100, FailedRequests: 20}, 0, 20},
		{counts.Totals{Ended: 100, Requests: 90}, 0, 0},
	} {
		if least, most := c.of.FailedIterations(); least != c.least || most != c.most {
			t.Errorf("%+v: %g to %g, want %g to %g", c.of, least, most, c.least, c.most)
		}
	}
}

// TestCapturesRates: what was offered and what ended, however exports met the
// hand-over of samples.
func TestCapturesRates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		offered, ended float64
	}{
		{"k6-a-constant-vus", 97.8, 97.8},
		{"k6-b-arrival-150", 150, 97.8},
		{"k6-c-arrival-90", 90, 90},
		{"k6-e-stall-100", 100, 98.8},
		{"k6-e2-stall-100-20vus", 100, 91.05},
		{"k6-e3-stall-closed", 86.5, 86.5},
		{"k6-g-grpc-default-interval", 90, 90},
		{"k6-j-system-tags", 90, 90},
	} {
		in := whole(t, c.name)
		in.Finished = true
		r := counts.Judge(in.WithoutDrain())
		if math.Abs(r.Offered-c.offered) > 0.015*c.offered {
			t.Errorf("%s: offered %g, was %g", c.name, r.Offered, c.offered)
		}
		if math.Abs(r.EndedPerS-c.ended) > 0.02*c.ended {
			t.Errorf("%s: %g ended, %g did", c.name, r.EndedPerS, c.ended)
		}
	}
}
