package verdict

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/audit"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/response"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// measured is what the sends themselves say about the generator.
type measured struct {
	kind    audit.Kind
	process audit.Process
	worst   audit.LoopResult // of the step that showed kind
	step    int              // index of that step
}

// measure reads the loop and the arrival process off the steps: one closed step
// makes a closed run, then one capped step a capped one; the run is open only if
// nothing else was seen. The process is that of the step with most arrivals.
func measure(st *fold.State) measured {
	var m measured
	rank := map[audit.Kind]int{audit.UnknownLoop: 0, audit.OpenLoop: 1, audit.CappedLoop: 2, audit.ClosedLoop: 3}
	var most int64
	for _, s := range st.Steps {
		if s.Counts != nil {
			continue
		}
		if r := s.Rig.Loop.Result(); rank[r.Kind] > rank[m.kind] {
			m.kind, m.worst, m.step = r.Kind, r, s.Index
		}
		if s.Rate != s.ToRate {
			continue
		}
		if a := s.Rig.Arrivals.Result(); a.N > most && a.Process != audit.UnknownProcess {
			most, m.process = a.N, a.Process
		}
	}
	return m
}

// loop says how the generator decided when to send: as stated, unless the sends
// show otherwise.
func (j *judge) loop() string {
	st := j.st
	dropped := ratio(st.Totals.Dropped, st.Totals.Rows+st.Totals.Dropped) > dropLimit
	switch {
	case st.Model == sample.Closed:
		return "closed"
	case dropped || j.seen.kind == audit.CappedLoop:
		return "capped"
	case st.Model == sample.Open:
		return "open"
	case j.seen.kind == audit.ClosedLoop && !j.closed(): // its rows were sent when they were due, which no closed loop knows
		return audit.UnknownLoop.String()
	}
	return j.seen.kind.String()
}

// process is the arrival process: as stated, else as measured.
func (j *judge) process() string {
	switch p := j.st.Process; p {
	case "constant", "jittered", "poisson", "bursty":
		return p
	}
	return j.seen.process.String()
}

// closed reports whether arrivals wait for answers. A run that does not say how
// it was driven and whose sends follow completions counts as closed, unless its
// rows say when requests were due.
func (j *judge) closed() bool {
	switch j.st.Model {
	case sample.Closed:
		return true
	case sample.Open:
		return false
	}
	return j.seen.kind == audit.ClosedLoop && !j.st.Grade.Timed()
}

// driven reports on how the run was driven.
func (j *judge) driven() {
	w := &j.seen.worst
	for _, t := range j.steps {
		j.busyWorkers(t)
	}
	switch {
	case j.seen.kind == audit.CappedLoop:
		t := j.byIndex(j.seen.step)
		j.capped(t, w)
	case j.seen.kind == audit.ClosedLoop && j.st.Model == sample.Open:
		j.find("declared_open", wire.Warn, w.Follow,
			"The generator says that it is open, but its sends follow completions (%s of them at once): it waited for answers.", share(w.Follow))
	}
	if stated := j.st.Process; stated != "" && j.seen.process != audit.UnknownProcess && stated != j.seen.process.String() && !j.closed() {
		j.find("arrival_process", wire.Info, float64(j.st.Requests), "Arrivals were to be %s and came %s.", stated, j.seen.process)
	}
	if j.closed() {
		j.saturation()
		j.slump()
		for _, t := range j.steps {
			j.law(t)
		}
	}
}

// capped says at which load the generator's workers run out.
func (j *judge) capped(t *judged, w *audit.LoopResult) {
	workers, ok := w.Plateau()
	if t == nil || t.wire.Offered == nil || !ok {
		j.find("worker_cap", wire.Warn, float64(w.Ceiling), "The generator ran out of workers: sends waited for completions while requests were due.")
		return
	}
	took, typical := t.Service.Mean(), "on average"
	limit := audit.Cap{Workers: float64(workers), OfferedPerS: *t.wire.Offered, PerS: value(t.wire.Completed), ServiceS: took}
	c, ok := limit.Predict()
	if !ok {
		return
	}
	if !c.Binds && w.NearCeiling > 0.5 { // most requests met the plateau, and those before it lower the mean
		took, typical = float64(t.Service.ValueAtRank((t.Service.Count()+1)/2))/1e9, "in the median"
		limit.ServiceS = took
		c, _ = limit.Predict()
	}
	bound := ""
	switch {
	case c.Binds && w.Flat():
		bound = cappedAt(float64(workers), value(t.wire.Completed), &c)
	case c.Binds:
		bound = capOver(float64(workers), value(t.wire.Completed), &c)
	}
	t.find("worker_cap", wire.Warn, float64(workers),
		"%s never more than %s requests were out at once: so many workers hold this rate only while a request takes less than %s, and it took %s %s.%s",
		t.at(), human(workers), lasting(c.HoldsBelowS), lasting(took), typical, bound)
	if w.Flat() {
		t.find("throughput_flat", wire.Warn, w.AtCeiling,
			"%s throughput was %s while %s to %s requests were in flight, and %s with all %s: the service had reached what it completes before the workers ran out.",
			t.at(), rate(w.Below), human((workers+1)/2), human(workers*3/4), rate(w.AtCeiling), human(workers))
	}
}

// capOver says that a plateau of response times is the workers' own.
func capOver(workers, perS float64, c *audit.CapResult) string {
	return fmt.Sprintf(" %s is cap over throughput (%s / %s): the workers set this load, and at least %s would have held it.",
		lasting(c.PlateauS), count(&workers), rate(perS), human(int64(math.Ceil(c.Needed))))
}

// cappedAt says the same of a service that completes no more.
func cappedAt(workers, perS float64, c *audit.CapResult) string {
	return fmt.Sprintf(" %s is cap over throughput (%s / %s): the workers set this time, and more of them would only have waited longer.",
		lasting(c.PlateauS), count(&workers), rate(perS))
}

func (j *judge) byIndex(i int) *judged {
	for _, t := range j.steps {
		if t.Index == i {
			return t
		}
	}
	return nil
}

// watch reports what went on within a step.
func (j *judge) watch(t *judged) {
	j.stalls(t)
	j.disagreement(t)
	j.processors(t)
	j.tiring(t)
	j.tooShort(t)
	if t.Rig.Batches == nil || t.wire.Class != wire.ClassStable || !t.wire.ResponseTime.Valid {
		return
	}
	if c, ok := t.Rig.Batches.Cold(); ok {
		t.find("cold_start", wire.Info, c.Ratio, "%s the first tenth was %.2g times as slow as the rest (%s against %s): declare a warm-up to leave it out.",
			t.at(), c.Ratio, lasting(c.FirstS), lasting(c.RestS))
	}
	if d, ok := t.Rig.Batches.Drifts(); ok {
		t.find("drift", wire.Warn, d.Share, "%s the median moved by %s of its mean over the step: a longer run would show where it goes.", t.at(), share(d.Share))
	}
	for _, p := range percentiles {
		if w, ok := t.Rig.Batches.Widen(p.at); ok && !w.Enough && w.Variance > 2 && p.at >= 0.99 && t.Response.Quantile(p.at, confidence).Need == 0 {
			t.find("percentile_dependent", wire.Info, w.Effective,
				"%s the slow requests came together: for %s this step is worth only %s independent requests, and even the wider interval may be too narrow.",
				t.at(), p.name, human(int64(w.Effective)))
			break
		}
	}
}

// mostStalls is how many stalls of a step are named.
const mostStalls = 3

func (j *judge) stalls(t *judged) {
	if t.Rows == 0 || j.st.SampledRows > 0 || t.Counts != nil {
		return
	}
	all, more := t.Rig.Stalls.Result(t.To)
	slices.SortStableFunc(all, func(a, b audit.Stall) int { return int(b.Hit - a.Hit) })
	for i, s := range all {
		if i == mostStalls {
			t.find("more_stalls", wire.Info, float64(int64(len(all)-i)+more), "%s there were %s more stalls.", t.at(), human(int64(len(all)-i)+more))
			break
		}
		t.find("stall", wire.Warn, s.Seconds(), "%s nothing was answered for %s from %s on, and %s requests were hit.",
			t.at(), lasting(s.Seconds()), clock(s.From).Format("15:04:05.0"), human(s.Hit))
	}
}

func (j *judge) disagreement(t *judged) {
	if len(t.SourceSteps) < 2 {
		return
	}
	var all []audit.Source
	for _, name := range slices.Sorted(maps.Keys(t.SourceSteps)) {
		s := t.SourceSteps[name]
		all = append(all, audit.Source{Name: name, Requests: s.Sent, Errors: s.Errors, Response: s.Response, SendDelay: s.SendDelay})
	}
	for i, d := range audit.Disagree(all) {
		if i == mostStalls {
			break
		}
		here, others := lasting(d.Here), lasting(d.Others)
		if d.What == "errors" {
			here, others = share(d.Here), share(d.Others)
		}
		t.find("hosts_disagree", wire.Warn, d.Here, "%s %s differs from the other sources: %s %s against %s.", t.at(), d.Source, spoken(d.What), here, others)
	}
}

// spoken names a difference of sources in a sentence.
func spoken(what string) string {
	if what == "send_delay" {
		return "p99 of the send delay"
	}
	return what
}

// percentiles of the document.
var percentiles = [...]struct {
	name string
	at   float64
}{{"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p99.9", 0.999}}

// quantile of the response times of a step, with an interval that respects that
// slow requests come together. Percentiles of a growing backlog depend on how
// long was measured, and no interval mends that.
func (t *judged) quantile(q float64) response.Estimate {
	e := t.Response.Quantile(q, confidence)
	if t.Rig.Batches == nil || t.growing {
		return e
	}
	if w, ok := t.Rig.Batches.Widen(q); ok {
		return w.Interval(t.Response, q)
	}
	return e
}

// felt says what the percentiles mean to users, for the highest load that was
// carried.
func (j *judge) felt() {
	var top *judged
	for _, t := range j.steps {
		if t.wire.Class == wire.ClassStable && t.wire.ResponseTime.Valid && t.wire.ResponseTime.P99.Value != nil &&
			(top == nil || value(t.wire.Offered) > value(top.wire.Offered)) {
			top = t
		}
	}
	if top == nil || j.closed() || !top.Grade.Timed() {
		return
	}
	p95, p99 := value(top.wire.ResponseTime.P95.Value), *top.wire.ResponseTime.P99.Value
	top.find("users_feel", wire.Info, audit.MeetsPerDay(0.95, 20),
		"%s a user with 20 requests a day waits longer than the p95 of %s on %s of days, and %s requests a minute wait longer than the p99 of %s.",
		top.at(), lasting(p95), share(audit.MeetsPerDay(0.95, 20)), human(int64(audit.Slower(0.99, value(top.wire.Offered))+0.5)), lasting(p99))
}

// paced reports whether the arrivals of a step came at equal gaps: as seen, or as
// stated where that cannot be seen.
func (j *judge) paced(t *judged) bool {
	if t.Counts == nil {
		if p := t.Rig.Arrivals.Result().Process; p != audit.UnknownProcess {
			return p == audit.Paced
		}
	}
	return j.process() == "constant"
}

// surelyDispersed is the 97.5 % point of the dispersion of counts in twenty
// blocks where the true one is 1: χ²₁₉/19.
const surelyDispersed = 32.85 / 19

// dispersion is the variance to mean of departures where it is known to exceed
// that of a Poisson stream, else 0: intervals of rates are widened by what is
// known.
func (t *judged) dispersion() float64 {
	if d := t.result.DispersionOut; d > surelyDispersed {
		return d
	}
	return 0
}
