package verdict_test

import (
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/verdict"
)

// TestErrorsOfWhatWasSent holds error ratios where 600 of 10,600 arrivals were
// dropped: 1.02 % of the sent ones failed, and that misses 1 %; 0.9 % does not meet
// it, because nobody knows what the dropped ones would have seen.
func TestErrorsOfWhatWasSent(t *testing.T) {
	t.Parallel()
	for failed, want := range map[int]string{102: wire.Missed, 90: wire.Undecided} {
		var rows []sample.Row
		for i := range int64(10_000) {
			r := foldtest.Row(start+i*10e6, start+i*10e6, start+i*10e6+5e6)
			if i < int64(failed) {
				r.Outcome = sample.Error
			}
			rows = append(rows, r)
		}
		ev := evidence(sample.Group{Source: "gen", Model: sample.Open}, rows, nil)
		counters(ev, map[string]float64{"loadtest.arrivals.dropped": 600, "loadtest.arrivals.scheduled": 10_600}, start+100e9)
		most := 0.01
		v, err := verdict.Analysis{}.Judge(t.Context(), ev, query.Options{Objectives: []wire.Objective{{ErrorRatioMax: &most}}})
		if err != nil {
			t.Fatal(err)
		}
		if v.Objectives[0].State != want {
			t.Errorf("%d failed: %+v, want %s", failed, v.Objectives[0], want)
		}
	}
}
