package verdict_test

import (
	"math"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// rung is a line of a published table: rates per second of one step. What is
// offered and neither completed, shed nor dropped times out.
type rung struct {
	offered, completed, goodput, shed float64
	dropped                           float64 // share of what is offered
}

// The times that requests of a table take, ns.
const (
	inTime     = 60e6
	tooLate    = 3e9
	patience   = 5e9
	shedWithin = 2e6
)

// table makes rows of which every count of a published table comes out, with the
// steps declared. Arrivals are paced, and what becomes of them is spread evenly.
func table(rungs []rung, seconds, warmup float64) *foldtest.Evidence {
	d := &wire.Declaration{ID: "r", DeadlineS: some(2.0), Arrival: &wire.Arrival{Model: "open", Process: "constant"}}
	var rows []sample.Row
	drops := &sample.Batch{Series: []sample.Series{{Source: "gen", Name: "loadtest.arrivals.dropped", Kind: sample.Counter}}}
	var dropped float64
	from := start
	point := func(at int64) {
		drops.Points = append(drops.Points, sample.Point{Start: start - 1, Time: at, Value: dropped})
	}
	point(start)
	for _, r := range rungs {
		d.Steps = append(d.Steps, wire.DeclareStep{RatePerS: r.offered, DurationS: seconds, WarmupS: warmup, PauseS: 10})
		share := [...]float64{
			r.goodput, r.completed - r.goodput, r.shed, r.dropped * r.offered,
			r.offered*(1-r.dropped) - r.completed - r.shed,
		}
		var given [len(share)]float64
		for i := range int64(r.offered * seconds) {
			due := from + i*1e9/int64(r.offered)
			kind, most := 0, math.Inf(-1)
			for k := range share {
				if lack := share[k]*float64(i+1)/r.offered - given[k]; share[k] > 0 && lack > most {
					kind, most = k, lack
				}
			}
			given[kind]++
			row := foldtest.Row(due, due, due)
			switch kind {
			case 0:
				row.Done += inTime
			case 1:
				row.Done += tooLate
			case 2:
				row.Done, row.Outcome, row.Status = due+shedWithin, sample.Shed, 503
			case 3:
				dropped++
				point(due)
				continue
			default:
				row.Done, row.Outcome = due+patience, sample.Timeout
			}
			rows = append(rows, row)
		}
		from += int64((seconds + 10) * 1e9)
	}
	point(from)
	ev := evidence(openLoop, rows, d)
	ev.Batches = append(ev.Batches, drops)
	return ev
}

func some(v float64) *float64 { return &v }

// counted holds what the steps of a document count against a table.
func counted(t *testing.T, v *wire.Verdict, rungs []rung) {
	t.Helper()
	if len(v.Steps) != len(rungs) {
		t.Fatalf("%d steps, want %d", len(v.Steps), len(rungs))
	}
	for i, r := range rungs {
		s := v.Steps[i]
		near(t, "offered", s.Offered, r.offered, 0)
		near(t, "completed", s.Completed, r.completed, 0.001)
		if s.Goodput == nil || math.Abs(*s.Goodput-r.goodput) > 0.05 {
			t.Errorf("goodput at %g: %v, want %g", r.offered, s.Goodput, r.goodput)
		}
		if math.Abs(s.DroppedRatio-r.dropped) > 1e-4 || math.Abs(s.ShedRatio*r.offered-r.shed) > 0.1 {
			t.Errorf("at %g: dropped %g, shed %g", r.offered, s.DroppedRatio, s.ShedRatio*r.offered)
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
	rungs := []rung{
		{offered: 200, completed: 200, goodput: 200},
		{offered: 300, completed: 300, goodput: 300},
		{offered: 400, completed: 400, goodput: 400},
		{offered: 450, completed: 449, goodput: 449},
		{offered: 500, completed: 462, goodput: 351, dropped: 0.002},
		{offered: 550, completed: 441, goodput: 88, dropped: 0.041},
		{offered: 600, completed: 337, goodput: 0, dropped: 0.22},
	}
	v := judge(t, table(rungs, 480, 120), query.Options{})
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
