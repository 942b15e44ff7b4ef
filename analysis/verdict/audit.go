package verdict

import (
	"math"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
)

// rig checks the measurement of one step: what the generator did to it.
func (j *judge) rig(t *judged) {
	w := t.wire
	if w.LateSendRatio != nil && *w.LateSendRatio > 0.01 {
		t.find("late_sends", wire.Warn, *w.LateSendRatio,
			"%s %s of requests left more than 5 ms after they were due; their times are counted from when they were due.",
			t.at(), share(*w.LateSendRatio))
	}
	if t.generatorBacklog() && w.Stability.State == wire.Unstable {
		t.find("generator_backlog", wire.Invalid, *w.LateSendRatio,
			"%s what grew is the number of requests that the generator had not sent; those at the server did not grow.", t.at())
	}
	if r := ratio(t.Unjudged, t.Rows+t.Retries); r > 0 {
		t.find("outcome_unknown", wire.Warn, r,
			"%s nothing says of %s of requests whether they failed: they count as answered because they ended. Spans of k6's browser module are whole iterations of the script without an outcome: its checks and the failures of its requests are in its metrics and files.",
			t.at(), share(r))
	}
	if r := ratio(t.Exhausted, t.Rows+t.Retries); r > 0 {
		t.find("generator_exhausted", severity(r > lossShare), r,
			"%s %s attempts never left the generator: it had run out of ports, sockets or files. Reuse connections, raise its limits or add hosts.",
			t.at(), human(t.Exhausted))
	}
	j.missing(t)
}

// unjudged reports whether more requests may have failed than is a loss.
func (j *judge) unjudged() bool {
	return ratio(j.total.Unjudged, j.total.Rows+j.total.Retries) > lossShare
}

// missing compares a known schedule with the arrivals that were seen.
func (j *judge) missing(t *judged) {
	want, seen := t.Want(), float64(t.wire.Due)
	switch {
	case !j.planned(t.Step):
	case j.lacks(t.Step):
		reason := "no number: " + share(1-seen/want) + " of the arrivals missing"
		t.refuse(reason)
		j.total.refuse(reason + " in " + t.title())
		t.find("arrivals_missing", wire.Invalid, 1-seen/want,
			"%s offered means %s arrivals in %s, but only %s are known: the others were dropped by the generator or lost on the way here, which the data cannot tell apart.",
			rate(want/t.Seconds()), human(int64(math.Round(want))), t.title(), human(t.wire.Due))
	case t.Exceeds:
		t.find("arrivals_exceed", wire.Warn, seen/want-1,
			"%s offered means %s arrivals in %s, but %s came: the declared rate is not what was offered.",
			rate(want/t.Seconds()), human(int64(math.Round(want))), t.title(), human(t.wire.Due))
	}
}

// planned reports whether the arrivals of a step can be held against a schedule.
func (j *judge) planned(s *fold.Step) bool {
	return !s.Cut && s.Nominal && (s.Rate > 0 || s.ToRate > 0) && !j.closed() && !j.st.Narrowed
}

// lacks reports whether fewer arrivals of a step are known than its schedule has.
func (j *judge) lacks(s *fold.Step) bool {
	return j.planned(s) && float64(s.Rows+s.Dropped) < s.Want()-s.Slack(j.st.Process)
}

// audit says whether the rig can be trusted.
func (j *judge) audit() {
	j.grades()
	j.driven()
	st := j.st
	for _, note := range st.Notes {
		j.find("import_note", wire.Info, 0, "Of the file: %s.", strings.TrimSuffix(note, "."))
	}
	if n := st.EarlyIntended; n > 0 {
		j.find("intended_after_sent", wire.Warn, float64(n),
			"%s requests were sent more than 1 ms before they were due: the schedule and the send are timed by different clocks. They count from the send.", human(n))
	}
	if n := st.SampledRows; n > 0 && !j.thinned {
		j.find("sampled_spans", wire.Invalid, float64(n),
			"%s spans passed a sampler: counts, rates and in flight cannot be known from them. Export all spans of the generator.", human(n))
	}
	if n := st.Outside; n > 0 && st.OfferedSource == "declared" {
		j.find("outside_steps", wire.Info, float64(n), "%s requests were due outside every declared step.", human(n))
	}
	if st.Nameless {
		j.find("too_many_scenarios", wire.Warn, fold.MostScenarios,
			"More than %s scenarios are named: they are taken for something else, such as ids, and passed over.", human(fold.MostScenarios))
	}
	j.atServer()
	j.models()
	bad := 0
	for _, t := range j.steps {
		if t.wire.Class == wire.ClassInvalid {
			bad++
		}
	}
	for _, f := range j.doc.Findings {
		j.note(f)
		if f.Severity == wire.Invalid {
			j.doc.Audit.Valid = false
		}
	}
	for _, t := range j.steps {
		for _, f := range t.findings {
			j.note(f)
		}
		if t.wire.Class == wire.ClassInvalid && (j.must(t) || bad == len(j.steps)) {
			j.doc.Audit.Valid = false
		}
	}
}

// lostTelemetry compares the rows with the generator's own count of arrivals.
func (j *judge) lostTelemetry() {
	st := j.st
	if st.Scheduled == nil || !st.Run.Finished || st.Narrowed || *st.Scheduled == 0 || j.thinned {
		j.ownCounts()
		return
	}
	known := st.Requests + st.Totals.Dropped
	lost := *st.Scheduled - known
	switch r := float64(lost) / float64(*st.Scheduled); {
	case r > 0.01:
		j.find("telemetry_lost", wire.Invalid, r,
			"The generator counted %s arrivals, but rows and drops make %s: %s of its telemetry did not arrive.",
			human(*st.Scheduled), human(known), share(r))
	case lost > 0:
		j.find("telemetry_lost", wire.Warn, r, "The generator counted %s arrivals, but rows and drops make %s.",
			human(*st.Scheduled), human(known))
	case r < -0.01:
		j.find("counted_twice", wire.Warn, -r,
			"Rows and drops make %s requests, but the generator counted only %s arrivals: some requests may be counted twice.",
			human(known), human(*st.Scheduled))
	default:
		j.ownCounts()
	}
}

// note copies findings about the rig into the audit.
func (j *judge) note(f wire.Finding) {
	switch f.Code {
	case "dropped_arrivals", "late_sends", "generator_backlog", "arrivals_missing", "arrivals_exceed", "closed_loop",
		"no_intended_time", "back_filled", "intended_after_sent", "sampled_spans", "telemetry_lost", "counted_twice",
		"littles_law_mismatch", "percentile_support", "percentile_dependent", "worker_cap", "declared_open",
		"arrival_process", "closed_loop_slump", "closed_loop_law", "think_time", "hosts_disagree", "cold_start", "drift",
		"generator_cpu", "measured_at_server", "too_short", "too_many_scenarios", "hidden_retries", "clock_offset", "server_in_flight", "generator_exhausted", "generator_tires":
		j.doc.Audit.Findings = append(j.doc.Audit.Findings, f)
	}
}
