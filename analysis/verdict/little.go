package verdict

import (
	"math"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/littleslaw"
)

// brokenResidual is the residual of an independent check above which rows and
// count describe different runs: nothing good can be said of the step.
const brokenResidual = 0.05

// littlesLaw checks the measurement of a step: our own pipeline by the exact
// form, and the rows against the generator's count where there is one.
func (j *judge) littlesLaw(t *judged) {
	w := t.wire
	w.LittlesLaw.Source = "rows"
	if t.Rows == 0 || j.st.SampledRows > 0 {
		w.LittlesLaw.Note = "no complete record of requests"
		return
	}
	load := littleslaw.Load{Closed: j.closed()}
	own := littleslaw.Check(sums(&t.Exact), littleslaw.Count{}, load)
	w.LittlesLaw.ExactResidual = some(own.Exact)
	r := own
	if c := t.Counted; c != nil {
		count := littleslaw.Count{Source: littleslaw.Integral, Sources: t.Counters, Mean: t.Counter / (float64(c.To-c.From) / 1e9)}
		r = littleslaw.Check(sums(c), count, load)
		w.LittlesLaw.Source = "loadtest.requests.in_flight_time"
	}
	w.LittlesLaw.Independent = r.Independent
	w.LittlesLaw.Counted, w.LittlesLaw.LambdaW, w.LittlesLaw.Corrected = some(r.Counted), some(r.LambdaW), some(r.Corrected)
	w.LittlesLaw.Residual, w.LittlesLaw.Tolerance, w.LittlesLaw.Note = some(r.Residual), some(r.Tolerance), r.Note
	ok := r.OK && own.OK
	w.LittlesLaw.OK = &ok
	if t.Index < 0 || ok {
		return
	}
	switch {
	case own.Exact > littleslaw.ExactTolerance:
		t.find("littles_law_mismatch", wire.Invalid, own.Exact,
			"The rows of %s do not add up to their own in flight (off by %s): this is a fault of the measurement.", t.title(), share(own.Exact))
	case r.Residual > math.Max(brokenResidual, r.Tolerance):
		t.find("littles_law_mismatch", wire.Invalid, r.Residual,
			"In %s, %s: the measurement is wrong before anything can be said of the service.", t.title(), r.Note)
	default:
		t.find("littles_law_mismatch", wire.Warn, r.Residual, "In %s, %s (%s apart, %s allowed).",
			t.title(), r.Note, share(r.Residual), share(r.Tolerance))
	}
}

func sums(l *fold.Little) littleslaw.Sums {
	return littleslaw.Sums{
		WindowNS: l.To - l.From, Arrivals: l.Arrivals, WaitNS: l.Wait.Nanos(),
		CarryInNS: l.CarryIn.Nanos(), CarryOutNS: l.CarryOut.Nanos(), IntegralNS: l.Integral.Nanos(),
	}
}
