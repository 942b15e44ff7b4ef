package verdict

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/response"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Series returns columns over time, at most opt.MaxPoints cells. A cell says
// null where the data cannot: no requests, dropped arrivals above 1 %, time past
// the settled horizon.
func (a Analysis) Series(ctx context.Context, ev fold.Evidence, opt query.Options) (*wire.SeriesAnswer, error) {
	st, err := a.state(ctx, ev, opt)
	if err != nil {
		return nil, err
	}
	out := &wire.SeriesAnswer{Time: []time.Time{}, Columns: map[string][]*float64{}}
	if st.Series == nil {
		for _, n := range names(opt) {
			out.Columns[n] = []*float64{}
		}
		return out, nil
	}
	cells := thin(st.Series.Cells(), opt.MaxPoints)
	for _, c := range cells {
		out.Time = append(out.Time, time.Unix(0, c.From).UTC())
	}
	v := viewer{st: st, j: newJudge(st, nil)}
	for _, name := range names(opt) {
		if queue, ok := strings.CutPrefix(name, "queue:"); ok {
			if out.Columns[name], err = queueColumn(ctx, ev, queue, cells); err != nil {
				return nil, err
			}
			continue
		}
		col := make([]*float64, len(cells))
		for i, c := range cells {
			col[i] = v.value(name, c)
		}
		out.Columns[name] = col
	}
	return out, nil
}

// names are the columns asked for, or all that need no argument.
func names(opt query.Options) []string {
	if len(opt.Names) > 0 {
		return opt.Names
	}
	all := query.SeriesNames()
	return slices.DeleteFunc(all, func(n string) bool { return strings.HasPrefix(n, "queue:") })
}

// viewer reads one value of a cell.
type viewer struct {
	st *fold.State
	j  *judge
}

func (v *viewer) value(name string, c *fold.Cell) *float64 {
	if v.st.SampledRows > 0 && !strings.Contains(name, "_p") {
		return nil
	}
	settled := v.st.Run.Finished || c.To <= v.st.Horizon.At
	rate := func(n int64) *float64 { return per(float64(n), c.Seconds()) }
	switch name {
	case "offered":
		if !settled {
			return nil
		}
		return rate(c.Due + c.Dropped)
	case "sent":
		return rate(c.Sent)
	case "retries":
		return rate(c.Retries)
	case "dropped":
		return rate(c.Dropped)
	case "ended":
		var n int64
		for _, k := range c.Ended {
			n += k
		}
		return rate(n)
	case "completed":
		return rate(c.Ended[sample.OK])
	case "goodput":
		if !v.st.HasDeadline {
			return nil
		}
		return rate(c.Good)
	case "error", "timeout", "shed", "cancelled":
		o, _ := sample.ParseOutcome(name)
		return rate(c.Ended[o])
	case "in_flight":
		if !settled {
			return nil
		}
		return per(c.InFlight.Seconds(), c.Seconds())
	case "in_flight_provisional":
		return per(c.InFlight.Seconds(), c.Seconds())
	}
	return v.quantile(name, c, settled)
}

func (v *viewer) quantile(name string, c *fold.Cell, settled bool) *float64 {
	kind, label, ok := strings.Cut(name, "_p")
	q := map[string]float64{"50": 0.5, "90": 0.9, "95": 0.95, "99": 0.99, "999": 0.999}[label]
	if !ok || q == 0 {
		return nil
	}
	var h *response.Histogram
	switch kind {
	case "response":
		drops := ratio(c.Dropped, c.Due+c.Dropped) > dropLimit
		if c.Response == nil || !settled || drops || v.j.closed() && !v.j.fixed() && v.st.Grade != fold.GradeE {
			return nil
		}
		return c.Response.Plain(q)
	case "service":
		h = c.Service
	case "send_delay":
		h = c.SendDelay
	case "first_byte":
		h = c.FirstByte
	}
	if h == nil || h.Count() == 0 {
		return nil
	}
	return (&response.Cohort{Exact: h, Censored: response.New(2)}).Plain(q)
}

// queueColumn averages a server metric over each cell: the sum over its series
// of the mean of their points.
func queueColumn(ctx context.Context, ev fold.Evidence, name string, cells []*fold.Cell) ([]*float64, error) {
	col := make([]*float64, len(cells))
	if len(cells) == 0 {
		return col, nil
	}
	type acc struct {
		sum float64
		n   int
	}
	found := map[sample.Series]map[int64]float64{}
	span := sample.Span{From: cells[0].From, To: cells[len(cells)-1].To}
	err := ev.Telemetry(ctx, span, func(b *sample.Batch) error {
		for i := range b.Points {
			p := &b.Points[i]
			s := b.Series[p.Series]
			if s.Name != name || p.Histogram != nil || s.Kind != sample.Gauge && s.Kind != sample.UpDown {
				continue
			}
			if found[s] == nil {
				found[s] = map[int64]float64{}
			}
			if old, ok := found[s][p.Time]; !ok || p.Value > old {
				found[s][p.Time] = p.Value
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, c := range cells {
		var total float64
		any := false
		for _, s := range sortedSeries(found) {
			var a acc
			for _, t := range sortedTimes(found[s]) {
				if t >= c.From && t < c.To {
					a.sum += found[s][t]
					a.n++
				}
			}
			if a.n > 0 {
				total += a.sum / float64(a.n)
				any = true
			}
		}
		if any {
			col[i] = some(total)
		}
	}
	return col, nil
}

func sortedSeries(m map[sample.Series]map[int64]float64) []sample.Series {
	out := make([]sample.Series, 0, len(m))
	for s := range m {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b sample.Series) int {
		return strings.Compare(a.Source+"\x00"+a.Scope+"\x00"+a.Attributes, b.Source+"\x00"+b.Scope+"\x00"+b.Attributes)
	})
	return out
}

func sortedTimes(m map[int64]float64) []int64 {
	out := make([]int64, 0, len(m))
	for t := range m {
		out = append(out, t)
	}
	slices.Sort(out)
	return out
}
