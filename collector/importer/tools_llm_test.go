package importer

import (
	"math"
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
