package truth_test

import (
	"encoding/json"
	"flag"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/verdict"
	"github.com/plimsoll/plimsoll/internal/simrun/truth"
)

var seeds = flag.Int("seeds", 1, "seeds of each scenario")

func check(t *testing.T, c *truth.Case) {
	t.Helper()
	v, err := verdict.Analysis{}.Judge(t.Context(), c.Evidence(), query.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(v); err != nil {
		t.Fatal(err)
	}
	for _, l := range truth.Check(c, v) {
		switch l.Mark {
		case truth.Wrong:
			t.Errorf("%s (%s): %s: truth %s, verdict %s", c.ID(), c.Spec, l.What, l.Truth, l.Verdict)
		case truth.Odd:
			t.Logf("%s: odd: %s: truth %s, verdict %s", c.ID(), l.What, l.Truth, l.Verdict)
		}
	}
}

// TestScenarios judges every named scenario, within the process.
func TestScenarios(t *testing.T) {
	t.Parallel()
	for _, s := range truth.Scenarios() {
		t.Run(s.Name(), func(t *testing.T) {
			t.Parallel()
			for seed := range *seeds {
				check(t, truth.Make(s, uint64(seed)))
			}
		})
	}
}

// TestRandom judges random scenarios, within the process.
func TestRandom(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20 * *seeds) {
		check(t, truth.Make(truth.Spec{}, seed))
	}
}

// TestMakeRepeats: a seed is a case.
func TestMakeRepeats(t *testing.T) {
	t.Parallel()
	a, b := truth.Make(truth.Spec{}, 3), truth.Make(truth.Spec{}, 3)
	if d := cmp.Diff(a, b); d != "" {
		t.Error(d)
	}
}
