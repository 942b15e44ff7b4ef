package verdict

import (
	"context"
	"slices"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/queues"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// queueNames are the server metrics that can be asked for as columns of a series.
func (j *judge) queueNames() []wire.Queue {
	var out []wire.Queue
	for _, q := range j.st.Telemetry.Queues() {
		out = append(out, wire.Queue{Name: q.Name, Kind: q.Kind.String(), Unit: q.Unit})
	}
	return out
}

// queueColumn is a server metric over each cell, by its canonical name or any
// spelling of it. A metric of which nothing is known is shown as a level, if it
// is one.
func queueColumn(ctx context.Context, ev fold.Evidence, st *fold.State, name string, cells []*fold.Cell) ([]*float64, error) {
	known := st.Telemetry.Named(queues.Canonical(name))
	if len(known) == 0 {
		return levelColumn(ctx, ev, name, cells)
	}
	col := make([]*float64, len(cells))
	for i, c := range cells {
		if v, ok := fold.Value(known, c.From, c.To); ok {
			col[i] = some(v)
		}
	}
	return col, nil
}

// levelColumn averages a level over each cell: the sum over its series
// of the mean of their points.
func levelColumn(ctx context.Context, ev fold.Evidence, name string, cells []*fold.Cell) ([]*float64, error) {
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
