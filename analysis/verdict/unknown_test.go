package verdict_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/verdict"
)

// TestUnknownScenario refuses questions about what the run does not have, and
// names what it has.
func TestUnknownScenario(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 9))
	var rows []sample.Row
	for i := range int64(6000) {
		due := start + i*10e6
		rows = append(rows, foldtest.Row(due, due, due+int64(30e6*rng.ExpFloat64())))
	}
	ev := evidence(openLoop, rows, nil)
	for _, c := range []struct {
		opt  query.Options
		want query.UnknownError
	}{
		{query.Options{Scenario: "zzz"}, query.UnknownError{What: "scenario", Name: "zzz", Known: []string{"orders"}}},
		{query.Options{Source: "other"}, query.UnknownError{What: "source", Name: "other", Known: []string{"gen"}}},
	} {
		_, err := verdict.Analysis{}.Judge(t.Context(), ev, c.opt)
		e, ok := errors.AsType[*query.UnknownError](err)
		if !ok {
			t.Fatalf("%v: %v", c.opt, err)
		}
		if diff := cmp.Diff(c.want, *e); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if _, err := (verdict.Analysis{}).Series(t.Context(), ev, c.opt); err == nil {
			t.Errorf("a series of %v", c.opt)
		}
	}
	if v := judge(t, ev, query.Options{Scenario: "orders"}); v.Outcome != wire.OutcomePass {
		t.Errorf("known scenario: %s", v.Headline)
	}
	limit, q := 0.1, 0.99
	v := judge(t, ev, query.Options{Objectives: []wire.Objective{{Scenario: "zzz", Quantile: &q, MaxS: &limit}}})
	if v.Outcome != wire.OutcomeInconclusive || !strings.Contains(v.Headline, `it has "orders"`) {
		t.Errorf("objective of an unknown scenario: %s: %s", v.Outcome, v.Headline)
	}
	if v := judge(t, evidence(openLoop, nil, nil), query.Options{Scenario: "zzz"}); v.Outcome != wire.OutcomeInconclusive {
		t.Errorf("a run without requests: %s", v.Outcome)
	}
}

// TestUnknownScenarioOfCounts does the same for a run that has counts alone.
func TestUnknownScenarioOfCounts(t *testing.T) {
	t.Parallel()
	b := &sample.Batch{}
	for i, scenario := range []string{"browse", "buy"} {
		b.Series = append(b.Series, sample.Series{Source: "k6", Service: "k6", Scope: "k6", Name: "iterations", Attributes: "scenario=" + scenario, Kind: sample.Counter})
		for s := range int64(12) {
			b.Points = append(b.Points, sample.Point{Series: uint32(i), Start: start - 1, Time: start + s*10e9, Value: float64(s * 1000)})
		}
	}
	ev := evidence(openLoop, nil, nil)
	ev.Batches = []*sample.Batch{b}
	_, err := verdict.Analysis{}.Judge(t.Context(), ev, query.Options{Scenario: "zzz"})
	e, ok := errors.AsType[*query.UnknownError](err)
	if !ok || len(e.Known) != 2 || e.Hint() != `it has "browse", "buy"` {
		t.Errorf("%v: %+v", err, e)
	}
	if v := judge(t, ev, query.Options{Scenario: "buy"}); v.Totals.Due == 0 {
		t.Errorf("a known scenario: %s", v.Headline)
	}
}
