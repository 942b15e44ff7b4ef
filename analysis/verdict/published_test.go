package verdict_test

import (
	"math"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/sim"
	"github.com/plimsoll/plimsoll/analysis/verdict"
)

// published are the rows of a published table, with its steps declared.
func published(rungs []sim.Rung, seconds, warmup float64) *foldtest.Evidence {
	d := &wire.Declaration{ID: "r", DeadlineS: some(2.0), Arrival: &wire.Arrival{Model: "open", Process: "constant"}}
	drops := &sample.Batch{Series: []sample.Series{{Source: "gen", Name: "loadtest.arrivals.dropped", Kind: sample.Counter}}}
	for i, r := range rungs {
		rungs[i].Seconds, rungs[i].PauseS = seconds, 10
		d.Steps = append(d.Steps, wire.DeclareStep{RatePerS: r.Offered, DurationS: seconds, WarmupS: warmup, PauseS: 10})
	}
	rows, dropped, to := sim.Table(start, rungs, nil)
	point := func(at int64, n int) {
		drops.Points = append(drops.Points, sample.Point{Start: start - 1, Time: at, Value: float64(n)})
	}
	point(start, 0)
	for i, at := range dropped {
		point(at, i+1)
	}
	point(to, len(dropped))
	ev := evidence(openLoop, rows, d)
	ev.Batches = append(ev.Batches, drops)
	return ev
}

func some(v float64) *float64 { return &v }

// counted holds what the steps of a document count against a table.
func counted(t *testing.T, v *wire.Verdict, rungs []sim.Rung) {
	t.Helper()
	if len(v.Steps) != len(rungs) {
		t.Fatalf("%d steps, want %d", len(v.Steps), len(rungs))
	}
	for i, r := range rungs {
		s := v.Steps[i]
		near(t, "offered", s.Offered, r.Offered, 0)
		near(t, "completed", s.Completed, r.Completed, 0.001)
		if s.Goodput == nil || math.Abs(*s.Goodput-r.Goodput) > 0.05 {
			t.Errorf("goodput at %g: %v, want %g", r.Offered, s.Goodput, r.Goodput)
		}
		if math.Abs(s.DroppedRatio-r.Dropped) > 1e-4 || math.Abs(s.ShedRatio*r.Offered-r.Shed) > 0.1 {
			t.Errorf("at %g: dropped %g, shed %g", r.Offered, s.DroppedRatio, s.ShedRatio*r.Offered)
		}
	}
}

// about holds a capacity against its published value and interval.
func about(t *testing.T, v *wire.Verdict, value, half float64) {
	t.Helper()
	c := v.Knee.Capacity
	if c == nil || c.Value == nil || c.Lo == nil || c.Hi == nil {
		t.Fatalf("capacity %+v", c)
	}
	if math.Abs(*c.Value-value) > 0.3 || *c.Hi-*c.Value > half || *c.Value-*c.Lo > half || *c.Lo >= *c.Value || *c.Hi <= *c.Value {
		t.Errorf("capacity %g (%g to %g), want %g ± %g", *c.Value, *c.Lo, *c.Hi, value, half)
	}
}

func classes(v *wire.Verdict) string {
	var all []string
	for _, s := range v.Steps {
		all = append(all, s.Class)
	}
	return strings.Join(all, " ")
}

// TestPublishedBefore: the service whose clients time out, before the fix.
func TestPublishedBefore(t *testing.T) {
	t.Parallel()
	rungs := sim.BeforeFix()
	ev := published(rungs, 480, 120)
	spectra(t, ev)
	v := judge(t, ev, query.Options{})
	counted(t, v, rungs)
	if got := classes(v); got != "stable stable stable stable lossy lossy lossy" {
		t.Errorf("classes %s", got)
		for _, s := range v.Steps {
			t.Logf("%g: %s: %s", *s.Offered, s.Class, s.Stability.Reason)
		}
	}
	k := v.Knee
	if k.State != "found" || k.Shape == nil || *k.Shape != "collapse" || len(k.Bracket) != 2 || k.Bracket[0] != 450 || k.Bracket[1] != 500 {
		t.Errorf("%+v", k)
	}
	near(t, "knee", k.Offered, 500, 0)
	near(t, "served in full", k.ServedInFull, 450, 0)
	near(t, "recommended", k.Recommended, 400, 0)
	about(t, v, 462, 2.5)
	for _, s := range v.Steps {
		dropped := *s.Offered > 500
		if s.ResponseTime.Valid == dropped || dropped && (s.ResponseTime.P50.Value != nil || s.ResponseTime.P99.Lo != nil || s.ServiceTime.P99.Value != nil) {
			t.Errorf("percentiles at %g: %+v", *s.Offered, s.ResponseTime)
		}
		if dropped && !strings.HasSuffix(s.ResponseTime.Reason, " % dropped") {
			t.Errorf("reason at %g: %s", *s.Offered, s.ResponseTime.Reason)
		}
	}
	says(t, v, "late_answers", "At 550/s the service completed 441/s, but only 88/s arrived within 2 s: 80 %", "for clients that had gone")
	says(t, v, "dropped_arrivals", "At 550/s at least 4.1 % of arrivals were lost")
	says(t, v, "dropped_arrivals", "At 600/s at least 22 % of arrivals were lost")
	if v.Outcome != wire.OutcomePass || !strings.Contains(v.Headline, "500/s") || !strings.Contains(v.Headline, "collapse") {
		t.Errorf("%s: %s", v.Outcome, v.Headline)
	}
	t.Log(v.Headline)
}

// spectra: of steps that dropped nothing there is one, with the step that did there is none.
func spectra(t *testing.T, ev fold.Evidence) {
	t.Helper()
	count := func(steps ...int) int64 {
		got, err := verdict.Analysis{}.Spectrum(t.Context(), ev, query.Options{Steps: steps})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Response) == 0 {
			return 0
		}
		return got.Response[len(got.Response)-1].Count
	}
	if all, one, other := count(0, 1), count(0), count(1); all != one+other || one == 0 || one == other {
		t.Errorf("spectra of %d and %d requests make one of %d", one, other, all)
	}
	if n := count(); n != 0 {
		t.Errorf("a run that dropped 4.6 %% has a spectrum of %d requests", n)
	}
	if n := count(0, 5); n != 0 {
		t.Errorf("steps of which one dropped 4.1 %% have a spectrum of %d requests", n)
	}
}

// says asks for a finding of the code that holds all the parts.
func says(t *testing.T, v *wire.Verdict, code string, parts ...string) {
	t.Helper()
	for _, f := range v.Findings {
		all := f.Code == code
		for _, p := range parts {
			all = all && strings.Contains(f.Message, p)
		}
		if all {
			return
		}
	}
	t.Errorf("no finding %s says %q", code, parts)
	for _, f := range v.Findings {
		t.Logf("%s %s: %s", f.Severity, f.Code, f.Message)
	}
}
