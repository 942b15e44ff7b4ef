package verdict

import (
	"fmt"
	"strconv"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/counts"
)

// iterations says what the rows are where an iteration of the generator's script
// sent several: requests of its own, or attempts that nothing joins.
func (j *judge) iterations() {
	if n := j.st.PerIteration; n > 1 {
		j.find("requests_per_iteration", wire.Info, n,
			"An iteration of the script sent %s requests on average, further attempts included: rates are of requests, and a dropped iteration counts as so many.", strconv.FormatFloat(n, 'g', 3, 64))
	}
	if t := j.total; t.several() {
		j.countedIterations(t)
	}
}

// countedIterations says what counts hold of the requests of an iteration, and
// what would tell attempts from requests of their own.
func (j *judge) countedIterations(t *judged) {
	s := fmt.Sprintf("An iteration of the script sent %.3g requests on average, further attempts included: rates are of iterations.", t.Counts.Totals.PerIteration())
	if t.Counts.Failed > 0 {
		least, most := t.Counts.Totals.FailedIterations()
		s += fmt.Sprintf(" %s of the requests failed, and of %s iterations %s: an iteration may fail by one request, or be tried again and succeed.",
			share(t.Counts.Failed), human(int64(t.Counts.Totals.Ended)), between(least, most))
		s += " Counts cannot tell which, nor whether the service recovers from a push"
		if o := counts.OptionsOf(j.st.Generator).Starts; o != "" {
			s += ": " + o
		}
		s += "."
	}
	j.find("requests_per_iteration", wire.Info, t.Counts.Totals.PerIteration(), "%s", s)
}

func between(least, most float64) string {
	if least == most {
		return human(int64(least))
	}
	return human(int64(least)) + " to " + human(int64(most))
}

// severalEach tells several requests an iteration from those that were under way
// when it was counted.
const severalEach = 1.1

// several reports a step that is known by counts of iterations which sent more
// requests than one each.
func (t *judged) several() bool {
	return t.Counts != nil && t.Counts.Totals.PerIteration() > severalEach
}

// failedOf says how many requests failed where an iteration sent several, and how
// many iterations surely did.
func (t *judged) failedOf() string {
	s := fmt.Sprintf("%s of requests failed (%.3g an iteration)", share(t.Counts.Failed), t.Counts.Totals.PerIteration())
	if t.wire.ErrorRatio > 0 {
		return fmt.Sprintf("at least %s failed, %s", share(t.wire.ErrorRatio), s)
	}
	return s
}

// mayHaveFailed is the largest share of what was due that can have failed, where
// failures are counted by request and an iteration sent several; else 0.
func (t *judged) mayHaveFailed(due int64) float64 {
	if !t.several() {
		return 0
	}
	_, most := t.Counts.Totals.FailedIterations()
	return most / float64(due)
}
