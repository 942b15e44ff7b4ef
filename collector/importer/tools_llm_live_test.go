package importer

import (
	"math"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Runs against a server that writes the first of 20 tokens after 100 ms and the
// others every 10 ms; the figures are those that the tools print.

// TestVLLMRecorded: serve.py of vLLM 0.32.0, at 8/s, and at 10/s with two at once.
func TestVLLMRecorded(t *testing.T) {
	t.Parallel()
	k, r := importUndated(t, "vllm-poisson.json.gz")
	if o := k.outcomes(); o[sample.OK] != 100 || len(k.rows) != 100 || r.Grade() != "A" || r.Bad != 0 {
		t.Fatalf("%v, grade %s: %q", o, r.Grade(), r.Warnings)
	}
	first, mean := k.distributionOf(true, func(r *sample.Row) int64 { return r.FirstByte - r.Sent })
	if math.Abs(mean-102.4944) > 0.001 || math.Abs((first[49]+first[50])/2-101.9330) > 0.001 {
		t.Errorf("first token: mean %g, median %g ms; vLLM has 102.494 and 101.933", mean, (first[49]+first[50])/2)
	}
	between, mean := k.distributionOf(true, func(r *sample.Row) int64 { return (r.Done - r.FirstByte) / (r.Tokens - 1) })
	if math.Abs(mean-10.0032) > 0.001 || math.Abs((between[49]+between[50])/2-10.0034) > 0.001 {
		t.Errorf("between tokens: mean %g ms, vLLM has 10.0032", mean)
	}
	k, r = importUndated(t, "vllm-capped.json.gz")
	if g := k.groups[0]; len(k.rows) != 80 || r.Grade() != "A" || g.Model != sample.Open || g.Rate != 10 || g.Process != "poisson" {
		t.Fatalf("%d rows, %+v", len(k.rows), g)
	}
	service, _ := k.distributionOf(true, func(r *sample.Row) int64 { return r.Done - r.Sent })
	response, _ := k.distributionOf(true, func(r *sample.Row) int64 { return r.Done - r.Intended })
	if service[79] > 300 || response[79] < 3500 {
		t.Errorf("at most %g ms from the send and %g ms from when it was due: the wait for one of two slots counts", service[79], response[79])
	}
}

// TestGuidellmOver: guidellm 0.8.1 at 10/s, where two answers at a time are 6.9/s:
// 68 were answered, and 33 given up at the end.
func TestGuidellmOver(t *testing.T) {
	t.Parallel()
	k, r := importUndated(t, "guidellm-over.json.gz")
	if o := k.outcomes(); o[sample.OK] != 68 || o[sample.Cancelled] != 33 || r.Grade() != "A" || r.Bad != 0 {
		t.Fatalf("%v, grade %s: %q", o, r.Grade(), r.Warnings)
	}
	due, _ := k.distributionOf(false, func(r *sample.Row) int64 { return r.Intended })
	for i := 1; i < len(due); i++ {
		if gap := due[i] - due[i-1]; math.Abs(gap-100) > 0.01 {
			t.Errorf("requests %d and %d were due %g ms apart, want 100", i-1, i, gap)
		}
	}
	for i := range k.rows {
		if row := &k.rows[i]; row.Outcome == sample.OK && row.Tokens != 20 {
			t.Errorf("request %d: %+v", i, row)
		}
	}
}
