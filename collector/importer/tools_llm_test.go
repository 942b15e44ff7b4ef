package importer

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// TestVLLM: two runs that were appended, 3/s and 6/s with at most 2 at once.
func TestVLLM(t *testing.T) {
	t.Parallel()
	k, r := importUndated(t, "vllm-bench.json")
	if len(k.rows) != 40 || r.Grade() != "A" || !r.warned("has no time zone") || !r.warned("the 1 that did end when they began") {
		t.Fatalf("%d requests of grade %s: %q", len(k.rows), r.Grade(), r.Warnings)
	}
	outcomes := map[sample.Outcome]int{}
	var last, delay int64
	for i := range k.rows {
		row := &k.rows[i]
		outcomes[row.Outcome]++
		last, delay = max(last, row.Done), max(delay, row.Sent-row.Intended)
		if row.Outcome == sample.OK && (row.Tokens != 9 || row.FirstByte-row.Sent < 100e6 || row.FirstByte-row.Sent > 150e6 || row.Done-row.Sent < 500e6) {
			t.Errorf("request %d: %+v", i, row)
		}
	}
	if outcomes[sample.OK] != 38 || outcomes[sample.Timeout] != 2 || delay < 1e9 {
		t.Errorf("%v, waited at most %d ns", outcomes, delay)
	}
	if want := int64(1796040000+100) * 1e9; last != want {
		t.Errorf("the last request ended at %d, want %d, the date of the result", last, want)
	}
	if g := k.groups[39]; k.groups[0].Step != "3/s, at most 2" || g.Step != "6/s, at most 2" || g.Rate != 6 || g.Process != "poisson" || g.Model != sample.Open {
		t.Errorf("groups %+v and %+v", k.groups[0], g)
	}
	_, _, err := importText(t, "r.json", `{"date":"20261130-120000","endpoint_type":"openai","num_prompts":3,"request_rate":"inf","latencies":[1,2]}`)
	if err == nil || !strings.Contains(err.Error(), "--save-detailed") {
		t.Errorf("without details: %v", err)
	}
}

// TestGuidellm: 4/s with the last ten 500 ms late, then two at once, of which four
// of ten requests were kept.
func TestGuidellm(t *testing.T) {
	t.Parallel()
	k, r := importUndated(t, "guidellm.json")
	if len(k.rows) != 26 || r.Bad != 0 || !r.warned("keeps 4 of its 10") {
		t.Fatalf("%d requests, %d bad: %q", len(k.rows), r.Bad, r.Warnings)
	}
	late := 0
	outcomes := map[sample.Outcome]int{}
	for i := range k.rows {
		row, g := &k.rows[i], &k.groups[i]
		outcomes[row.Outcome]++
		if open := g.Step == "constant@4.00"; open != (row.Intended != 0) || open == (row.Flags&sample.Sampled != 0) || open != (g.Model == sample.Open) {
			t.Errorf("request %d: %+v in %+v", i, row, g)
		}
		if row.Intended != 0 && row.Sent-row.Intended > 400e6 {
			late++
		}
		if row.Outcome == sample.OK && (row.Tokens != 12 || math.Abs(float64(row.FirstByte-row.Sent)-100e6) > 1e3) {
			t.Errorf("request %d: %d tokens, first after %d ns", i, row.Tokens, row.FirstByte-row.Sent)
		}
	}
	if late != 10 || outcomes[sample.OK] != 24 || outcomes[sample.Timeout] != 1 || outcomes[sample.Cancelled] != 1 {
		t.Errorf("%d late, %v", late, outcomes)
	}
}

func TestAiperf(t *testing.T) {
	t.Parallel()
	k, r := importUndated(t, "aiperf.jsonl")
	if len(k.rows) != 25 || r.Bad != 0 || !r.warned("3 requests of the warm-up") || !r.warned("1 requests do not say") || !r.warned("1 requests are later turns") {
		t.Fatalf("%d requests, %d bad: %q", len(k.rows), r.Bad, r.Warnings)
	}
	outcomes := map[sample.Outcome]int{}
	late, dated := 0, 0
	for i := range k.rows {
		row := &k.rows[i]
		outcomes[row.Outcome]++
		if row.Intended != 0 {
			dated++
			if row.Sent-row.Intended > 200e6 {
				late++
			}
		}
	}
	if first := k.rows[0]; first.Tokens != 33 || first.FirstByte-first.Sent != 120.5e6 || first.Sent-first.Intended != 3e6 {
		t.Errorf("%+v", first)
	}
	if late != 5 || dated != 23 || outcomes[sample.OK] != 22 || outcomes[sample.Cancelled] != 1 || outcomes[sample.Shed] != 1 || outcomes[sample.Timeout] != 1 {
		t.Errorf("%d late of %d dated, %v", late, dated, outcomes)
	}
}

// distributionOf sorts what a row says, in ms.
func (k *kept) distributionOf(ok bool, value func(*sample.Row) int64) (sorted []float64, mean float64) {
	for i := range k.rows {
		if !ok || k.rows[i].Outcome == sample.OK {
			v := float64(value(&k.rows[i])) / 1e6
			sorted, mean = append(sorted, v), mean+v
		}
	}
	slices.Sort(sorted)
	return sorted, mean / float64(len(sorted))
}

// TestAiperfRecorded: 12/s against two slots. From when credits were issued the
// times are those that aiperf calls effective, and from the send its own.
func TestAiperfRecorded(t *testing.T) {
	t.Parallel()
	k, r := importUndated(t, "aiperf-constant.jsonl.gz")
	if o := k.outcomes(); o[sample.OK] != 60 || len(k.rows) != 60 || r.Grade() != "A" || r.Bad != 0 || !r.warned("3 requests of the warm-up") {
		t.Fatalf("%v, grade %s: %q", o, r.Grade(), r.Warnings)
	}
	check := func(what string, value func(*sample.Row) int64, mean, least, most float64) {
		t.Helper()
		sorted, got := k.distributionOf(true, value)
		for name, v := range map[string][2]float64{"mean": {got, mean}, "least": {sorted[0], least}, "most": {sorted[len(sorted)-1], most}} {
			if math.Abs(v[0]-v[1]) > 0.001*v[1] {
				t.Errorf("%s: %s %g ms, aiperf says %g", what, name, v[0], v[1])
			}
		}
	}
	check("response", func(r *sample.Row) int64 { return r.Done - r.Intended }, 1308.97, 227.83, 2304.50)
	check("first token", func(r *sample.Row) int64 { return r.FirstByte - r.Sent }, 1182.03, 106.50, 2221.85)
	for i := range k.rows {
		if k.rows[i].Tokens != 12 {
			t.Errorf("request %d: %d tokens", i, k.rows[i].Tokens)
		}
	}
}

// TestGuidellmRecorded: 6/s for 6 s against two slots.
func TestGuidellmRecorded(t *testing.T) {
	t.Parallel()
	k, r := importUndated(t, "guidellm-constant.json.gz")
	if o := k.outcomes(); o[sample.OK] != 33 || o[sample.Cancelled] != 4 || len(k.rows) != 37 || r.Grade() != "A" || r.Bad != 0 {
		t.Fatalf("%v, grade %s, %d bad: %q", o, r.Grade(), r.Bad, r.Warnings)
	}
	took, mean := k.distributionOf(true, func(r *sample.Row) int64 { return r.Done - r.Sent })
	if math.Abs(mean-504.838) > 0.01 || math.Abs(took[0]-257.218) > 0.01 || math.Abs(took[32]-1600.506) > 0.01 || math.Abs(took[16]-486.697) > 0.01 {
		t.Errorf("request latency: mean %g, %g, %g, %g ms", mean, took[0], took[16], took[32])
	}
	due, _ := k.distributionOf(false, func(r *sample.Row) int64 { return r.Intended })
	for i := 1; i < len(due); i++ {
		if gap := due[i] - due[i-1]; math.Abs(gap-1e3/6) > 0.01 {
			t.Errorf("requests %d and %d were due %g ms apart, want 1/6 s", i-1, i, gap)
		}
	}
	if g := k.groups[0]; g.Step != "constant@6.00" || g.Rate != 6 || g.Process != "constant" || k.rows[0].Tokens != 12 {
		t.Errorf("%+v, %d tokens", g, k.rows[0].Tokens)
	}
}
