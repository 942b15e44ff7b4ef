package verdict_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/verdict"
)

// TestSuspectWhileItGoesOn looks at a run of unknown schedule whose service has
// just begun to fall behind: the settled part is calm, but what completes is too
// little and too old. The finished run says unstable instead.
func TestSuspectWhileItGoesOn(t *testing.T) {
	t.Parallel()
	var rows []sample.Row
	var free int64
	for i := range int64(7300) {
		due, took := start+i*10e6, int64(5e6)
		if i >= 6000 {
			took = 14e6
		}
		free = max(free, due) + took
		rows = append(rows, foldtest.Row(due, due, free))
	}
	ev := evidence(sample.Group{Source: "gen", Model: sample.Open}, rows, nil)
	ev.Of.Finished = false
	seen := slices.DeleteFunc(rows, func(r sample.Row) bool { return r.Done > start+67e9 })
	ev.Batches = foldtest.Batches(sample.Group{Source: "gen", Model: sample.Open}, seen, 100)
	v, err := verdict.Analysis{}.Judge(t.Context(), ev, query.Options{})
	if err != nil {
		t.Fatal(err)
	}
	last := v.Steps[len(v.Steps)-1]
	if last.Stability.State != wire.Suspect || last.Stability.Reason == "" || last.Class != wire.ClassInconclusive || v.Outcome == wire.OutcomePass {
		t.Errorf("stability %+v, class %s, outcome %s; want suspect, inconclusive", last.Stability, last.Class, v.Outcome)
	}
	if got := v.Totals.Stability.State; got != wire.Suspect || v.Totals.Class != last.Class {
		t.Errorf("the run is %s, %s; want what its one step is", got, v.Totals.Class)
	}
	if !slices.ContainsFunc(v.Findings, func(f wire.Finding) bool { return f.Code == "schedule_unknown" }) {
		t.Error("nobody says that the schedule is not known")
	}
}

// TestBreakAtTheEnd says in words that the backlog grew until the step ended.
func TestBreakAtTheEnd(t *testing.T) {
	t.Parallel()
	var rows []sample.Row
	var free int64
	rng := rand.New(rand.NewPCG(5, 5))
	for i := range int64(30_000) {
		due, took := start+i*10e6, int64(7e6*rng.ExpFloat64())
		if i >= 28_500 {
			took *= 2
		}
		free = max(free, due) + took
		rows = append(rows, foldtest.Row(due, due, free))
	}
	s := judge(t, evidence(openLoop, rows, nil), query.Options{}).Steps[0].Stability
	if s.State != wire.Unstable || !strings.HasSuffix(s.Reason, " to the end of the step the backlog grew") {
		t.Errorf("%s: %s", s.State, s.Reason)
	}
}

// TestSeriesEndWhereTheySettle: what has come by now of the newest seconds is
// less than what happened in them, so nothing but what says so is shown of them.
func TestSeriesEndWhereTheySettle(t *testing.T) {
	t.Parallel()
	rows := steady(6000, 10e6, 5e6)
	rows = append(rows, foldtest.Row(start+55e9+1, start+55e9+1, start+70e9)) // slow, and the last to be heard of
	deadline := 1.0
	ev := evidence(openLoop, rows, &wire.Declaration{Steps: []wire.DeclareStep{{DurationS: 100, RatePerS: 100}}, DeadlineS: &deadline})
	ev.Of.Finished = false
	v := judge(t, ev, query.Options{})
	if v.Horizon.At == nil {
		t.Fatal("nothing has settled")
	}
	names := slices.DeleteFunc(query.SeriesNames(), func(n string) bool { return strings.HasPrefix(n, "queue:") })
	got, err := verdict.Analysis{}.Series(t.Context(), ev, query.Options{Names: names})
	if err != nil {
		t.Fatal(err)
	}
	past := 0
	for i, at := range got.Time[:len(got.Time)-1] {
		settled := !got.Time[i+1].After(*v.Horizon.At)
		if !settled {
			past++
		}
		if !settled && got.Columns["service_p50"][i] != nil {
			t.Errorf("service_p50 at %s, settled until %s", at, v.Horizon.At)
		}
		for _, name := range []string{"completed", "sent", "goodput", "error", "dropped", "in_flight"} {
			if has := got.Columns[name][i] != nil; has != settled {
				t.Errorf("%s at %s, settled until %s: has a number %t", name, at, v.Horizon.At, has)
			}
		}
	}
	if past == 0 {
		t.Errorf("no cell lies past %s: %v", v.Horizon.At, got.Time)
	}
}
