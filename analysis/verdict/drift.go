package verdict

import (
	"math"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/audit"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/response"
)

// Constants of a generator that slows down.
const (
	driftParts = 20    // that a step is cut into
	driftSigma = 4.0   // of the slope
	driftLeast = 0.001 // s
	driftTimes = 1.5   // the last part over the first, by the line
)

// tiring reports a generator that sent later and later over a step: a line
// through the p99 of the send delay of its parts, the first tenth left out.
func (j *judge) tiring(t *judged) {
	if j.st.Series == nil || !t.Grade.Timed() || j.st.SampledRows > 0 || t.Counts != nil {
		return
	}
	parts := delays(j.st.Series.Cells(), t.From, t.To)
	if parts == nil {
		return
	}
	r, ok := audit.Line(parts[driftParts/10:])
	if !ok || r.T < driftSigma || r.Change < driftLeast {
		return
	}
	var mean float64
	for _, v := range parts[driftParts/10:] {
		mean += v / float64(r.N)
	}
	first, last := mean-r.Change/2, mean+r.Change/2
	if first <= 0 || last < driftTimes*first {
		return
	}
	t.find("generator_tires", wire.Warn, r.Change, "%s the generator sent later and later: the p99 of its send delay rose from %s to %s over the step. A longer run would show where that goes.",
		t.at(), lasting(first), lasting(last))
}

// delays is the p99 of the send delay in each of the parts of [from, to), in
// seconds; nil where a part has no requests.
func delays(cells []*fold.Cell, from, to int64) []float64 {
	var parts [driftParts]*response.Histogram
	for _, c := range cells {
		if c.From < from || c.To > to || c.SendDelay == nil {
			continue
		}
		i := int(float64(c.From-from) / float64(to-from) * driftParts)
		if parts[i] == nil {
			parts[i] = response.New(2)
		}
		parts[i].Merge(c.SendDelay)
	}
	out := make([]float64, 0, driftParts)
	for _, h := range parts {
		if h == nil {
			return nil
		}
		n := h.Count()
		out = append(out, float64(h.ValueAtRank(max(1, uint64(math.Ceil(0.99*float64(n))))))/1e9)
	}
	return out
}
