package verdict

import (
	"math"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/littleslaw"
)

// Residuals above which an independent count and the rows describe different
// runs: nothing good can be said of the step. Levels ask for more than integrals.
const (
	brokenResidual = 0.05
	brokenLevel    = 0.2
)

// littlesLaw checks the measurement of a step: our own pipeline by the exact
// form, and the rows against the generator's counts where there are any: the
// running integral, else the level at its exports.
func (j *judge) littlesLaw(t *judged) {
	w := &t.wire.LittlesLaw
	w.Source = "rows"
	if t.Rows == 0 || j.st.SampledRows > 0 {
		w.Note = "no complete record of requests"
		return
	}
	load := littleslaw.Load{Closed: j.closed()}
	if d := j.st.Run.Declaration; d != nil && d.Users != nil {
		load.Users = int(*d.Users)
	}
	own := littleslaw.Check(sums(&t.Exact), littleslaw.Count{}, load)
	w.ExactResidual = some(own.Exact)
	r, broken := own, brokenResidual
	if c := t.Counted; c != nil {
		count := littleslaw.Count{Source: littleslaw.Integral, Sources: t.Counters, Mean: t.Counter / (float64(c.To-c.From) / 1e9)}
		r = littleslaw.Check(sums(c), count, load)
		w.Source = "loadtest.requests.in_flight_time"
		w.Checks = append(w.Checks, wire.LittleCheck{
			Source: w.Source, Counted: some(r.Counted), Records: some(r.Corrected), Residual: some(signed(r.Counted, r.Corrected)),
			Tolerance: some(r.Tolerance), OK: &r.OK,
		})
	}
	if l, ok := j.ownLevel(t); ok {
		level, _ := l.Check()
		w.Checks = append(w.Checks, levelCheck("loadtest.requests.in_flight", "", l, level))
		if t.Counted == nil {
			w.Source, broken = "loadtest.requests.in_flight", brokenLevel
			r.Independent, r.Counted, r.Corrected = true, l.Counted, l.Records
			r.Residual, r.Tolerance, r.OK, r.Note = math.Abs(level.Residual), level.Tolerance, level.OK, level.Note
		}
	}
	w.Independent = r.Independent
	w.Counted, w.LambdaW, w.Corrected = some(r.Counted), some(r.LambdaW), some(r.Corrected)
	w.Residual, w.Tolerance, w.Note = some(r.Residual), some(r.Tolerance), r.Note
	ok := r.OK && own.OK
	w.OK = &ok
	if t.Index < 0 || ok {
		return
	}
	switch {
	case own.Exact > littleslaw.ExactTolerance:
		t.find("littles_law_mismatch", wire.Invalid, own.Exact,
			"The rows of %s do not add up to their own in flight (off by %s): this is a fault of the measurement.", t.title(), share(own.Exact))
	case r.Residual > math.Max(broken, r.Tolerance):
		t.find("littles_law_mismatch", wire.Invalid, r.Residual,
			"In %s, %s: the measurement is wrong before anything can be said of the service.", t.title(), r.Note)
	default:
		t.find("littles_law_mismatch", wire.Warn, r.Residual, "In %s, %s (%s apart, %s allowed).",
			t.title(), r.Note, share(r.Residual), share(r.Tolerance))
	}
}

// signed is how much more was counted than the records hold, over the larger.
func signed(counted, records float64) float64 {
	larger := math.Max(math.Abs(counted), math.Abs(records))
	if larger == 0 {
		return 0
	}
	return (counted - records) / larger
}

func levelCheck(source, service string, l littleslaw.Levels, r littleslaw.LevelResult) wire.LittleCheck {
	return wire.LittleCheck{
		Source: source, Service: service, Counted: some(l.Counted), Records: some(l.Records), Residual: some(r.Residual),
		Tolerance: some(r.Tolerance), OneSided: l.Server, Samples: l.N, OK: &r.OK,
	}
}

// ownLevel is the level of requests in flight that the generators exported in a
// step, added up, beside the requests of those generators at the same instants.
func (j *judge) ownLevel(t *judged) (littleslaw.Levels, bool) {
	l := littleslaw.Levels{SlackS: littleslaw.OwnSlackS, EventsS: 2 * float64(t.Rows) / t.Seconds()}
	for _, p := range j.st.Paired {
		if !p.Mine {
			continue
		}
		m := means(p, t)
		if m.n == 0 {
			return l, false // this part of the level is not known here
		}
		if l.N == 0 || m.n < l.N {
			l.N = m.n
		}
		l.Counted += m.counted
		l.Records += m.records
	}
	return l, l.N >= littleslaw.LeastInstants
}

// paired are the means of a count and of the rows over the instants in a step.
type paired struct {
	n                int
	counted, records float64
	spread           float64 // standard deviation of the records
}

func means(p *fold.Paired, t *judged) paired {
	var m paired
	var square float64
	for i := range p.Pairs {
		if q := &p.Pairs[i]; q.At >= t.From && q.At < t.To {
			m.n++
			m.counted += q.Counted
			m.records += float64(q.Records)
			square += float64(q.Records) * float64(q.Records)
		}
	}
	if m.n == 0 {
		return m
	}
	n := float64(m.n)
	m.counted, m.records = m.counted/n, m.records/n
	m.spread = math.Sqrt(max(0, square/n-m.records*m.records))
	return m
}

func sums(l *fold.Little) littleslaw.Sums {
	return littleslaw.Sums{
		WindowNS: l.To - l.From, Arrivals: l.Arrivals, WaitNS: l.Wait.Nanos(),
		CarryInNS: l.CarryIn.Nanos(), CarryOutNS: l.CarryOut.Nanos(), IntegralNS: l.Integral.Nanos(),
	}
}
