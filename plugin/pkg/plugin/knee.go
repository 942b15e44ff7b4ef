package plugin

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/grafana/grafana-plugin-sdk-go/data"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// kneeFrames are points by offered rate, for an XY chart: what was completed,
// what of it was in time, p99 on an axis of its own (it has another unit), and
// lines for "all served" and for the capacity.
func kneeFrames(v *wire.Verdict) data.Frames {
	steps := make([]*wire.Step, 0, len(v.Steps))
	var after []*wire.Step // what came after a push is another service: one that is, or is not, recovering
	back := returned(v.Steps)
	for i := range v.Steps {
		switch s := &v.Steps[i]; {
		case s.Offered == nil:
		case back != nil && s.Index >= back.Index && v.Metastability.State != wire.NotTested:
			after = append(after, s)
		default:
			steps = append(steps, s)
		}
	}
	slices.SortStableFunc(steps, func(a, b *wire.Step) int { return cmp.Compare(*a.Offered, *b.Offered) })
	points := table(
		"steps",
		unit(field("offered", "Offered", column(steps, func(s *wire.Step) *float64 { return s.Offered })), unitRate),
		colour(unit(field("completed", "Completed", column(steps, func(s *wire.Step) *float64 { return s.Completed })), unitRate), blue),
		colour(unit(field("goodput", "Goodput", column(steps, func(s *wire.Step) *float64 { return s.Goodput })), unitRate), green),
		colour(unit(field("p99", "p99 response", column(steps, func(s *wire.Step) *float64 {
			return valid(&s.ResponseTime, &s.ResponseTime.P99)
		})), unitSeconds), orange),
		field("step", "Step", column(steps, func(s *wire.Step) string { return stepName(s) + ", " + orDash(s.Class) })),
		field("p99_text", "p99", column(steps, func(s *wire.Step) string { return number(&s.ResponseTime, &s.ResponseTime.P99) })),
	)
	refusals(points, steps)
	out := data.Frames{shown(points, "xychart")}
	if len(steps) == 0 {
		return out
	}
	most := *steps[len(steps)-1].Offered
	out = append(out, line("all_served", "All served", grey, most, 0, most))
	if c := v.Knee.Capacity; c != nil && c.Value != nil {
		out = append(out, line("capacity", "Capacity "+capacityText(v), red, most, *c.Value, *c.Value))
	} else {
		info(points, "Capacity "+capacityText(v)+".")
	}
	if len(after) > 0 {
		y := colour(unit(field("completed", "Completed, after the push", column(after, func(s *wire.Step) *float64 { return s.Completed })), unitRate), purple)
		custom(custom(y, "show", "points"), "pointSize", map[string]any{"fixed": 12})
		out = append(out, shown(table("after", unit(field("offered", "Offered", column(after, func(s *wire.Step) *float64 { return s.Offered })), unitRate), y,
			field("step", "Step", column(after, func(s *wire.Step) string { return stepName(s) + ", " + orDash(s.Class) }))), "xychart"))
	}
	if k := v.Knee.Offered; k != nil {
		info(points, fmt.Sprintf("Knee at %s offered; beyond it %s.", perSecond(*k), shape(v)))
	}
	return out
}

// line is a straight line over the whole width of the chart.
func line(name, title, with string, width, from, to float64) *data.Frame {
	y := colour(unit(field(name, title, []float64{from, to}), unitRate), with)
	custom(y, "show", "lines")
	custom(y, "lineStyle", map[string]any{"fill": "dash", "dash": []int{8, 8}})
	custom(y, "lineWidth", 1)
	return shown(table(name, unit(field("offered", "Offered", []float64{0, width}), unitRate), y), "xychart")
}
