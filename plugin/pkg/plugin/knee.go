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
	out := data.Frames{
		curve("completed", "Completed", unitRate, blue, steps, func(s *wire.Step) *float64 { return s.Completed }),
		curve("goodput", "Goodput", unitRate, green, steps, func(s *wire.Step) *float64 { return s.Goodput }),
		curve("p99", "p99 response", unitSeconds, orange, steps, func(s *wire.Step) *float64 {
			return valid(&s.ResponseTime, &s.ResponseTime.P99)
		}),
		large(curve("p99_above", "p99 is above", unitSeconds, "dark-orange", steps, above)),
	}
	points := out[0]
	out = append(out[:1], slices.DeleteFunc(out[1:], func(f *data.Frame) bool { return f.Rows() == 0 })...)
	refusals(points, steps)
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
	if f := large(curve("after", "Completed, after the push", unitRate, purple, after, func(s *wire.Step) *float64 { return s.Completed })); f.Rows() > 0 {
		out = append(out, f)
	}
	if k := v.Knee.Offered; k != nil {
		info(points, fmt.Sprintf("Knee at %s offered; beyond it %s.", perSecond(*k), shape(v)))
	}
	return out
}

// curve is one line over the offered rate, of the steps that have a number: an XY
// chart draws a null as 0.
func curve(name, title, id, with string, steps []*wire.Step, get func(s *wire.Step) *float64) *data.Frame {
	var x, y []float64
	var step []string
	for _, s := range steps {
		if v := get(s); v != nil {
			x, y, step = append(x, *s.Offered), append(y, *v), append(step, stepName(s)+", "+orDash(s.Class))
		}
	}
	f := colour(unit(field(name, title, y), id), with)
	f.Config.SetMin(0)
	return shown(table(name, unit(field("offered", "Offered", x), unitRate), f, field("step", "Step", step)), "xychart")
}

// large shows a curve as large points.
func large(f *data.Frame) *data.Frame {
	custom(custom(f.Fields[1], "show", "points"), "pointSize", map[string]any{"fixed": 12})
	return f
}

// above is a p99 that is known to lie higher.
func above(s *wire.Step) *float64 {
	if e := &s.ResponseTime.P99; s.ResponseTime.Valid && e.Value == nil {
		return e.Lo
	}
	return nil
}

// line is a straight line over the whole width of the chart.
func line(name, title, with string, width, from, to float64) *data.Frame {
	y := colour(unit(field(name, title, []float64{from, to}), unitRate), with)
	custom(y, "show", "lines")
	custom(y, "lineStyle", map[string]any{"fill": "dash", "dash": []int{8, 8}})
	custom(y, "lineWidth", 1)
	return shown(table(name, unit(field("offered", "Offered", []float64{0, width}), unitRate), y), "xychart")
}
