package plugin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/data"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// Kinds of annotations.
const (
	showSteps    = "steps"
	showUnstable = "unstable"
	showKnee     = "knee"
	showRecovery = "recovery"
	showMarks    = "marks"
	showRefused  = "refused"
)

func annotationKinds() []string {
	return []string{showSteps, showUnstable, showKnee, showRecovery, showMarks, showRefused}
}

// event is one annotation.
type event struct {
	from              time.Time
	to                *time.Time
	title, text, kind string
}

// annotations are the events of a run: its steps, where the backlog began to
// grow, the knee, the recovery, marks, and stretches without percentiles.
func annotations(v *wire.Verdict, q *Query) *data.Frame {
	var all []event
	for _, s := range picked(v, q) {
		all = append(all, ofStep(v, s)...)
	}
	all = append(all, recovered(v)...)
	all = slices.DeleteFunc(all, func(e event) bool { return !slices.Contains(q.Show, e.kind) })
	slices.SortStableFunc(all, func(a, b event) int { return cmp.Compare(a.from.UnixNano(), b.from.UnixNano()) })
	var from []time.Time
	var to []*time.Time
	var title, text, tags []string
	for _, e := range all {
		from, to, title, text = append(from, e.from), append(to, e.to), append(title, e.title), append(text, e.text)
		tags = append(tags, "plimsoll,"+e.kind)
	}
	f := data.NewFrame("annotations", field("time", "", from), field("timeEnd", "", to), field("title", "", title),
		field("text", "", text), field("tags", "", tags))
	f.Meta = &data.FrameMeta{Type: data.FrameTypeTable, TypeVersion: data.FrameTypeVersion{0, 1}, DataTopic: data.DataTopicAnnotations}
	return f
}

// ofStep are the events of one step.
func ofStep(v *wire.Verdict, s *wire.Step) []event {
	end := s.To
	out := []event{{s.From, &end, "Step " + stepName(s), orDash(s.Class), showSteps}}
	if s.AfterMark != "" {
		out = append(out, event{s.From, nil, s.AfterMark, "mark", showMarks})
	}
	if s.Stability.State == wire.Unstable || s.Class == wire.ClassUnstable {
		text := s.Stability.Reason
		if text == "" {
			text = "the backlog grew for as long as the load lasted"
		}
		out = append(out, event{s.From, &end, "Unstable at " + stepName(s), text, showUnstable})
	}
	if k := v.Knee.Offered; k != nil && s.Offered != nil && *k == *s.Offered {
		out = append(out, event{s.From, nil, "Knee", fmt.Sprintf("Completions stop tracking arrivals at %s; capacity %s.",
			perSecond(*k), capacityText(v)), showKnee})
	}
	if !s.ResponseTime.Valid {
		out = append(out, event{s.From, &end, "No percentiles", refusal(&s.ResponseTime), showRefused})
	}
	return out
}

// recovered is when the service had recovered from a push, or that it had not.
func recovered(v *wire.Verdict) []event {
	m := &v.Metastability
	if m.State == wire.NotTested || len(v.Steps) == 0 {
		return nil
	}
	back := returned(v.Steps)
	if back == nil {
		return nil
	}
	if m.RecoveredAfterS != nil {
		when := back.From.Add(time.Duration(*m.RecoveredAfterS * float64(time.Second)))
		return []event{{when, nil, "Recovered", afterPush(v) + " of the return to " + stepName(back), showRecovery}}
	}
	end := back.To
	title := strings.ToUpper(m.State[:1]) + m.State[1:]
	return []event{{back.From, &end, title, afterPush(v), showRecovery}}
}

// returned is the step in which the load came back down: the first after the
// highest rate that offers less.
func returned(steps []wire.Step) *wire.Step {
	high := -1
	for i := range steps {
		if o := steps[i].Offered; o != nil && (high < 0 || *o > *steps[high].Offered) {
			high = i
		}
	}
	for i := high + 1; high >= 0 && i < len(steps); i++ {
		if o := steps[i].Offered; o != nil && *o < *steps[high].Offered {
			return &steps[i]
		}
	}
	return nil
}
