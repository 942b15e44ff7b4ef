package plugin

import (
	"math"

	"github.com/grafana/grafana-plugin-sdk-go/data"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// little is the check of the measurement by Little's law, a row per step.
func little(v *wire.Verdict, q *Query) *data.Frame {
	steps := picked(v, q)
	get := func(name, title string, value func(l *wire.Little) *float64) *data.Field {
		return unit(field(name, title, column(steps, func(s *wire.Step) *float64 { return value(&s.LittlesLaw) })), unitCount)
	}
	residual := get("residual", "Residual", func(l *wire.Little) *float64 { return absolute(l.Residual) })
	f := table(
		"littleslaw",
		field("step", "Step", column(steps, stepName)),
		mapped(field("ok", "Agrees", column(steps, func(s *wire.Step) string { return agrees(&s.LittlesLaw) })), words()),
		describe(get("counted", "L counted", func(l *wire.Little) *float64 { return l.Counted }), "Requests in flight, by an independent count"),
		describe(get("corrected", "λ·W corrected", func(l *wire.Little) *float64 { return l.Corrected }), "With what was carried in and out of the step"),
		describe(get("lambda_w", "λ·W plain", func(l *wire.Little) *float64 { return l.LambdaW }), "Rate times mean time; off wherever the backlog changes"),
		decimals(unit(residual, unitRatio), 2),
		decimals(unit(get("tolerance", "Tolerance", func(l *wire.Little) *float64 { return l.Tolerance }), unitRatio), 2),
		field("source", "Counted by", column(steps, func(s *wire.Step) string { return orDash(s.LittlesLaw.Source) })),
		field("note", "Note", column(steps, func(s *wire.Step) string { return s.LittlesLaw.Note })),
	)
	for _, s := range steps {
		if !s.LittlesLaw.Independent && s.LittlesLaw.Counted != nil {
			info(f, "Both sides come from the same records: agreement proves that they add up, not that none are missing.")
			break
		}
	}
	return shown(f, "table")
}

func absolute(v *float64) *float64 {
	if v == nil {
		return nil
	}
	return some(math.Abs(*v))
}

func agrees(l *wire.Little) string {
	switch {
	case l.OK == nil:
		return "–"
	case *l.OK:
		return "yes"
	}
	return "NO"
}

// findings is a row per finding, the worst first as the server has them.
func (d *Datasource) findings(v *wire.Verdict, q *Query) *data.Frame {
	all := v.Findings
	if q.Step != "" {
		all = findingsOf(v, q)
	}
	names := map[int]string{}
	for i := range v.Steps {
		names[v.Steps[i].Index] = stepName(&v.Steps[i])
	}
	var severity, step, message, code []string
	var values []*float64
	for i := range all {
		one := &all[i]
		where := "run"
		if one.Step != nil {
			where = names[*one.Step]
		}
		severity, step, message, code = append(severity, one.Severity), append(step, where), append(message, one.Message), append(code, one.Code)
		values = append(values, one.Value)
	}
	f := table(
		"findings",
		mapped(field("severity", "Severity", severity), words()),
		field("step", "Step", step),
		field("message", "Finding", message),
		field("code", "Code", code),
		field("value", "Value", values),
	)
	return shown(cut(f, d.settings.MaxRows, "findings, the worst first,"), "table")
}

// findingsOf are the findings about the steps that a query picks.
func findingsOf(v *wire.Verdict, q *Query) []wire.Finding {
	want := map[int]bool{}
	for _, s := range picked(v, q) {
		want[s.Index] = true
	}
	var out []wire.Finding
	for _, f := range v.Findings {
		if f.Step != nil && want[*f.Step] {
			out = append(out, f)
		}
	}
	return out
}
