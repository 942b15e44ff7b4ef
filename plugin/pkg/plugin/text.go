package plugin

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// seconds writes a time with three digits.
func seconds(v float64) string {
	scale, unit := timeScale(v)
	return digits(v*scale) + " " + unit
}

// timeScale is the unit that suits a time, and how many of it a second has.
func timeScale(v float64) (scale float64, unit string) {
	switch {
	case v == 0 || v >= 0.9995:
		return 1, "s"
	case v < 0.9995e-3:
		return 1e6, "µs"
	}
	return 1e3, "ms"
}

// digits writes a number with three significant digits and no exponent.
func digits(v float64) string {
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if err != nil {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strconv.FormatFloat(short, 'f', -1, 64)
}

func perSecond(v float64) string { return digits(v) + "/s" }

// number writes a quantile with its interval, the bound above which it lies, or
// why there is none.
func number(r *wire.Response, e *wire.Estimate) string {
	switch {
	case r == nil:
		return "–"
	case !r.Valid:
		return refusal(r)
	case e.Value != nil && e.Lo != nil && e.Hi != nil:
		scale, unit := timeScale(*e.Value)
		return fmt.Sprintf("%s %s (%s–%s)", digits(*e.Value*scale), unit, digits(*e.Lo*scale), digits(*e.Hi*scale))
	case e.Value != nil:
		return seconds(*e.Value)
	case e.Lo != nil && e.Hi != nil:
		return fmt.Sprintf("%s to %s", seconds(*e.Lo), seconds(*e.Hi))
	case e.Lo != nil:
		return "> " + seconds(*e.Lo)
	}
	return "no number: too few requests"
}

// refusal says why there is no percentile.
func refusal(r *wire.Response) string {
	reason := strings.TrimPrefix(strings.TrimSuffix(r.Reason, "."), "no number: ")
	if reason == "" {
		reason = "nothing was measured"
	}
	return "no number: " + reason
}

// interval writes an estimate of a rate.
func interval(e *wire.Estimate) string {
	switch {
	case e == nil || e.Value == nil && e.Lo == nil:
		return "–"
	case e.Value == nil:
		return "> " + perSecond(*e.Lo)
	case e.Lo == nil || e.Hi == nil:
		return perSecond(*e.Value)
	}
	return fmt.Sprintf("%s (%s to %s)", perSecond(*e.Value), digits(*e.Lo), digits(*e.Hi))
}

// stepName names a step for a person.
func stepName(s *wire.Step) string {
	switch {
	case s.Name != "":
		return s.Name
	case s.Offered != nil:
		return perSecond(*s.Offered)
	}
	return "step " + strconv.Itoa(s.Index+1)
}

// runName names a run for a person.
func runName(id, name string) string {
	if name != "" {
		return name
	}
	return id
}

// at writes a moment.
func at(t *time.Time) string {
	if t == nil {
		return "–"
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// String writes what was asked, for the query inspector.
func (q *Query) String() string {
	parts := []string{q.Kind, "run=" + q.Run}
	for _, p := range []struct{ name, value string }{
		{"after", q.Other}, {"scenario", q.Scenario}, {"source", q.Source}, {"step", q.Step}, {"deadline", q.Deadline}, {"search", q.Search},
	} {
		if p.value != "" {
			parts = append(parts, p.name+"="+p.value)
		}
	}
	if q.Kind == kindSeries {
		parts = append(parts, "names="+strings.Join(q.Names, ","))
	}
	if q.Kind == kindAlert {
		parts = append(parts, "measure="+q.Measure)
	}
	return strings.Join(parts, " ")
}
