package counts_test

import (
	"math"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/counts"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// told is what a tool says of 60 s at its end.
func told(tool string, points map[string]float64, histograms map[string]*sample.Distribution) []counts.Input {
	b := builder{scope: tool, source: "f"}
	for name, v := range points {
		kind := sample.DeltaSum
		if name == "loadtest.workers" {
			kind = sample.Gauge
		}
		b.add(name, "", "", kind, 100, 160, v, nil)
	}
	for name, d := range histograms {
		b.add(name, "", "s", sample.DeltaHisto, 100, 160, 0, d)
	}
	return b.inputs()
}

func distribution(n uint64, bounds ...float64) *sample.Distribution {
	d := &sample.Distribution{Count: n, Bounds: bounds, Buckets: make([]uint64, len(bounds)+1), Min: math.NaN(), Max: math.NaN()}
	d.Buckets[1] = n
	return d
}

// TestTools: a tool's own result is one interval, whose loop shows in what was in
// flight; what it corrected itself stays apart from what it measured.
func TestTools(t *testing.T) {
	t.Parallel()
	base := map[string]float64{
		"loadtest.requests.sent": 620, "loadtest.requests.ended": 600, "loadtest.requests.failed": 6,
		"loadtest.requests.in_flight_time": 590, "loadtest.workers": 10,
	}
	in := told("autocannon", base, map[string]*sample.Distribution{
		"loadtest.summary.service_time": distribution(594, 0.9, 1), "loadtest.summary.response_time": distribution(1200, 1.9, 2),
	})[0]
	if got, want := in.Totals(), (counts.Totals{Ended: 600, Failed: 6, Requests: 620}); got != want || len(in.Intervals) != 1 || in.From != 100e9 {
		t.Errorf("%+v from %d, want %+v", got, in.From, want)
	}
	s, x := counts.ServiceTimes(in), counts.ResponseTimes(in)
	if math.Abs(s.LeftOut()-0.01) > 1e-9 || s.MadeUp() != 0 || x.LeftOut() != 0 || math.Abs(x.MadeUp()-0.5) > 1e-9 {
		t.Errorf("%g left out, %g made up", s.LeftOut(), x.MadeUp())
	}
	if p := counts.Percentiles(in, 0.5); len(p) != 1 || p[0].Bucket != (counts.Bucket{Lo: 0.9, Hi: 1}) {
		t.Errorf("percentiles of corrected times: %v", p)
	}
	if p := x.Percentiles(0.5); len(p) != 1 || p[0].Bucket != (counts.Bucket{Lo: 1.9, Hi: 2}) {
		t.Errorf("corrected percentiles: %v", p)
	}
	r := counts.Judge(in)
	if r.Loop != counts.LoopClosed || math.Abs(r.EndedPerS-10) > 1e-9 || r.NeedS != 0 || r.State == "stable" {
		t.Errorf("loop %q, %g/s, need %g s: %s", r.Loop, r.EndedPerS, r.NeedS, r.Reason)
	}
	base["loadtest.workers"] = 100 // most of them idle: somebody else decides when to send
	in = told("autocannon", base, map[string]*sample.Distribution{"loadtest.summary.service_time": distribution(594, 0.9, 1)})[0]
	if r := counts.Judge(in); r.Loop != counts.LoopUnknown || r.State != "inconclusive" {
		t.Errorf("idle: loop %q, %s: %s", r.Loop, r.State, r.Reason)
	}
	if counts.ResponseTimes(in).Buckets != nil {
		t.Error("corrected times out of measured ones")
	}
	if part := in.Between(100e9, 130e9); part.Summary != nil {
		t.Error("half of the stretch has the summary of the whole")
	}
}

// TestSparse: histograms that leave out empty buckets of one layout add up and
// subtract without loss; others meet where both are known.
func TestSparse(t *testing.T) {
	t.Parallel()
	b := builder{scope: "hdrhistogram", source: "f"}
	add := func(at int64, bounds []float64, buckets ...uint64) {
		var n uint64
		for _, v := range buckets {
			n += v
		}
		b.add("loadtest.requests.service_time", "", "s", sample.DeltaHisto, at-10, at, 0, &sample.Distribution{Count: n, Bounds: bounds, Buckets: buckets})
		b.add("loadtest.requests.ended", "", "", sample.DeltaSum, at-10, at, float64(n), nil)
	}
	add(110, []float64{1, 2}, 0, 5, 0)
	add(120, []float64{4, 5}, 0, 3, 0)
	add(130, []float64{1, 2, 8, 9}, 0, 1, 0, 1, 0)
	times := counts.ServiceTimes(b.inputs()[0])
	for q, want := range map[float64]counts.Bucket{0.1: {Lo: 1, Hi: 2}, 0.6: {Lo: 1, Hi: 2}, 0.7: {Lo: 4, Hi: 5}, 1: {Lo: 8, Hi: 9}} {
		if got, ok := times.Buckets.Quantile(q); !ok || got != want {
			t.Errorf("p%g in %v, want %v", 100*q, got, want)
		}
	}
	if n := times.Buckets.Count(); n != 10 {
		t.Errorf("%g values", n)
	}
}

// TestOddBuckets: a histogram whose counts do not fit its bounds has none.
func TestOddBuckets(t *testing.T) {
	t.Parallel()
	in := told("hey", map[string]float64{"loadtest.requests.ended": 10}, map[string]*sample.Distribution{
		"loadtest.requests.service_time": {Count: 10, Bounds: []float64{1, 2}},
	})[0]
	if b, ok := counts.ServiceTimes(in).Buckets.Quantile(0.5); !ok || b.Lo != 0 || !math.IsInf(b.Hi, 1) {
		t.Errorf("p50 in %v", b)
	}
}
