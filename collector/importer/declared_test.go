package importer_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// steady declares one step at a rate.
func steady(rate, seconds float64) *wire.Declaration {
	return &wire.Declaration{
		Steps:   []wire.DeclareStep{{RatePerS: rate, DurationS: seconds}},
		Arrival: &wire.Arrival{Model: "open", Process: "constant"},
	}
}

// Files of k6 whose times are whole seconds hold counts alone: they come out
// exactly, nothing is corrected, and the way to better evidence is named.
func TestK6WholeSeconds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file          string
		sent, dropped int64
		loop          string
		p50, p95      float64 // ms
	}{
		{"k6/a-constant-vus.csv.zst", 2947, 0, "closed", 101.854, 122.873},
		{"k6/b-arrival-150.csv.zst", 3131, 1370, "capped", 0, 0},
		{"k6/e2-stall-100-20vus.csv.zst", 1821, 180, "", 0, 0},
		{"k6/j-system-tags.csv.zst", 901, 0, "", 41.31, 60.583},
	} {
		t.Run(strings.ReplaceAll(c.file, "/", "_"), func(t *testing.T) {
			t.Parallel()
			got := bring(t, c.file, nil)
			v := got.verdict
			if v.Run.Grade == nil || *v.Run.Grade != "F" || got.report.Grade() != "F" || v.Run.Generator != "k6" {
				t.Errorf("grade %v, generator %s", v.Run.Grade, v.Run.Generator)
			}
			if v.Totals.Sent != c.sent || v.Totals.Dropped != c.dropped || v.Totals.Due != c.sent+c.dropped {
				t.Errorf("%d sent, %d dropped of %d due", v.Totals.Sent, v.Totals.Dropped, v.Totals.Due)
			}
			if c.loop != "" && v.Audit.Loop != c.loop {
				t.Errorf("loop %s", v.Audit.Loop)
			}
			if v.Totals.ResponseTime.P95.Value != nil || len(got.report.Advice) != 1 {
				t.Errorf("a corrected percentile: %v; advice %q", v.Totals.ResponseTime.P95, got.report.Advice)
			}
			if !slices.ContainsFunc(v.Findings, func(f wire.Finding) bool { return f.Code == "counts_only" }) {
				t.Errorf("findings %+v", v.Findings)
			}
			for _, q := range []struct {
				want float64
				est  wire.Estimate
			}{{c.p50, v.Totals.ServiceTime.P50}, {c.p95, v.Totals.ServiceTime.P95}} {
				if q.want == 0 || q.est.Value == nil && q.est.Lo == nil {
					continue
				}
				if q.est.Lo != nil && q.est.Hi != nil && (*q.est.Lo > q.want/1e3*1.001 || *q.est.Hi < q.want/1e3*0.999) {
					t.Errorf("%v ms is not within %v to %v s", q.want, *q.est.Lo, *q.est.Hi)
				}
			}
			if t.Failed() {
				t.Log(v.Headline, v.Totals.ServiceTime)
			}
		})
	}
}

// A schedule that the user declares takes the place of the rate that was found.
func TestVegetaWithASchedule(t *testing.T) {
	t.Parallel()
	got := bring(t, "vegeta/stall-100.bin.zst", steady(100, 20))
	v := got.verdict
	if *v.Run.Grade != "B" || v.Run.OfferedSource != "declared" || v.Totals.Due != 2000 || got.report.Grade() != "B" {
		t.Errorf("grade %v, offered %s, due %d", *v.Run.Grade, v.Run.OfferedSource, v.Totals.Due)
	}
	found := bring(t, "vegeta/stall-100.bin.zst", nil).verdict
	for _, q := range [][2]wire.Estimate{
		{v.Totals.ResponseTime.P50, found.Totals.ResponseTime.P50},
		{v.Totals.ResponseTime.P95, found.Totals.ResponseTime.P95},
		{v.Totals.ResponseTime.P99, found.Totals.ResponseTime.P99},
	} {
		if math.Abs(*q[0].Value-*q[1].Value) > 1e-6 {
			t.Errorf("%v with the schedule, %v without", *q[0].Value, *q[1].Value)
		}
	}
	// p95 is 1.01 s: 200 of 2,000 requests were due in the stall.
	if p := *v.Totals.ResponseTime.P95.Value; p < 1.0 || p > 1.02 {
		t.Errorf("p95 %v", p)
	}
}

// TestDeclaredRateIsHeldAgainst: a rate that was declared is compared with what came.
func TestDeclaredRateIsHeldAgainst(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	for _, f := range bring(t, "vegeta/orders-90.bin.zst", steady(90, 20)).verdict.Findings {
		said.WriteString(f.Message + "\n")
	}
	if !strings.Contains(said.String(), "1,795") {
		t.Errorf("nobody says how many came:\n%s", &said)
	}
}
