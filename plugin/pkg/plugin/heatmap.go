package plugin

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/data"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// mostColumns bounds the axis of time of a heatmap: more cannot be told apart.
const mostColumns = 300

// heatmap is counts of requests by due time and response time, as cells.
func (d *Datasource) heatmap(ctx context.Context, q *Query) (data.Frames, error) {
	v, err := d.client.Verdict(ctx, q.Run, q.params())
	if err != nil {
		return nil, err
	}
	with := q.params()
	with.Set("max_points", strconv.Itoa(q.points(min(mostColumns, d.settings.MaxRows))))
	narrow(q, v, with)
	got, err := d.client.Heatmap(ctx, v.Run.ID, with)
	if err != nil {
		return nil, err
	}
	f := heatmapFrame(got)
	if got.CellS > 0 {
		info(f, fmt.Sprintf("Cells are %s wide: requests by when they were due.", seconds(got.CellS)))
	}
	for _, text := range doubts(v) {
		info(f, text)
	}
	return data.Frames{f}, nil
}

// heatmapFrame has the cells that hold requests. The panel reads its fields by their
// places: the end of a cell in time, its bounds, its count.
func heatmapFrame(h *wire.Heatmap) *data.Frame {
	var to []time.Time
	var low, high, count []float64
	width := time.Duration(h.CellS * float64(time.Second))
	for i, t := range h.Time {
		end := t.Add(width)
		if i+1 < len(h.Time) {
			end = h.Time[i+1]
		}
		for j, n := range h.Counts[i] {
			if n == 0 || j+1 >= len(h.Bounds) {
				continue
			}
			lo := h.Bounds[j]
			if lo == 0 {
				lo = h.Bounds[j+1] / 2 // a logarithmic axis has no 0
			}
			to = append(to, end)
			low, high, count = append(low, lo), append(high, h.Bounds[j+1]), append(count, float64(n))
		}
	}
	logarithmic := func(f *data.Field) *data.Field {
		return custom(unit(f, unitSeconds), "scaleDistribution", map[string]any{"type": "log", "log": 10})
	}
	f := typed("heatmap-cells", "heatmap",
		field("xMax", "", to), logarithmic(field("yMin", "", low)), logarithmic(field("yMax", "", high)),
		unit(field("count", "Requests", count), unitCount))
	for _, one := range f.Fields {
		if one.Config.DisplayNameFromDS == "" {
			one.Config.DisplayNameFromDS = one.Name
		}
	}
	return shown(f, "heatmap")
}

// goodput is, per step, the goodput that each deadline would have given.
func (d *Datasource) goodput(ctx context.Context, q *Query) (data.Frames, error) {
	v, err := d.client.Verdict(ctx, q.Run, q.params())
	if err != nil {
		return nil, err
	}
	got, err := d.client.Goodput(ctx, v.Run.ID, q.params())
	if err != nil {
		return nil, err
	}
	x := unit(field("deadline", "Deadline", got.DeadlineS), unitSeconds)
	custom(x, "scaleDistribution", map[string]any{"type": "log", "log": 10})
	f := table("goodput", x)
	wanted := map[int]bool{}
	for _, s := range picked(v, q) {
		wanted[s.Index] = true
	}
	for i := range got.Steps {
		s := &got.Steps[i]
		if !wanted[s.Step] {
			continue
		}
		title := s.Name
		if s.Offered != nil && title == "" {
			title = perSecond(*s.Offered)
		} else if s.Offered != nil {
			title += ", " + perSecond(*s.Offered)
		}
		if title == "" {
			title = "step " + strconv.Itoa(s.Step+1)
		}
		if !slices.ContainsFunc(s.Goodput, func(v *float64) bool { return v != nil }) {
			warn(f, title+": no goodput for any deadline.")
			continue
		}
		f.Fields = append(f.Fields, unit(field("step_"+strconv.Itoa(s.Step), title, s.Goodput), unitRate))
	}
	if v.Run.DeadlineS != nil {
		info(f, "Declared deadline: "+seconds(*v.Run.DeadlineS)+".")
	}
	for _, text := range doubts(v) {
		info(f, text)
	}
	return data.Frames{shown(f, "xychart")}, nil
}
