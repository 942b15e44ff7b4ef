package verdict_test

import (
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/verdict"
)

// TestOutcomeUnknown: requests of which nothing says whether they failed meet no
// objective on failures, and a run of them does not pass; a share below the loss
// that is allowed is only said.
func TestOutcomeUnknown(t *testing.T) {
	t.Parallel()
	for each, want := range map[int64]string{1: wire.Undecided, 200: wire.Met} {
		var rows []sample.Row
		for i := range int64(6000) {
			r := foldtest.Row(start+i*10e6, start+i*10e6, start+i*10e6+5e6)
			if i%each == 0 {
				r.Flags |= sample.NoOutcome
			}
			rows = append(rows, r)
		}
		ev := evidence(sample.Group{Source: "gen", Model: sample.Open}, rows, nil)
		most := 0.01
		v, err := verdict.Analysis{}.Judge(t.Context(), ev, query.Options{Objectives: []wire.Objective{{ErrorRatioMax: &most}}})
		if err != nil {
			t.Fatal(err)
		}
		if v.Objectives[0].State != want || finding(v, "outcome_unknown") == nil {
			t.Errorf("1 of %d: %+v, want %s", each, v.Objectives[0], want)
		}
		plain, err := verdict.Analysis{}.Judge(t.Context(), ev, query.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if passed := plain.Outcome == wire.OutcomePass; passed != (want == wire.Met) {
			t.Errorf("1 of %d: %s: %s", each, plain.Outcome, plain.Headline)
		}
	}
}
