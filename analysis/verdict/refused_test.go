package verdict_test

import (
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// TestMissingArrivalsOfTheRun: what a step refuses, the run as a whole and its
// sources refuse too.
func TestMissingArrivalsOfTheRun(t *testing.T) {
	t.Parallel()
	rows := steady(10_000, 10e6, 5e6)
	d := &wire.Declaration{Steps: []wire.DeclareStep{{DurationS: 100, RatePerS: 100}}}
	v := judge(t, evidence(openLoop, append(rows[:3000:3000], rows[7000:]...), d), query.Options{})
	for _, s := range []*wire.Step{&v.Steps[0], &v.Totals} {
		if s.Class != wire.ClassInvalid || s.ResponseTime.Valid || s.ServiceTime.Valid || s.ResponseTime.P99.Value != nil {
			t.Errorf("step %d: %s, %+v, %+v", s.Index, s.Class, s.ResponseTime, s.ServiceTime)
		}
		if s.Sources[0].ResponseP99S != nil {
			t.Errorf("step %d: p99 of source %s: %g", s.Index, s.Sources[0].Source, *s.Sources[0].ResponseP99S)
		}
	}
}

// TestClosedLoopOfSources: a closed loop gives no response times of its sources.
func TestClosedLoopOfSources(t *testing.T) {
	t.Parallel()
	g := openLoop
	g.Model = sample.Closed
	v := judge(t, evidence(g, steady(12_000, 10e6, 5e6), nil), query.Options{})
	if v.Totals.ResponseTime.Valid || v.Totals.Sources[0].ResponseP99S != nil {
		t.Errorf("%+v, %+v", v.Totals.ResponseTime, v.Totals.Sources)
	}
}
