package verdict_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// told is what a tool says of 60 s at the end: how many requests ended, and a
// distribution of their times under a name.
func told(tool, name string, ended float64, d *sample.Distribution) *sample.Batch {
	b := &sample.Batch{RunID: "r"}
	add := func(name, unit string, k sample.Kind, v float64, d *sample.Distribution) {
		b.Points = append(b.Points, sample.Point{Series: uint32(len(b.Series)), Start: start, Time: start + 60e9, Value: v, Histogram: d})
		b.Series = append(b.Series, sample.Series{Source: "f", Service: tool, Scope: tool, Name: name, Unit: unit, Kind: k})
	}
	add("loadtest.requests.ended", "{request}", sample.DeltaSum, ended, nil)
	add("loadtest.requests.sent", "{request}", sample.DeltaSum, ended, nil)
	add(name, "s", sample.DeltaHisto, 0, d)
	return b
}

func judgeTold(t *testing.T, b *sample.Batch, objectives ...wire.Objective) *wire.Verdict {
	t.Helper()
	ev := &foldtest.Evidence{Of: fold.Run{ID: "r", Finished: true}, Batches: []*sample.Batch{b}}
	if len(objectives) > 0 {
		ev.Of.Declaration = &wire.Declaration{ID: "r", Objectives: objectives}
	}
	return judge(t, ev, query.Options{})
}

// TestToolCorrected: what a tool corrected itself is shown as it is, under its own
// grade, and holds objectives; what it made up, or left out, is refused; and
// nothing is corrected that it did not correct.
func TestToolCorrected(t *testing.T) {
	t.Parallel()
	times := func(n uint64) *sample.Distribution {
		return &sample.Distribution{Count: n, Bounds: []float64{0.099, 0.1, 0.499, 0.5}, Buckets: []uint64{n / 2, 0, n/2 - n/100, n / 100, 0}}
	}
	const response, service = "loadtest.summary.response_time", "loadtest.summary.service_time"
	has := func(v *wire.Verdict, code string) bool { return slices.Contains(codes(v), code) }

	v := judgeTold(t, told("wrk2", response, 6000, times(6000)))
	if r := v.Totals.ResponseTime; !r.Valid || *r.Grade != "X" || r.N != 6000 || *r.P99.Hi != 0.499 || *r.P50.Hi != 0.099 || r.Mean != nil {
		t.Errorf("%+v", r)
	}
	if v.Totals.ServiceTime.Valid || *v.Run.Grade != "F" || !has(v, "tool_corrected") {
		t.Errorf("service %+v, grade %s, %v", v.Totals.ServiceTime, *v.Run.Grade, v.Findings)
	}

	v = judgeTold(t, told("wrk2", service, 6000, times(6000)))
	if v.Totals.ResponseTime.Valid || !v.Totals.ServiceTime.Valid || has(v, "tool_corrected") {
		t.Errorf("response %+v out of service times", v.Totals.ResponseTime)
	}

	v = judgeTold(t, told("autocannon", response, 600, times(6000)))
	if r := v.Totals.ResponseTime; r.Valid || !strings.Contains(r.Reason, "made up 90 %") || r.P99.Hi != nil || !has(v, "tool_corrected") {
		t.Errorf("made up: %+v", r)
	}

	v = judgeTold(t, told("hey", service, 6000, times(3000)))
	if r := v.Totals.ServiceTime; r.Valid || !strings.Contains(r.Reason, "50 % of the requests are not in it") || !has(v, "left_out") {
		t.Errorf("left out: %+v", r)
	}

	// A loop that waits for answers has no users who would have come meanwhile.
	v = judgeTold(t, told("wrk", response, 6000, times(6000)))
	if r := v.Totals.ResponseTime; r.Valid || !strings.Contains(r.Reason, "closed loop") || r.P99.Hi != nil || !has(v, "tool_corrected") {
		t.Errorf("closed: %+v, %v", r, codes(v))
	}

	objective := func(q, limit float64) wire.Objective { return wire.Objective{Quantile: &q, MaxS: &limit} }
	for limit, want := range map[float64]string{0.05: wire.OutcomeFail, 0.3: wire.OutcomeInconclusive} {
		v = judgeTold(t, told("wrk2", response, 6000, times(6000)), objective(0.99, limit))
		if v.Outcome != want {
			t.Errorf("p99 < %g: %s, want %s: %s", limit, v.Outcome, want, v.Headline)
		}
	}
}

// TestCountedObjective: times from the send are a lower bound, so that they can
// miss an objective and never meet one.
func TestCountedObjective(t *testing.T) {
	t.Parallel()
	times := &sample.Distribution{Count: 6000, Bounds: []float64{0.5, 1}, Buckets: []uint64{600, 5400, 0}}
	q := 0.95
	for limit, want := range map[float64]string{0.3: wire.OutcomeFail, 0.7: wire.OutcomeInconclusive, 2: wire.OutcomeInconclusive} {
		v := judgeTold(t, told("wrk2", "loadtest.summary.service_time", 6000, times), wire.Objective{Quantile: &q, MaxS: &limit})
		if v.Outcome != want || want == wire.OutcomeFail && !strings.Contains(v.Headline, "even among the requests that were sent") {
			t.Errorf("p95 < %g: %s: %s", limit, v.Outcome, v.Headline)
		}
	}
}
