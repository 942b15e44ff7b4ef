package verdict

import (
	"maps"
	"slices"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/response"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/stability"
)

// dropLimit is the share of dropped arrivals above which no percentile is shown.
const dropLimit = 0.01

// judge fills in everything about a step that does not depend on others.
func (j *judge) judge(s *fold.Step) *judged {
	due := s.Rows + s.Dropped
	w := &wire.Step{
		Index: s.Index, Name: s.Name, AfterMark: s.Mark, From: time.Unix(0, s.From).UTC(), To: time.Unix(0, s.To).UTC(),
		DurationS: s.Seconds(), WarmupS: float64(s.Warmup) / 1e9,
		Due: due, Sent: s.Rows, Dropped: s.Dropped, DroppedRatio: ratio(s.Dropped, due),
		ErrorRatio: ratio(s.Outcomes[sample.Error], due), TimeoutRatio: ratio(s.Outcomes[sample.Timeout], due),
		ShedRatio: ratio(s.Outcomes[sample.Shed], due), CancelledRatio: ratio(s.Outcomes[sample.Cancelled], due),
		Sources: []wire.Source{},
	}
	t := &judged{Step: s, wire: w}
	if s.Index >= 0 && s.Rows > 0 && j.st.SampledRows == 0 && s.Counts == nil {
		t.result = stability.Judge(&s.Window, j.load(s))
		t.growing = t.result.State == stability.Unstable
	}
	for _, o := range j.steps {
		t.growing = t.growing || s.Index < 0 && o.growing
	}
	w.Offered = j.offered(s)
	if s.Rows > 0 && sendsKnown(s.Grade) {
		w.LateSendRatio = some(ratio(s.LateSends, due))
	}
	j.flows(t)
	w.Balance = wire.Balance{
		Due: due, CarriedIn: s.CarriedIn, Dropped: s.Dropped, Good: s.EndedGood,
		Late: s.Ended[sample.OK] - s.EndedGood, Error: s.Ended[sample.Error], Timeout: s.Ended[sample.Timeout],
		Shed: s.Ended[sample.Shed], Cancelled: s.Ended[sample.Cancelled], OpenAtEnd: s.OpenAtEnd,
	}
	w.Counts = wire.Counts{
		OK: s.Outcomes[sample.OK], Error: s.Outcomes[sample.Error], Timeout: s.Outcomes[sample.Timeout],
		Shed: s.Outcomes[sample.Shed], Cancelled: s.Outcomes[sample.Cancelled], Retries: s.Retries,
	}
	if s.Counts != nil {
		j.counted(t)
		return t
	}
	j.times(t)
	j.inFlight(t)
	j.littlesLaw(t)
	for _, name := range slices.Sorted(maps.Keys(s.SourceSteps)) {
		src := s.SourceSteps[name]
		out := wire.Source{Source: name, Sent: src.Sent, Errors: src.Errors}
		if sendsKnown(s.Grade) {
			out.SendDelayMax = seconds(src.SendDelayMax)
		}
		if src.Response.Count() > 0 && w.ResponseTime.Valid && s.Grade != fold.GradeE { // not back-filled
			c := response.Cohort{Exact: src.Response, Censored: response.New(2)}
			out.ResponseP99S = c.Quantile(0.99, confidence).Value
		}
		w.Sources = append(w.Sources, out)
	}
	return t
}

// offered is the nominal rate where there is one, else the counted one.
func (j *judge) offered(s *fold.Step) *float64 {
	if s.Seconds() <= 0 || j.st.SampledRows > 0 && !s.Nominal {
		return nil
	}
	return some(s.Offered())
}

// flows are rates by the time things happened, after warm-up.
func (j *judge) flows(t *judged) {
	s, w := t.Step, t.wire
	if j.st.SampledRows > 0 || s.Rows == 0 && s.WarmEnded == 0 {
		return
	}
	length := s.WarmSeconds()
	w.Ended = per(float64(s.WarmEnded), length)
	w.Completed = per(float64(s.WarmOK), length)
	if s.Deadlines > 0 || s.WarmDeadlines > 0 {
		w.Goodput = per(float64(s.WarmGood), length)
	}
	w.AttemptsPerS = per(float64(s.WarmAttempts), length)
	if j.st.Keyed && s.Rows > 0 {
		w.AttemptsPerReq = per(float64(s.Rows+s.Retries), float64(s.Rows))
	}
}

// times fills in the distributions.
func (j *judge) times(t *judged) {
	s, w := t.Step, t.wire
	g := s.Grade.String()
	r := distribution(s.Response, t.quantile)
	r.Grade = &g
	if s.Rows == 0 {
		r.Grade = nil
	}
	refuse(&r, j.refusal(t))
	if r.Valid && s.Grade == fold.GradeS {
		r.Reason = "no intended send times: the sent time stands in, so this is service time"
	}
	w.ResponseTime = r
	w.ServiceTime = plainDistribution(s.Service)
	refuse(&w.ServiceTime, t.serviceRefusal())
	if sendsKnown(s.Grade) && s.SendDelay.Count() > 0 {
		d := response.Cohort{Exact: s.SendDelay, Censored: response.New(3)}
		w.SendDelay = &wire.Delay{P99: estimate(d.Quantile(0.99, confidence)), Max: seconds(s.SendDelay.Max())}
	}
	j.tokens(t)
	w.ShedResponseTime = optional(s.ShedResponse)
	j.support(t)
}

// refusal says why the percentiles of a step would mislead, or nothing.
func (j *judge) refusal(t *judged) string {
	switch {
	case t.Rows == 0:
		return "no requests"
	case t.wire.DroppedRatio > dropLimit:
		return droppedReason(t.wire.DroppedRatio)
	case t.unplaced():
		return unplacedReason
	case j.closed() && !j.fixed() && t.Grade != fold.GradeE:
		return closedReason
	}
	return ""
}

// unplaced reports whether the run dropped so many arrivals that, were they of the
// part that is asked about, its percentiles would be refused.
func (t *judged) unplaced() bool { return ratio(t.Unplaced, t.Rows+t.Unplaced) > dropLimit }

const unplacedReason = "no number: the run dropped arrivals, and of which scenario or source is not known"

const closedReason = "closed loop: this would be service time under a load that the tool reduced itself"

// serviceRefusal says why the service times of a step would mislead, or nothing.
func (t *judged) serviceRefusal() string {
	switch {
	case t.Grade == fold.GradeX:
		return "the tool counted from when requests were due and does not say when they were sent"
	case t.wire.DroppedRatio > dropLimit:
		return droppedReason(t.wire.DroppedRatio)
	case t.unplaced():
		return unplacedReason
	}
	return ""
}

// sendsKnown reports whether rows of the grade say both when requests were due and
// when they were sent.
func sendsKnown(g fold.Grade) bool { return g.Timed() && g != fold.GradeX }

func droppedReason(v float64) string { return "no number: " + share(v) + " dropped" }

// refuse takes the numbers out of a distribution, but for its size and maximum.
func refuse(r *wire.Response, reason string) {
	if reason == "" {
		return
	}
	*r = wire.Response{Reason: reason, Grade: r.Grade, N: r.N, Max: r.Max}
}

// refuse takes the percentiles of the step out of the document.
func (t *judged) refuse(reason string) {
	for _, r := range [...]*wire.Response{&t.wire.ResponseTime, &t.wire.ServiceTime, t.wire.FirstByte, t.wire.InterToken} {
		if r != nil {
			refuse(r, reason)
		}
	}
	for i := range t.wire.Sources {
		t.wire.Sources[i].ResponseP99S = nil
	}
}

// plainDistribution is that of times that were all seen to end.
func plainDistribution(h *response.Histogram) wire.Response {
	c := &response.Cohort{Exact: h, Censored: response.New(3)}
	return distribution(c, func(q float64) response.Estimate { return c.Quantile(q, confidence) })
}

func distribution(c *response.Cohort, quantile func(q float64) response.Estimate) wire.Response {
	r := wire.Response{Valid: c.N() > 0, N: int64(c.N()), Steady: true}
	if !r.Valid {
		r.Reason = "no requests"
		return r
	}
	if m, ok := c.Mean(); ok {
		r.Mean = some(m)
	}
	r.P50 = estimate(quantile(0.5))
	r.P90 = estimate(quantile(0.9))
	r.P95 = estimate(quantile(0.95))
	r.P99 = estimate(quantile(0.99))
	r.P999 = estimate(quantile(0.999))
	r.Max = seconds(c.Max())
	return r
}

func optional(h *response.Histogram) *wire.Response {
	if h == nil || h.Count() == 0 {
		return nil
	}
	r := plainDistribution(h)
	return &r
}

// support says how many requests the highest percentiles would take.
func (j *judge) support(t *judged) {
	if !t.wire.ResponseTime.Valid {
		return
	}
	for _, q := range percentiles {
		if e := t.Response.Quantile(q.at, confidence); e.Need > 0 {
			t.find("percentile_support", wire.Info, float64(e.Need), "%s needs %s requests; %s has %s.",
				q.name, human(e.Need), t.title(), human(int64(t.Response.N())))
			return
		}
	}
}
