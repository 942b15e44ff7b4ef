package verdict_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/sim"
)

// TestPublishedAfter: the same service with the excess shed, and back to 300/s.
// It still refuses a third for the first 11 s of the returned rate.
func TestPublishedAfter(t *testing.T) {
	t.Parallel()
	rungs := append(sim.AfterFix(), sim.Rung{Offered: 300, Completed: 300, Goodput: 300})
	ev := published(rungs, 480, 120)
	back := start + 4*490e9
	ev.Of.Declaration.Steps[3].PauseS = 0
	for _, b := range ev.Batches {
		for i, due := range b.Intended {
			if due < back {
				continue
			}
			to := due - 10e9 // no pause before the return
			b.Intended[i], b.Sent[i], b.Done[i] = to, to, b.Done[i]-10e9
			if at := to - back + 10e9; at < 11e9 && at/1e7%3 == 0 {
				b.Done[i], b.Outcome[i], b.Status[i] = to+sim.ShedIn, sample.Shed, 503
			}
		}
	}
	v := judge(t, ev, query.Options{})
	for i, r := range rungs {
		near(t, "completed", v.Steps[i].Completed, r.Completed, 0.001)
		near(t, "goodput", v.Steps[i].Goodput, r.Goodput, 0.001)
	}
	if got := classes(v); !strings.HasPrefix(got, "shedding shedding shedding shedding ") {
		t.Errorf("classes %s", got)
	}
	for _, s := range v.Steps[:4] {
		if s.ShedResponseTime == nil || s.ResponseTime.P99.Value == nil {
			t.Fatalf("at %g: %+v", *s.Offered, s.ResponseTime)
		}
		near(t, "shed within", s.ShedResponseTime.P99.Value, 0.002, 0.01)
		near(t, "p99 of those served", s.ResponseTime.P99.Value, 0.06, 0.01)
	}
	about(t, v, 459.5, 2)
	if k := v.Knee; k.State != "found" || k.Shape == nil || *k.Shape != "saturation" || k.ServedInFull != nil {
		t.Errorf("%+v", k)
	}
	m := v.Metastability
	if m.State != "recovered" || v.Outcome != wire.OutcomePass || !strings.Contains(v.Headline, "700/s") {
		t.Fatalf("%s %s: %s", m.State, v.Outcome, v.Headline)
	}
	near(t, "recovered after", m.RecoveredAfterS, 11, 0.001)
	t.Log(v.Headline)
}

// TestPublishedAnother: windows of 30 s.
func TestPublishedAnother(t *testing.T) {
	t.Parallel()
	rungs := []sim.Rung{
		{Offered: 100, Completed: 100, Goodput: 100},
		{Offered: 300, Completed: 300, Goodput: 300},
		{Offered: 450, Completed: 450, Goodput: 450},
		{Offered: 480, Completed: 478, Goodput: 478},
		{Offered: 550, Completed: 470, Goodput: 470},
		{Offered: 700, Completed: 310, Goodput: 310},
	}
	v := judge(t, published(rungs, 40, 10), query.Options{})
	counted(t, v, rungs)
	k := v.Knee
	if k.State != "found" || k.Shape == nil || *k.Shape != "collapse" || len(k.Bracket) != 2 || k.Bracket[0] != 480 || k.Bracket[1] != 550 {
		t.Errorf("%+v", k)
	}
	near(t, "knee", k.Offered, 480, 0)
	near(t, "recommended", k.Recommended, 300, 0)
	about(t, v, 474, 6)
	if v.Outcome != wire.OutcomePass {
		t.Errorf("%s: %s", v.Outcome, v.Headline)
	}
	t.Log(v.Headline)
}

// attempts are the rows of a simulated run whose clients try again: one row for
// each attempt, of which the client knows that it gave up or was answered.
func attempts(a sim.Aftermath, r sim.Retry) []sample.Row {
	var rows []sample.Row
	for k, x := range a.Exchanges {
		for i, sent := range x.Attempts {
			row := sample.Row{
				Intended: x.Intended, Sent: sent, Index: sample.NoIndex, Attempt: uint16(i), Key: uint64(k + 1), Flags: sample.RequestKey,
				Done: sent + int64(r.TimeoutS*1e9), Outcome: sample.Timeout,
			}
			if i == len(x.Attempts)-1 {
				row.Done, row.Outcome, row.Flags = x.Done, x.Outcome, row.Flags|sample.LastAttempt
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// storm is 600/s for 5 min, then 300/s for 25 min, onto a service of 460/s.
func storm(t *testing.T, r sim.Retry) *wire.Verdict {
	t.Helper()
	steps := []sim.Step{{RatePerS: 600, DurationS: 300}, {RatePerS: 300, DurationS: 1500}}
	a := sim.RunPersistent(sim.Persistent{
		StartNS: start, Steps: steps, Arrivals: sim.Constant(), Server: sim.Queue(sim.Exponential(), 16)(460), Retry: r,
	}, rand.New(rand.NewPCG(46, 1)))
	d := &wire.Declaration{ID: "r", DeadlineS: some(2.0), Arrival: &wire.Arrival{Model: "open", Process: "constant"}}
	for _, s := range steps {
		d.Steps = append(d.Steps, wire.DeclareStep{RatePerS: s.RatePerS, DurationS: s.DurationS})
	}
	return judge(t, evidence(openLoop, attempts(a, r), d), query.Options{})
}

// TestPublishedStorm: three attempts without a budget keep the service down; a
// budget of a tenth does not, and answered retries of a tenth are no finding.
func TestPublishedStorm(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("two million attempts")
	}
	r := sim.Retry{TimeoutS: 1, Attempts: 3}
	v := storm(t, r)
	s, m := v.Steps[1], v.Metastability
	near(t, "attempts", s.AttemptsPerS, 900, 0.001)
	near(t, "attempts per request", s.AttemptsPerReq, 3, 0.001)
	if m.State != "sustained" || m.RecoveredAfterS != nil || m.EtaS != nil || v.Outcome != wire.OutcomeFail {
		t.Fatalf("%+v %s: %s", m, v.Outcome, v.Headline)
	}
	near(t, "watched", m.WatchedS, 1500, 0.001)
	for name, want := range map[string]float64{"attempts_per_s": 900, "attempts_per_request": 3, "offered": 300} {
		if got := signal(v, name); math.Abs(got-want) > 0.01*want {
			t.Errorf("signal %s: %g, want %g", name, got, want)
		}
	}
	says(t, v, "recovery", "900 attempts/s, 3 per request", "not recovered in the 1500 s watched")
	t.Log(v.Headline)

	r.Budget = 0.1
	v = storm(t, r)
	m = v.Metastability
	if m.State != "recovered" || v.Outcome != wire.OutcomePass {
		t.Errorf("with a budget: %+v %s: %s", m, v.Outcome, v.Headline)
	}
	if got := v.Steps[0].AttemptsPerReq; got == nil || *got > 1.11 {
		t.Errorf("attempts per request with a budget: %v", got)
	}
	t.Log(v.Headline)
}

// TestRetriesOfATenth: every tenth request needs a second attempt, before a push
// and after it. That is no finding.
func TestRetriesOfATenth(t *testing.T) {
	t.Parallel()
	var rows []sample.Row
	d := &wire.Declaration{ID: "r", DeadlineS: some(2.0), Arrival: &wire.Arrival{Model: "open", Process: "constant"}}
	at, key := start, uint64(0)
	for _, s := range []struct{ rate, seconds, refused int64 }{{300, 60, 0}, {600, 60, 240}, {300, 300, 0}} {
		d.Steps = append(d.Steps, wire.DeclareStep{RatePerS: float64(s.rate), DurationS: float64(s.seconds)})
		for i := range s.rate * s.seconds {
			due := at + i*1e9/s.rate
			key++
			row := foldtest.Row(due, due, due+40e6)
			row.Key, row.Flags = key, sample.RequestKey|sample.LastAttempt
			switch {
			case i%s.rate < s.refused:
				row.Done, row.Outcome, row.Status = due+sim.ShedIn, sample.Shed, 503
			case i%10 == 0:
				first := row
				first.Done, first.Outcome, first.Status, first.Flags = due+sim.ShedIn, sample.Error, 500, sample.RequestKey
				rows = append(rows, first)
				row.Sent, row.Done, row.Attempt = due+20e6, due+60e6, 1
			}
			rows = append(rows, row)
		}
		at += s.seconds * 1e9
	}
	v := judge(t, evidence(openLoop, rows, d), query.Options{})
	near(t, "attempts per request", v.Steps[2].AttemptsPerReq, 1.1, 0.001)
	if v.Metastability.State != "recovered" || v.Outcome != wire.OutcomePass {
		t.Errorf("%+v %s: %s", v.Metastability, v.Outcome, v.Headline)
	}
	if f := finding(v, "recovery"); f == nil || f.Severity != wire.Info {
		t.Errorf("%+v", f)
	}
}

func signal(v *wire.Verdict, name string) float64 {
	for _, s := range v.Metastability.Signals {
		if s.Name == name && s.Value != nil {
			return *s.Value
		}
	}
	return math.NaN()
}
