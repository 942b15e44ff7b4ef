package verdict

import (
	"fmt"
	"math"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// find adds a finding about the step.
func (t *judged) find(code, severity string, value float64, format string, args ...any) {
	i := t.Index
	f := wire.Finding{Code: code, Severity: severity, Step: &i, Value: some(value), Message: sentence(format, args...)}
	t.findings = append(t.findings, f)
	if severity == wire.Invalid && t.invalid == "" {
		t.invalid = f.Message
	}
}

// find adds a finding about the run.
func (j *judge) find(code, severity string, value float64, format string, args ...any) {
	j.doc.Findings = append(j.doc.Findings, wire.Finding{
		Code: code, Severity: severity, Value: some(value), Message: sentence(format, args...),
	})
}

// sentence begins with a capital letter.
func sentence(format string, args ...any) string {
	s := fmt.Sprintf(format, args...)
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// title names a step in a sentence.
func (t *judged) title() string {
	switch {
	case t.Mark != "":
		return fmt.Sprintf("step %d (after %s)", t.Index, t.Mark)
	case t.Name != "":
		return fmt.Sprintf("step %d (%s)", t.Index, t.Name)
	case t.Index < 0:
		return "the run"
	default:
		return fmt.Sprintf("step %d", t.Index)
	}
}

// at begins a sentence with the offered rate of the step.
func (t *judged) at() string {
	if t.wire.Offered == nil {
		return "In " + t.title()
	}
	return "At " + rate(*t.wire.Offered)
}

// explain says what made the class of a step.
func (j *judge) explain(t *judged) {
	w := t.wire
	if w.DroppedRatio > dropLimit {
		severity := wire.Invalid
		if j.allowDrops() {
			severity = wire.Warn
		}
		t.find("dropped_arrivals", severity, w.DroppedRatio,
			"%s at least %s of arrivals were lost: the generator dropped %s of %s before sending them.",
			t.at(), share(w.DroppedRatio), human(t.Dropped), human(w.Due))
	} else if t.Dropped > 0 {
		t.find("dropped_arrivals", wire.Warn, w.DroppedRatio,
			"%s the generator dropped %s of %s arrivals; they count as longer than any.", t.at(), human(t.Dropped), human(w.Due))
	}
	switch w.Class {
	case wire.ClassUnstable:
		if t.outrun() {
			t.find("unstable_step", wire.Fail, value(w.Offered), "%s %s.", t.at(), w.Stability.Reason)
			break
		}
		f := w.InFlight
		t.find("unstable_step", wire.Fail, value(f.GrowthZ), "%s in flight grew from %s to %s between halves of %s.",
			t.at(), count(f.FirstHalf), count(f.SecondHalf), lasting(t.WarmSeconds()))
	case wire.ClassLossy:
		t.find("lossy_step", wire.Fail, 1-ratio(t.Outcomes[0], t.Rows+t.Dropped), "%s %s.", t.at(), j.lost(t))
	case wire.ClassShedding:
		t.find("shedding_step", wire.Warn, w.ShedRatio, "%s %s.", t.at(), j.lost(t))
	}
	j.waste(t)
}

// lost says how many of the requests due came to nothing, and how.
func (j *judge) lost(t *judged) string {
	w := t.wire
	parts, most := []string{}, ""
	for _, p := range [...]struct {
		ratio float64
		what  string
	}{
		{w.DroppedRatio, "were never sent"},
		{w.ShedRatio, "were rejected"},
		{w.TimeoutRatio, "timed out"},
		{w.ErrorRatio, "failed"},
		{w.CancelledRatio, "were cancelled"},
	} {
		switch {
		case p.what == "failed" && t.several() && t.Counts.Failed > 0:
			parts, most = append(parts, t.failedOf()), "at most "
		case p.ratio > 0:
			parts = append(parts, share(p.ratio)+" "+p.what)
		}
	}
	s := strings.Join(parts, ", ")
	if w.Completed != nil {
		s += fmt.Sprintf("; %s%s completed", most, rate(*w.Completed))
	}
	return s
}

// wasteful reports whether more than a twentieth of the answers came after their
// deadline: a rate to know of, and none to operate at.
func (t *judged) wasteful() bool {
	w := t.wire
	return w.Goodput != nil && w.Completed != nil && *w.Completed-*w.Goodput > 0.05**w.Completed
}

// waste names the work that was done for clients that had gone.
func (j *judge) waste(t *judged) {
	w := t.wire
	if w.Goodput == nil || w.Completed == nil || *w.Completed <= 0 || t.WarmDeadlines == 0 {
		return
	}
	late := *w.Completed - *w.Goodput
	if !t.wasteful() {
		return
	}
	deadline := "its deadline"
	if j.st.DeadlineS != nil && j.st.FirstByteDeadlineS == nil {
		deadline = lasting(*j.st.DeadlineS)
	}
	t.find("late_answers", wire.Warn, late / *w.Completed,
		"%s the service completed %s, but only %s arrived within %s: %s of its answers were for clients that had gone.",
		t.at(), rate(*w.Completed), rate(*w.Goodput), deadline, share(late / *w.Completed))
}

func value(p *float64) float64 {
	if p == nil {
		return math.NaN()
	}
	return *p
}

// count prints a number of requests.
func count(p *float64) string {
	switch {
	case p == nil:
		return "?"
	case *p >= 100:
		return human(int64(math.Round(*p)))
	default:
		return fmt.Sprintf("%.3g", *p)
	}
}

// drains says when the backlog of a step was gone.
func (j *judge) drains() {
	for i, t := range j.steps {
		floor, falls := 0.0, true
		if !t.Paused && i+1 < len(j.steps) {
			next := j.steps[i+1]
			floor = j.st.Floor(next.Step)
			falls = next.Offered() < t.Offered()
		}
		if !falls || t.Rows == 0 || j.st.SampledRows > 0 || t.Cut || t.Counts != nil {
			continue
		}
		if at, ok := t.Drained(floor); ok {
			t.wire.DrainS = seconds(at - t.To)
		} else if t.AtEnd > 0 {
			t.find("not_drained", wire.Warn, float64(t.AtEnd), "After %s the backlog of %s requests did not drain to its floor of %.3g before the next step ended.",
				t.title(), human(t.AtEnd), floor)
		}
	}
	j.total.wire.DrainS = nil
	if n := len(j.steps); n > 0 {
		j.total.wire.DrainS = j.steps[n-1].wire.DrainS
	}
}

// capacity is the rate that the service carried in the steps that were too much
// for it: completions while the queue was long. A declared capacity wins.
func (j *judge) capacity() {
	if d := j.st.Run.Declaration; d != nil && d.CapacityPerS != nil {
		j.doc.Knee.Capacity = &wire.Estimate{Value: d.CapacityPerS, Lo: d.CapacityPerS, Hi: d.CapacityPerS, Confidence: 1}
		return
	}
	for i, t := range j.steps {
		if t.Silent > (t.To-t.From)/50 { // it idled for some of the time
			continue
		}
		if t.wire.Class != wire.ClassUnstable || t.lossy || t.wire.Completed == nil || t.Dropped > 0 || t.broke {
			continue
		}
		c := *t.wire.Completed
		if t.wire.DrainS != nil {
			c = max(c, float64(j.answered(i))/(t.Seconds()+*t.wire.DrainS))
		}
		if k := j.doc.Knee.Capacity; k == nil || *k.Value < c {
			margin := 2 * math.Sqrt(c/t.WarmSeconds())
			j.doc.Knee.Capacity = &wire.Estimate{Value: some(c), Lo: some(max(0, c-margin)), Hi: some(c + margin), Confidence: confidence}
		}
	}
}

// answered are the good answers to the requests of a step, and to those that came
// while its backlog drained where a lower rate followed at once: the service
// worked for both.
func (j *judge) answered(i int) int64 {
	t := j.steps[i]
	n := t.Outcomes[sample.OK]
	if t.wire.DrainS == nil || t.Paused || i+1 >= len(j.steps) {
		return n
	}
	next := j.steps[i+1]
	came := next.Offered()*min(*t.wire.DrainS, next.Seconds()) - j.st.Floor(next.Step)
	return n + int64(max(0, came)*ratio(next.Outcomes[sample.OK], next.Rows))
}

// undated says why it is not known when requests were due, and what would tell.
func (j *judge) undated() []any {
	st := j.st
	const set = "Set loadtest.intended_time_unix_nano or loadtest.arrival.index"
	switch r := st.Ranks; {
	case r != nil && r.Why != "":
		return []any{fmt.Sprintf("The declared schedule could be matched with %s of %s requests, as %s; as to the others", human(r.Numbered), human(r.Rows), r.Why), set + "."}
	case st.OfferedSource != "declared":
		return []any{"No row says when its request was due", set + ", or declare the schedule of a generator that sends at a steady pace."}
	case !st.Run.Finished && st.Process == "constant":
		return []any{"No row says when its request was due", "When the run has ended, its sends are matched with the declared schedule."}
	}
	return []any{"No row says when its request was due, and the declared schedule says how many were and not when each was", set + "."}
}

// grades says what the evidence lacks.
func (j *judge) grades() {
	st := j.st
	if st.Rows == 0 {
		return
	}
	if j.closed() && !j.fixed() {
		j.find("closed_loop", wire.Warn, float64(st.Rows),
			"A closed loop sends less when the service is slow: these times are not what users of an open service would feel.")
	}
	switch {
	case st.Grade == fold.GradeS && !j.closed():
		j.find("no_intended_time", wire.Warn, float64(st.Rows),
			"%s: response times are counted from the send and miss any lateness of the generator. %s", j.undated()...)
	case st.Grade == fold.GradeF:
		j.find("counts_only", wire.Warn, float64(st.Rows),
			"Only counts were exported: what was omitted can be bounded and not rebuilt, and no response time can be corrected.")
	case st.Grade == fold.GradeX:
		j.find("tool_corrected", wire.Info, 0, toolCorrected, st.Generator)
	case st.Grade == fold.GradeE:
		j.find("back_filled", wire.Info, float64(st.Totals.Response.N())-float64(st.Totals.Due),
			"Response times are back-filled from the expected interval: %s samples stand for requests that were never sent.",
			human(int64(st.Totals.Response.N())-st.Totals.Due))
	}
}
