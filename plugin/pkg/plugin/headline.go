package plugin

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/grafana/grafana-plugin-sdk-go/data"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// mostLevels is how many rates past the knee the head of a dashboard has room for.
const mostLevels = 4

// said is a field with one text, in a colour.
func said(name, title, text, with string) *data.Field {
	return mapped(field(name, title, []string{text}), data.ValueMapper{text: {Text: text, Color: with}})
}

// proof is the headline of the verdict, and the knee where that speaks of
// something else.
func proof(v *wire.Verdict) string {
	if v.Knee.State != "found" || strings.Contains(v.Headline, "knee") {
		return v.Headline
	}
	for _, f := range v.Findings {
		if f.Code == "knee" {
			return v.Headline + " " + f.Message
		}
	}
	return v.Headline
}

// tight keeps numbers and their units on one line.
func tight(text string) string {
	return strings.NewReplacer(" %", "\u00a0%", " to ", "\u00a0to\u00a0").Replace(text)
}

// beyond says what becomes of completions past the knee, and in which colour.
func beyond(v *wire.Verdict) (text, with string) {
	if v.Knee.Shape == nil {
		return "not seen", "text"
	}
	last := (*wire.Step)(nil)
	for _, s := range pushed(v) {
		if s.Completed != nil {
			last = s
		}
	}
	if last == nil {
		return *v.Knee.Shape, "text"
	}
	if *v.Knee.Shape == "collapse" {
		return "collapse, to " + perSecond(*last.Completed) + " at\u00a0" + perSecond(*last.Offered), red
	}
	return "completions stay level, " + perSecond(*last.Completed) + " at\u00a0" + perSecond(*last.Offered), "text"
}

// pushed are the steps from the knee to the highest rate, or that of the highest
// rate alone.
func pushed(v *wire.Verdict) []*wire.Step {
	worst := worstStep(v)
	if worst == nil {
		return nil
	}
	var out []*wire.Step
	for i := range v.Steps {
		s := &v.Steps[i]
		past := v.Knee.Offered != nil && s.Offered != nil && *s.Offered >= *v.Knee.Offered
		if s.Index <= worst.Index && (past || s == worst) {
			out = append(out, s)
		}
	}
	return out[max(0, len(out)-mostLevels):]
}

// inTime are fields with what was completed in time past the knee, one for each
// rate: users see what is late as failed.
func inTime(v *wire.Verdict) []*data.Field {
	var out []*data.Field
	for _, s := range pushed(v) {
		if s.Goodput == nil || s.Completed == nil {
			continue
		}
		within := " in time"
		if v.Run.DeadlineS != nil {
			within = " within " + seconds(*v.Run.DeadlineS)
		}
		colour := red
		switch good, all := *s.Goodput, *s.Completed; {
		case good >= 0.99*all:
			colour = green
		case good >= 0.9*all:
			colour = yellow
		}
		text := strconv.FormatFloat(*s.Goodput, 'f', 0, 64) + " of " + strconv.FormatFloat(*s.Completed, 'f', 0, 64) + "/s" + within
		out = append(out, said("in_time_"+strconv.Itoa(s.Index), "At "+perSecond(*s.Offered), text, colour))
	}
	if len(out) > 0 {
		return out
	}
	text := "no step was judged"
	if v.Run.DeadlineS == nil {
		text = "no deadline is set: goodput is not defined"
	}
	return []*data.Field{said("in_time", "In time", text, "text")}
}

// trust says what of the run cannot be trusted, and in which colour.
func trust(v *wire.Verdict) (text, with string) {
	if !v.Audit.Valid {
		for _, f := range v.Audit.Findings {
			if f.Severity == wire.Invalid {
				return "invalid: " + f.Message, purple
			}
		}
		return "invalid: see the findings", purple
	}
	var dropped, other []string
	for i := range v.Steps {
		s := &v.Steps[i]
		if s.ResponseTime.Valid {
			continue
		}
		reason := strings.TrimPrefix(refusal(&s.ResponseTime), "no number: ")
		if share, ok := strings.CutSuffix(reason, " dropped"); ok {
			dropped = append(dropped, share+" at\u00a0"+stepName(s))
		} else {
			other = append(other, reason+" at "+stepName(s))
		}
	}
	n := len(dropped) + len(other)
	if n == 0 {
		return "valid", green
	}
	if len(dropped) > 0 {
		other = append(other, "the generator dropped "+few(dropped))
	}
	have := "have"
	if n == 1 {
		have = "has"
	}
	return fmt.Sprintf("%d of %d steps %s no percentiles: %s", n, len(v.Steps), have, few(other)), purple
}

// few joins the first of many.
func few(all []string) string {
	if len(all) > mostLevels {
		all = append(all[:mostLevels-1:mostLevels-1], "…")
	}
	return strings.Join(all, ", ")
}

// afterColour is the colour of what became of the service after a push.
func afterColour(v *wire.Verdict) string {
	switch v.Metastability.State {
	case "sustained", "degraded":
		return red
	case "draining", "undecided":
		return yellow
	case "recovered":
		return green
	}
	return "text"
}
