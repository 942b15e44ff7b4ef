package counts_test

import (
	"math"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/counts"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/stability"
)

// builder makes batches by hand.
type builder struct {
	b      sample.Batch
	scope  string
	source string
}

func (b *builder) add(name, attributes, unit string, kind sample.Kind, start, at int64, v float64, d *sample.Distribution) {
	b.b.Series = append(b.b.Series, sample.Series{
		Source: b.source, Scope: b.scope, Name: name, Attributes: attributes, Unit: unit, Kind: kind,
	})
	b.b.Points = append(b.b.Points, sample.Point{
		Series: uint32(len(b.b.Series) - 1), Start: start * 1e9, Time: at * 1e9, Value: v, Histogram: d,
	})
}

func (b *builder) inputs() []counts.Input { return counts.Recognise(&b.b) }

func TestK6OldNamesAndPrefix(t *testing.T) {
	t.Parallel()
	b := builder{scope: "k6"}
	for i := range int64(5) {
		at, n := 10*(i+1), float64(100*(i+1))
		b.add("load_iterations", "scenario=a", "", sample.Counter, 1, at, n, nil)
		b.add("load_vus", "", "", sample.Gauge, 1, at, 3, nil)
		b.add("load_http_req_failed.occurred", "scenario=a", "", sample.Counter, 1, at, n/10, nil)
		b.add("load_http_req_failed.total", "scenario=a", "", sample.Counter, 1, at, n, nil)
		b.add("load_checks.occurred", "scenario=a", "", sample.Counter, 1, at, n-3, nil)
		b.add("load_checks.total", "scenario=a", "", sample.Counter, 1, at, n, nil)
		b.add("load_failed_iterations", "", "", sample.Counter, 1, at, 7*n, nil) // a script's own
	}
	in := b.inputs()[0]
	if got, want := in.Totals(), (counts.Totals{Ended: 500, FailedRequests: 50, FailedChecks: 3}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if in.From != 0 || len(in.Intervals) != 5 || in.Intervals[4].InFlight != 3 || !math.IsNaN(in.Intervals[4].Limit) {
		t.Errorf("%+v", in)
	}
}

// TestRestart: a new start and a fall without one both begin a new life, and a
// series that appears late counts where it appears.
func TestRestart(t *testing.T) {
	t.Parallel()
	b := builder{scope: "k6"}
	for i, v := range []float64{10, 30, 5, 9} {
		b.add("iterations", "scenario=a", "", sample.Counter, 1, 10*int64(i+1), v, nil)
	}
	b.add("iterations", "scenario=a", "", sample.Counter, 45, 50, 4, nil)
	b.add("dropped_iterations", "scenario=a", "", sample.Counter, 1, 40, 6, nil)
	b.add("iterations", `scenario=a,url=x\,scenario=b`, "", sample.Counter, 1, 30, 2, nil)
	in := b.inputs()
	if len(in) != 1 {
		t.Fatalf("%d inputs", len(in))
	}
	want := []float64{10, 20, 7, 4, 4}
	for i, v := range in[0].Intervals {
		if v.Ended != want[i] || (v.Dropped != 0) != (i == 3) {
			t.Errorf("interval %d: %+v", i, v)
		}
	}
}

func TestStreams(t *testing.T) {
	t.Parallel()
	b := builder{scope: "k6"}
	b.add("iterations", "scenario=a", "", sample.Counter, 1, 10, 5, nil)
	b.add("iterations", "scenario=b", "", sample.Counter, 1, 10, 7, nil)
	b.add("vus", "", "", sample.Gauge, 1, 10, 3, nil)
	in := b.inputs()
	if len(in) != 3 || in[0].Totals().Ended != 12 || in[1].Totals().Ended != 5 || in[2].Stream != "b" {
		t.Fatalf("%+v", in)
	}
	if in[0].Intervals[0].InFlight != 3 || !math.IsNaN(in[1].Intervals[0].InFlight) {
		t.Error("the gauge is of all streams together")
	}
}

// TestHistograms: cumulative and delta, explicit and exponential say the same.
func TestHistograms(t *testing.T) {
	t.Parallel()
	explicit := func(a, b, c uint64) *sample.Distribution {
		return &sample.Distribution{Count: a + b + c, Max: math.NaN(), Bounds: []float64{10, 100}, Buckets: []uint64{a, b, c}}
	}
	exponential := func(scale, offset int32, n ...uint64) *sample.Distribution {
		d := &sample.Distribution{Max: math.NaN(), Exponential: true, Scale: scale, Offset: offset, Buckets: n, Zero: 1, Count: 1}
		for _, c := range n {
			d.Count += c
		}
		return d
	}
	check := func(name string, kind sample.Kind, first, second *sample.Distribution, sums [2]float64, lo, hi float64) {
		t.Helper()
		b := builder{scope: "k6"}
		b.add("iteration_duration", "", "ms", kind, 1, 10, sums[0], first)
		b.add("iteration_duration", "", "ms", kind, 1, 20, sums[1], second)
		in := b.inputs()[0]
		if got := in.Totals().Ended; got != 12 {
			t.Errorf("%s: %v ended", name, got)
		}
		if a, z := in.Intervals[0].ServiceS, in.Intervals[1].ServiceS; math.Abs(a-0.3) > 1e-9 || math.Abs(z-0.5) > 1e-9 {
			t.Errorf("%s: S %v, %v", name, a, z)
		}
		p := counts.Percentiles(in, 0.99)
		if len(p) != 1 || math.Abs(p[0].Bucket.Lo-lo) > 1e-9 || p[0].Bucket.Hi != hi && math.Abs(p[0].Bucket.Hi-hi) > 1e-9 {
			t.Errorf("%s: %+v", name, p)
		}
	}
	check("cumulative", sample.Histogram, explicit(2, 3, 0), explicit(4, 6, 2), [2]float64{300, 800}, 0.1, math.Inf(1))
	check("delta", sample.DeltaHisto, explicit(2, 3, 0), explicit(2, 3, 2), [2]float64{300, 500}, 0.1, math.Inf(1))
	// At scale 1 the buckets are (√2^i, √2^(i+1)]; the second point has halved it.
	check("exponential", sample.Histogram, exponential(1, 4, 2, 2), exponential(0, 2, 5, 6), [2]float64{300, 800}, 0.008, 0.016)
	check("exponential delta", sample.DeltaHisto, exponential(1, 4, 2, 2), exponential(0, 2, 1, 5), [2]float64{300, 500}, 0.008, 0.016)
}

func TestOtherGenerators(t *testing.T) {
	t.Parallel()
	histogram := func(n uint64) *sample.Distribution {
		return &sample.Distribution{Count: n, Bounds: []float64{0, 5, 10}, Buckets: []uint64{0, n, 0, 0}, Max: math.NaN()}
	}
	b := builder{scope: "locust"}
	for i := range int64(8) {
		b.add("locust.client.duration", "name=/", "s", sample.Histogram, 1, 10*(i+1), 50*float64(i+1), histogram(uint64(1000*(i+1))))
		b.add("locust.users.count", "user_class=A", "{user}", sample.Gauge, 1, 10*(i+1), 20, nil)
	}
	in := b.inputs()[0]
	r := counts.Judge(in)
	if in.Totals().Ended != 8000 || r.Loop != counts.LoopClosed || r.State != stability.Inconclusive || math.Abs(r.Mean-5) > 1e-9 {
		t.Errorf("locust: %+v", r)
	}
	if n := len(r.Advice); n < 2 || r.Advice[n-1][:34] != "the first bucket ends at 5 s: OTEL" {
		t.Errorf("locust: %q", r.Advice)
	}

	b = builder{scope: "io.gatling.enterprise"}
	for i := range int64(3) {
		b.add("gatling_enterprise.user.start.count", "scenario=s", "", sample.DeltaSum, 10*i, 10*(i+1), 100, nil)
		b.add("gatling_enterprise.user.end.count", "scenario=s", "", sample.DeltaSum, 10*i, 10*(i+1), 90, nil)
		b.add("gatling_enterprise.response.count", "scenario=s,status=KO", "", sample.DeltaSum, 10*i, 10*(i+1), 4, nil)
		b.add("gatling_enterprise.response.count", "scenario=s,status=OK", "", sample.DeltaSum, 10*i, 10*(i+1), 86, nil)
		b.add("gatling_enterprise.response.time.p95", "scenario=s", "", sample.Gauge, 0, 10*(i+1), 400, nil)
	}
	in = b.inputs()[0]
	if got := in.Totals(); got.Ended != 270 || got.FailedRequests != 12 || in.Intervals[2].InFlight != 30 || in.Intervals[0].Answers != nil {
		t.Errorf("gatling: %+v %+v", got, in.Intervals[2])
	}

	b = builder{scope: "my/generator"}
	for i := range int64(3) {
		n := float64(i + 1)
		b.add("loadtest.arrivals.scheduled", "", "", sample.Counter, 1, 10*(i+1), 100*n, nil)
		b.add("loadtest.arrivals.dropped", "", "", sample.Counter, 1, 10*(i+1), 10*n, nil)
		b.add("loadtest.requests.in_flight", "", "", sample.UpDown, 1, 10*(i+1), 5, nil)
		b.add("loadtest.requests.in_flight_time", "", "s", sample.Counter, 1, 10*(i+1), 50*n, nil)
		b.add("some.thing", "", "", sample.Counter, 1, 10*(i+1), 1, nil)
	}
	in = b.inputs()[0]
	if got := in.Totals(); got.Ended != 265 || got.Dropped != 30 || in.Intervals[1].Ended != 90 || in.Intervals[1].ServiceS != 50 {
		t.Errorf("loadtest: %+v %+v", got, in.Intervals)
	}

	b = builder{scope: "nbomber"}
	b.add("all.request.count", "scenario=s", "", sample.Gauge, 0, 10, 100, nil)
	b.add("all.request.count", "scenario=s", "", sample.Gauge, 0, 20, 250, nil)
	b.add("ok.latency.percent99", "scenario=s", "", sample.Gauge, 0, 20, 250, nil)
	if got := b.inputs()[0].Totals(); got.Ended != 250 {
		t.Errorf("nbomber: %+v", got)
	}
	b = builder{scope: "nbomber"}
	for _, step := range []string{"global information", "login", "buy"} {
		b.add("all.request.count", "scenario=s,step="+step, "", sample.Gauge, 0, 10, 100, nil)
		b.add("all.request.count", "scenario=s,step="+step, "", sample.Gauge, 0, 20, 250, nil)
		b.add("fail.request.count", "scenario=s,step="+step, "", sample.Gauge, 0, 20, 7, nil)
	}
	if got := b.inputs()[0].Totals(); got.Ended != 250 || got.Failed != 7 {
		t.Errorf("nbomber with steps: %+v", got)
	}

	b = builder{scope: "locust"}
	b.add("locust.client.duration", "name=/", "s", sample.Histogram, 1, 10, 1, histogram(90))
	b.add("locust.client.duration", "error.type=ConnectionError,name=/", "s", sample.Histogram, 1, 10, 1, histogram(10))
	if got := b.inputs()[0].Totals(); got.Ended != 100 || got.Failed != 10 {
		t.Errorf("locust with errors: %+v", got)
	}

	b = builder{scope: "envoy"}
	b.add("iterations", "", "", sample.Counter, 0, 10, 100, nil)
	if got := b.inputs(); len(got) != 0 {
		t.Errorf("an unknown program: %+v", got)
	}
}

func TestCombine(t *testing.T) {
	t.Parallel()
	host := func(source string, offset, step, n int64) counts.Input {
		b := builder{scope: "k6", source: source}
		for i := range n {
			at := offset + step*(i+1)
			b.add("iterations", "", "", sample.Counter, offset, at, float64(10*step*(i+1)), nil)
			b.add("vus", "", "", sample.Gauge, offset, at, 4, nil)
		}
		return b.inputs()[0]
	}
	a, b := host("a", 1, 1, 60), host("b", 4, 10, 6)
	got := counts.Combine([]counts.Input{a, b, {}})
	if tt := got.Totals(); math.Abs(tt.Ended-1200) > 1e-9 || len(got.Intervals) != 6 || got.Source != "" || got.From != 0 { // samples are a second old when instruments begin
		t.Errorf("%+v", got)
	}
	if v := got.Intervals[2]; math.Abs(v.Ended-200) > 1e-9 || v.InFlight != 8 {
		t.Errorf("%+v", v)
	}
	if one := counts.Combine([]counts.Input{a}); one.Source != "a" || len(counts.Combine(nil).Intervals) != 0 {
		t.Error("one or none")
	}
}
