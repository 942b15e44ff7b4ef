package verdict

import (
	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/knee"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// ramps reports whether the rate changes within a step.
func ramps(s *fold.Step) bool { return s.Rate != s.ToRate }

// climb reads a lower bound of the capacity off the ramps, where nothing else
// says what it is.
func (j *judge) climb() {
	if j.closed() || j.st.SampledRows > 0 || j.thinned || j.doc.Knee.Capacity != nil {
		return
	}
	var best knee.Climb
	var on *judged
	for _, t := range j.steps {
		if !ramps(t.Step) {
			continue
		}
		if c, ok := knee.Ramp(j.completions(t)); ok && c.AtLeast > best.AtLeast {
			best, on = c, t
		}
	}
	if on == nil {
		return
	}
	j.doc.Knee.Capacity = &wire.Estimate{Lo: some(best.AtLeast), Confidence: confidence}
	j.find("ramp_capacity", wire.Info, best.AtLeast,
		"While the rate went from %s to %s, %s were completed over %s: the capacity is at least about %s. A ramp gives no more than this lower bound; steps would show the knee.",
		rate(on.Rate), rate(on.ToRate), rate(best.Rate), lasting(best.Seconds), rate(best.AtLeast))
}

// completions are the counts of what a ramp completed, by the second or by export.
func (j *judge) completions(t *judged) []knee.Count {
	var out []knee.Count
	if t.Counts != nil {
		return t.Counts.Completed
	}
	if j.st.Series == nil {
		return nil
	}
	for _, c := range j.st.Series.Cells() {
		if c.From >= t.From && c.To <= t.To {
			out = append(out, knee.Count{Seconds: c.Seconds(), Completed: float64(c.Ended[sample.OK])})
		}
	}
	return out
}
