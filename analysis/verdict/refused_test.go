package verdict_test

import (
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/verdict"
)

// TestMissingArrivalsOfTheRun: what a step refuses, the run as a whole and its
// sources refuse too.
func TestMissingArrivalsOfTheRun(t *testing.T) {
	t.Parallel()
	rows := steady(10_000, 10e6, 5e6)
	d := &wire.Declaration{Steps: []wire.DeclareStep{{DurationS: 100, RatePerS: 100}}}
	ev := evidence(openLoop, append(rows[:3000:3000], rows[7000:]...), d)
	v := judge(t, ev, query.Options{})
	for _, s := range []*wire.Step{&v.Steps[0], &v.Totals} {
		if s.Class != wire.ClassInvalid || s.ResponseTime.Valid || s.ServiceTime.Valid || s.ResponseTime.P99.Value != nil {
			t.Errorf("step %d: %s, %+v, %+v", s.Index, s.Class, s.ResponseTime, s.ServiceTime)
		}
		if s.Sources[0].ResponseP99S != nil {
			t.Errorf("step %d: p99 of source %s: %g", s.Index, s.Sources[0].Source, *s.Sources[0].ResponseP99S)
		}
	}
	spectrum, err := verdict.Analysis{}.Spectrum(t.Context(), ev, query.Options{})
	if err != nil || len(spectrum.Response)+len(spectrum.Service) > 0 {
		t.Errorf("spectrum %+v, %v", spectrum, err)
	}
	series, err := verdict.Analysis{}.Series(t.Context(), ev, query.Options{Names: []string{"completed", "response_p99"}})
	if err != nil || series.Columns["completed"][0] == nil || series.Columns["response_p99"][0] != nil {
		t.Errorf("series %+v, %v", series, err)
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

// TestSendsNotKnown: where a tool counted from when requests were due, nothing
// shows times from the send.
func TestSendsNotKnown(t *testing.T) {
	t.Parallel()
	rows := steady(6000, 10e6, 5e6)
	for i := range rows {
		rows[i].Flags |= sample.Corrected
	}
	ev := evidence(openLoop, rows, nil)
	v := judge(t, ev, query.Options{})
	if s := v.Steps[0]; s.ServiceTime.Valid || s.SendDelay != nil || s.LateSendRatio != nil || s.Sources[0].SendDelayMax != nil || !s.ResponseTime.Valid {
		t.Errorf("%+v", s)
	}
	spectrum, err := verdict.Analysis{}.Spectrum(t.Context(), ev, query.Options{})
	if err != nil || len(spectrum.Service) > 0 || len(spectrum.Response) == 0 {
		t.Errorf("spectrum %+v, %v", spectrum, err)
	}
	series, err := verdict.Analysis{}.Series(t.Context(), ev, query.Options{Names: []string{"response_p99", "service_p99", "send_delay_p99"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"response_p99": true, "service_p99": false, "send_delay_p99": false} {
		if got := series.Columns[name][0] != nil; got != want {
			t.Errorf("%s: shown %t, want %t", name, got, want)
		}
	}
}
