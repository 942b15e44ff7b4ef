package verdict_test

import (
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/verdict"
)

// TestPartOfARunThatDropped asks for one scenario of a run whose generator dropped
// arrivals: the only scenario is the whole run, drops included; of two, nobody knows
// whose arrivals were dropped, and neither has percentiles or is called stable.
func TestPartOfARunThatDropped(t *testing.T) {
	t.Parallel()
	ask := func(scenario string, of ...string) *wire.Verdict {
		var batches []*sample.Batch
		for k, name := range of {
			var rows []sample.Row
			for i := range int64(6000) {
				due := start + i*10e6 + int64(k)*1e6
				rows = append(rows, foldtest.Row(due, due, due+5e6))
			}
			batches = append(batches, foldtest.Batches(sample.Group{Source: "gen", Scenario: name, Model: sample.Open}, rows, 512)...)
		}
		ev := evidence(sample.Group{}, nil, nil)
		ev.Batches = batches
		counters(ev, map[string]float64{"loadtest.arrivals.dropped": 600}, start+60e9)
		v, err := verdict.Analysis{}.Judge(t.Context(), ev, query.Options{Scenario: scenario})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := ask("a", "a"); v.Totals.Balance.Dropped != 600 || v.Totals.ResponseTime.Valid || v.Outcome != wire.OutcomeInvalid {
		t.Errorf("the only scenario: dropped %d, response times %+v, %s", v.Totals.Balance.Dropped, v.Totals.ResponseTime, v.Outcome)
	}
	v := ask("a", "a", "b")
	s := v.Steps[0]
	if v.Totals.Balance.Dropped != 0 || s.ResponseTime.Valid || s.ResponseTime.P99.Value != nil || s.Class == wire.ClassStable || v.Outcome == wire.OutcomePass {
		t.Errorf("one of two scenarios: %+v, class %s, %s", s.ResponseTime, s.Class, v.Outcome)
	}
}
