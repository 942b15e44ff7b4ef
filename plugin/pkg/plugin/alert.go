package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/data"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// Measures of an alert.
const (
	measureOutcome   = "outcome"
	measureUnstable  = "unstable"
	measureGenerator = "generator"
	measureGoodput   = "goodput"
	measureRecovery  = "recovery"
)

func measures() []string {
	return []string{measureOutcome, measureUnstable, measureGenerator, measureGoodput, measureRecovery}
}

// Numbers of an alert, as those of outcomes.
const (
	codePass         = 0.0
	codeInconclusive = 1.0
	codeInvalid      = 2.0
	codeFail         = 3.0
)

// Why an alert has no number. Both are downstream.
var (
	errTooMany   = errors.New("too many runs")
	errNotJudged = errors.New("no verdict could be had")
)

// alert is a number per run name: of its newest run that is live, or ended less
// than the hold before the end of the range. The labels are the same from run to
// run, so that one alert stays one alert, and the hold keeps a failed run from
// resolving by being over. A run that cannot be judged fails the query: without its
// number the alert would resolve.
func (d *Datasource) alert(ctx context.Context, q *Query) (data.Frames, error) {
	list, more, err := d.list(ctx, q.Search, mostListed)
	if err != nil {
		return nil, err
	}
	current := currentRuns(list, q)
	if len(current) > mostJudged { // leaving some out would resolve their alerts
		return nil, fmt.Errorf("%w: %d are live or have just ended, at most %d can be judged at a time: narrow the search", errTooMany, len(current), mostJudged)
	}
	verdicts, err := d.verdicts(ctx, q, current)
	if err != nil {
		return nil, err
	}
	var out data.Frames
	for i, v := range verdicts {
		if v == nil {
			return nil, fmt.Errorf("judge run %s: %w", current[i].ID, errNotJudged)
		}
		for _, r := range readings(q, v) {
			f := unit(field(q.Measure, "", []float64{r.code}), unitCount)
			f.Config.Mappings = data.ValueMappings{outcomes()}
			f.Labels = r.labels
			out = append(out, typed(data.FrameTypeNumericMulti, q.Measure, f))
		}
	}
	if len(out) == 0 {
		out = data.Frames{typed(data.FrameTypeNumericMulti, q.Measure)}
		info(out[0], fmt.Sprintf("No run is live or ended within the last %g minutes.", q.HoldMin))
	}
	if more {
		warn(out[0], fmt.Sprintf("Cut: the newest %d runs were looked at, there are more.", len(list)))
	}
	return out, nil
}

// currentRuns are the newest runs of each name that are live or have just ended.
func currentRuns(list []wire.RunItem, q *Query) []wire.RunItem {
	since := q.span.To.Add(-time.Duration(q.HoldMin * float64(time.Minute)))
	seen := map[string]bool{}
	var out []wire.RunItem
	for _, r := range list { // newest first
		if r.State != wire.Live && (r.EndedAt == nil || r.EndedAt.Before(since)) || r.StartedAt == nil || seen[r.Name] {
			continue
		}
		seen[r.Name] = true
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b wire.RunItem) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// reading is one number of an alert with the labels that name it.
type reading struct {
	code   float64
	labels data.Labels
}

// readings are the numbers of a run: one, or one per objective.
func readings(q *Query, v *wire.Verdict) []reading {
	labels := data.Labels{"run_name": v.Run.Name}
	if v.Run.Name == "" {
		labels["run_name"] = "(unnamed)"
	}
	if q.Scenario != "" {
		labels["scenario"] = q.Scenario
	} else if len(v.Run.Scenarios) == 1 {
		labels["scenario"] = v.Run.Scenarios[0]
	}
	if q.Measure != measureGoodput {
		return []reading{{measure(q.Measure, v), labels}}
	}
	var out []reading
	for _, h := range v.Objectives {
		if h.Kind != wire.GoodputKind {
			continue
		}
		with := labels.Copy()
		with["objective"] = h.Title
		if h.Scenario != "" {
			with["scenario"] = h.Scenario
		}
		if h.Step != "" {
			with["step"] = h.Step
		}
		code := map[string]float64{wire.Met: codePass, wire.Missed: codeFail}
		state, known := code[h.State]
		if !known {
			state = codeInconclusive
		}
		out = append(out, reading{state, with})
	}
	return out
}

// measure turns a verdict into a number, by the rules of the server's own alerts.
func measure(kind string, v *wire.Verdict) float64 {
	switch kind {
	case measureUnstable:
		return unstable(v)
	case measureGenerator:
		if !v.Audit.Valid {
			return codeInvalid
		}
		return codePass
	case measureRecovery:
		switch v.Metastability.State {
		case "sustained", "degraded":
			return codeFail
		case "undecided", "draining":
			return codeInconclusive
		}
		return codePass
	}
	if code := outcomeCode(v.Outcome); code != nil {
		return *code
	}
	return codeInconclusive
}

// unstable is a failure where the backlog of a run grows without end: by the
// watch while it goes on, and by the verdict when it has ended. A sweep that
// passes has unstable steps by design.
func unstable(v *wire.Verdict) float64 {
	for _, f := range v.Findings {
		live := v.Run.State == wire.Live && f.Code == "alarm" && f.ClearedAt == nil
		ended := v.Run.State == wire.Finished && v.Outcome == wire.OutcomeFail && f.Code == "unstable_step" && f.Severity == wire.Fail
		if live || ended {
			return codeFail
		}
	}
	if v.Outcome == wire.OutcomeInconclusive {
		return codeInconclusive
	}
	return codePass
}
