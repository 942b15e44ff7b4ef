package verdict

import "github.com/plimsoll/plimsoll/analysis/fold"

// thin treats the rows of a run as sampled where the generator's own counters say
// that a good part of its spans never came, whatever the spans say: times can
// still be read from them, counts, rates and in flight cannot. The state itself
// is not changed.
func (j *judge) thin() {
	st := j.st
	if st.SampledRows > 0 || st.Rows == 0 || !st.Run.Finished || st.Narrowed || st.Totals.Counts != nil {
		return
	}
	for source, all := range j.bySource(func(m *fold.Metric) bool { return m.Own == fold.Answered }) {
		counted := j.mostAnswered(all)
		if gone := counted - j.sentBy(source); gone > surelyLost*counted && gone > fewestLost {
			j.thinned = true
		}
	}
	if j.thinned {
		c := *st
		c.SampledRows = c.Rows
		j.st = &c
	}
}
