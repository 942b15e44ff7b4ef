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
// null where the data cannot: no requests, dropped arrivals above 1 %, steps whose
// arrivals are missing, time past the settled horizon (but for in_flight_provisional).
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
	v := viewer{j: newJudge(st, nil)}
	v.st = v.j.st
	for _, s := range v.st.Steps {
		if v.j.lacks(s) {
			v.lacking = append(v.lacking, s)
		}
	}
	for _, name := range names(opt) {
		if queue, ok := strings.CutPrefix(name, "queue:"); ok {
			if out.Columns[name], err = queueColumn(ctx, ev, st, queue, cells); err != nil {
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
	st      *fold.State
	j       *judge
	lacking []*fold.Step // whose arrivals are missing: no percentiles
}

func (v *viewer) value(name string, c *fold.Cell) *float64 {
	if v.st.SampledRows > 0 && !strings.Contains(name, "_p") {
		return nil
	}
	if name == "in_flight_provisional" {
		return per(c.InFlight.Seconds(), c.Seconds())
	}
	if !v.st.Run.Finished && c.To > v.st.Horizon.At {
		return nil // what has come by now is less than what happened: a rate of 0 would be no rate
	}
	rate := func(n int64) *float64 { return per(float64(n), c.Seconds()) }
	switch name {
	case "offered":
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
	case "tokens":
		if v.st.Totals.Tokens == nil {
			return nil
		}
		return rate(c.Tokens)
	case "error", "timeout", "shed", "cancelled":
		o, _ := sample.ParseOutcome(name)
		return rate(c.Ended[o])
	case "in_flight":
		return per(c.InFlight.Seconds(), c.Seconds())
	}
	return v.quantile(name, c)
}

func (v *viewer) quantile(name string, c *fold.Cell) *float64 {
	kind, label, ok := strings.Cut(name, "_p")
	q := map[string]float64{"50": 0.5, "90": 0.9, "95": 0.95, "99": 0.99, "999": 0.999}[label]
	if !ok || q == 0 || slices.ContainsFunc(v.lacking, func(s *fold.Step) bool { return c.From < s.To && c.To > s.From }) {
		return nil
	}
	var h *response.Histogram
	switch kind {
	case "response":
		drops := ratio(c.Dropped, c.Due+c.Dropped) > dropLimit
		if c.Response == nil || drops || v.j.closed() && !v.j.fixed() && v.st.Grade != fold.GradeE {
			return nil
		}
		return c.Response.Plain(q)
	case "service":
		if v.st.Grade != fold.GradeX { // else the sends are not known
			h = c.Service
		}
	case "send_delay":
		if sendsKnown(v.st.Grade) {
			h = c.SendDelay
		}
	case "first_byte":
		h = c.FirstByte
	case "inter_token":
		h = c.Inter
	}
	if h == nil || h.Count() == 0 {
		return nil
	}
	return (&response.Cohort{Exact: h, Censored: response.New(2)}).Plain(q)
}
