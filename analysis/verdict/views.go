package verdict

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/response"
)

// spectrumTicks is the number of points per halving of 1 − q.
const spectrumTicks = 5

// Spectrum returns the percentile spectrum of the whole run: response times of
// everybody who was due, and service times as an uncorrected tool has them.
// Of some steps it is what they have together after their warm-up. Where percentiles
// are refused the response side is empty.
func (a Analysis) Spectrum(ctx context.Context, ev fold.Evidence, opt query.Options) (*wire.Spectrum, error) {
	st, err := a.state(ctx, ev, opt)
	if err != nil {
		return nil, err
	}
	j := newJudge(st, nil)
	out := &wire.Spectrum{Response: []wire.SpectrumPoint{}, Service: []wire.SpectrumPoint{}}
	parts, all := []*fold.Step{st.Totals}, st.Steps
	if len(opt.Steps) > 0 {
		all = slices.DeleteFunc(slices.Clone(st.Steps), func(s *fold.Step) bool { return !slices.Contains(opt.Steps, s.Index) })
		parts = all
	}
	if slices.ContainsFunc(all, j.lacks) {
		return out, nil
	}
	felt := response.NewCohort(3)
	sent := &response.Cohort{Exact: response.New(3), Censored: response.New(3)}
	answers, services := len(parts) > 0, len(parts) > 0
	for _, s := range parts {
		t := &judged{Step: s, wire: &wire.Step{DroppedRatio: ratio(s.Dropped, s.Rows+s.Dropped)}}
		if answers = answers && j.refusal(t) == ""; answers {
			felt.Merge(s.Response)
		}
		if services = services && t.serviceRefusal() == ""; services {
			sent.Exact.Merge(s.Service)
		}
	}
	if answers {
		out.Response = spectrum(felt)
	}
	if services {
		out.Service = spectrum(sent)
	}
	return out, nil
}

func spectrum(c *response.Cohort) []wire.SpectrumPoint {
	out := []wire.SpectrumPoint{}
	for _, p := range c.Spectrum(spectrumTicks) {
		w := wire.SpectrumPoint{Quantile: p.Quantile, Inverse: some(p.Inverse), AtLeast: some(p.Value), Count: int64(p.Count)}
		if !p.Censored {
			w.Seconds = w.AtLeast
		}
		out = append(out, w)
	}
	return out
}

// Goodput returns, per step, the goodput that each of a row of deadlines would
// have given: answers that arrived in time, per second, after warm-up.
func (a Analysis) Goodput(ctx context.Context, ev fold.Evidence, opt query.Options) (*wire.GoodputCurve, error) {
	st, err := a.state(ctx, ev, opt)
	if err != nil {
		return nil, err
	}
	j := newJudge(st, nil)
	out := &wire.GoodputCurve{DeadlineS: deadlines(st), Steps: []wire.GoodputStep{}}
	for _, s := range st.Steps {
		g := wire.GoodputStep{Step: s.Index, Name: s.Name, Offered: j.offered(s), Goodput: make([]*float64, len(out.DeadlineS))}
		if j.st.SampledRows == 0 && s.Rows > 0 {
			g.Completed = per(float64(s.WarmOK), s.WarmSeconds())
			for i, d := range out.DeadlineS {
				if st.FirstByteUnknown > 0 {
					break
				}
				g.Goodput[i] = per(float64(s.OKFlow.CountAtOrBelow(int64(math.Round(d*1e9)))), s.WarmSeconds())
			}
		}
		out.Steps = append(out.Steps, g)
	}
	return out, nil
}

// deadlines are 12 to a decade from 1 ms to 100 s, and the run's own.
func deadlines(st *fold.State) []float64 {
	var out []float64
	own := st.DeadlineS
	for i := range 5*12 + 1 {
		d := math.Pow(10, -3+float64(i)/12)
		if own != nil && *own < d {
			out, own = append(out, *own), nil
		}
		if st.DeadlineS == nil || math.Abs(d-*st.DeadlineS) > 1e-9*d {
			out = append(out, d)
		}
	}
	if own != nil {
		out = append(out, *own)
	}
	return out
}

// Heatmap returns counts of requests by due time and response time, at most
// opt.MaxPoints columns. Requests whose end was not seen count at the time they
// had waited.
func (a Analysis) Heatmap(ctx context.Context, ev fold.Evidence, opt query.Options) (*wire.Heatmap, error) {
	st, err := a.state(ctx, ev, opt)
	if err != nil {
		return nil, err
	}
	out := &wire.Heatmap{Time: []time.Time{}, Bounds: heatBounds(), Counts: [][]int64{}}
	if st.Series == nil {
		return out, nil
	}
	cells := thin(st.Series.Cells(), opt.MaxPoints)
	for _, c := range cells {
		out.CellS = max(out.CellS, c.Seconds())
		out.Time = append(out.Time, time.Unix(0, c.From).UTC())
		out.Counts = append(out.Counts, column(c, out.Bounds))
	}
	return out, nil
}

// heatBounds are 8 to a decade from 100 µs to 1000 s, after 0.
func heatBounds() []float64 {
	out := []float64{0}
	for i := range 7*8 + 1 {
		out = append(out, math.Pow(10, -4+float64(i)/8))
	}
	return out
}

func column(c *fold.Cell, bounds []float64) []int64 {
	out := make([]int64, len(bounds)-1)
	if c.Response == nil {
		return out
	}
	for _, h := range [...]*response.Histogram{c.Response.Exact, c.Response.Censored} {
		i := 0
		h.Buckets(func(lo, hi int64, n uint64) bool {
			mid := (float64(lo) + float64(hi)) / 2e9
			for i < len(out)-1 && mid > bounds[i+1] {
				i++
			}
			out[i] += int64(n)
			return true
		})
	}
	return out
}

// thin returns neighbouring cells merged until at most most are left; 0 keeps
// them all. The cells themselves stay as they are.
func thin(cells []*fold.Cell, most int) []*fold.Cell {
	if most <= 0 || len(cells) <= most {
		return cells
	}
	k := (len(cells) + most - 1) / most
	out := make([]*fold.Cell, 0, most)
	for i := 0; i < len(cells); i += k {
		c := &fold.Cell{From: cells[i].From, To: cells[i].To}
		for _, o := range cells[i:min(i+k, len(cells))] {
			c.Merge(o)
		}
		out = append(out, c)
	}
	return out
}
