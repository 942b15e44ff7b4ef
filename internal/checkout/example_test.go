package main

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/sim"
	"github.com/plimsoll/plimsoll/analysis/verdict"
)

// judged is the verdict on an example, without a server between.
func judged(t *testing.T, e *example) *wire.Verdict {
	t.Helper()
	from := time.Unix(1_796_000_000, 0).UTC()
	rows, dropped, to := sim.Table(from.UnixNano(), e.rungs, rand.New(rand.NewPCG(46, 2)))
	slices.SortStableFunc(rows, func(a, b sample.Row) int { return cmp.Compare(a.Done, b.Done) })
	ev := &foldtest.Evidence{Of: fold.Run{ID: e.id, Name: e.name, Finished: true, Declaration: e.declaration(from)}}
	ev.Batches = foldtest.Batches(sample.Group{Source: "loadgen", Scenario: e.name, Model: sample.Open}, rows, 512)
	counted := &sample.Batch{Series: []sample.Series{{Source: "loadgen", Name: "loadtest.arrivals.dropped", Kind: sample.Counter}}}
	for at := from.UnixNano(); at <= to; at += every {
		counted.Points = append(counted.Points, sample.Point{Start: from.UnixNano() - 1, Time: at, Value: float64(count(dropped, at))})
	}
	ev.Batches = append(ev.Batches, counted)
	v, err := verdict.Analysis{}.Judge(t.Context(), ev, query.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestBefore: what the dashboard of this run is to make obvious.
func TestBefore(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("2.7 million attempts")
	}
	v := judged(t, before())
	k, m := v.Knee, v.Metastability
	if k.Capacity == nil || int(*k.Capacity.Value+0.5) != 462 || k.Shape == nil || *k.Shape != "collapse" {
		t.Errorf("knee %+v", k)
	}
	if s := v.Steps[5]; int(*s.Goodput+0.5) != 88 || int(*s.Completed+0.5) != 441 || *s.Offered != 550 {
		t.Errorf("at 550/s: goodput %v, completed %v", *s.Goodput, *s.Completed)
	}
	if m.State != "sustained" || m.WatchedS == nil || *m.WatchedS != 1500 || v.Outcome != wire.OutcomeFail {
		t.Errorf("%s: %+v", v.Outcome, m)
	}
	var refused []string
	for _, s := range v.Steps {
		if !s.ResponseTime.Valid {
			refused = append(refused, s.ResponseTime.Reason)
		}
	}
	if got := strings.Join(refused, "; "); got != "no number: 4.1 % dropped; no number: 22 % dropped" {
		t.Errorf("refused: %s", got)
	}
}

func TestAfter(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a million attempts")
	}
	v := judged(t, after())
	k, m := v.Knee, v.Metastability
	if k.Capacity == nil || *k.Capacity.Value < 459 || *k.Capacity.Value > 460 || k.Shape == nil || *k.Shape != "saturation" {
		t.Errorf("knee %+v", k)
	}
	if m.State != "recovered" || m.RecoveredAfterS == nil || *m.RecoveredAfterS != 11 || v.Outcome != wire.OutcomePass {
		t.Errorf("%s: %+v", v.Outcome, m)
	}
	for _, s := range v.Steps[:4] {
		if s.Class != wire.ClassShedding || *s.Goodput != *s.Completed || *s.ShedResponseTime.P99.Value > 0.003 {
			t.Errorf("at %g: %s, goodput %g of %g", *s.Offered, s.Class, *s.Goodput, *s.Completed)
		}
	}
}
