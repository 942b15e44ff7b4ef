package verdict

import (
	"fmt"
	"math"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/audit"
	"github.com/plimsoll/plimsoll/analysis/counts"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// counted fills in what a step of a run without rows can say: omission can be
// bounded, not rebuilt (grade F).
func (j *judge) counted(t *judged) {
	c, w := t.Counts, t.wire
	grade := t.Grade.String()
	n := t.Ended[sample.OK] + t.Ended[sample.Error]
	w.ResponseTime = wire.Response{Grade: &grade, N: n, Reason: "counts only: when requests were due is not known"}
	w.ServiceTime = wire.Response{Valid: n > 0, Grade: &grade, N: n, Reason: "buckets of a histogram: the value lies between lo and hi"}
	if c.MeanS > 0 {
		w.ServiceTime.Mean = some(c.MeanS)
	}
	bucketed(&w.ServiceTime, c.Percentiles)
	if b := c.Service.Buckets; b != nil && b.Max > 0 {
		w.ServiceTime.Max = some(b.Max)
	}
	if left := c.Service.LeftOut(); left > dropLimit {
		refuse(&w.ServiceTime, leftOutReason(left))
		if t.Index >= 0 {
			t.find("left_out", wire.Warn, left,
				"%s of the requests are in none of the percentiles that the generator reports, such as those that failed: they are of the rest alone.", share(left))
		}
	}
	if w.DroppedRatio > dropLimit {
		refuse(&w.ServiceTime, droppedReason(w.DroppedRatio))
	}
	if len(c.Percentiles) == 0 {
		refuse(&w.ServiceTime, "no histogram was exported")
	}
	j.corrected(t)
	if c.WindowS > 0 {
		w.Ended, w.Completed = some(c.EndedPerS), some(c.EndedPerS*(1-ratio(t.Ended[sample.Error], n)))
	}
	if !c.Rates {
		w.Ended, w.Completed, w.Goodput, w.AttemptsPerS = nil, nil, nil, nil
	}
	if attempts := float64(t.WarmAttempts); n > 0 && attempts > 0 {
		w.AttemptsPerReq = some(attempts / float64(n))
	}
	w.InFlight = wire.InFlight{Mean: some(c.Mean), FirstHalf: some(c.First), SecondHalf: some(c.Second), GrowthZ: some(c.G), AtEnd: some(float64(t.AtEnd)), Source: "counters"}
	w.Stability = wire.Stability{State: string(c.State), Z: some(c.Z), Reason: c.Reason}
	if c.State == "" {
		w.Stability.State = wire.Inconclusive
	}
	if w.Stability.State == wire.Inconclusive && c.NeedS > 0 && !math.IsInf(c.NeedS, 0) {
		w.Stability.NeedS = some(c.NeedS)
	}
	if c.CapacityUp > 0 && !math.IsInf(c.CapacityUp, 0) && c.Offered > 0 {
		w.Stability.Utilisation = &wire.Estimate{Lo: some(c.Offered / c.CapacityUp), Confidence: confidence}
	}
	w.LittlesLaw = wire.Little{Source: "counters", Note: "in flight by Little's law from counted durations: nothing independent to compare it with"}
	if t.Index < 0 {
		return
	}
	for i, a := range c.Advice {
		if i == 2 {
			break
		}
		t.find("evidence", wire.Info, float64(i+1), "%s.", a)
	}
	if c.Loop == counts.LoopClosed {
		w.Stability.State, w.Stability.NeedS = wire.Inconclusive, nil
	}
}

// bucketed fills in percentiles that are known by the bucket that holds them.
func bucketed(r *wire.Response, percentiles []counts.Percentile) {
	for _, p := range percentiles {
		e := wire.Estimate{Lo: some(p.Bucket.Lo), Hi: some(p.Bucket.Hi), Confidence: 1}
		if !p.Supported {
			continue
		}
		switch p.Quantile {
		case 0.5:
			r.P50 = e
		case 0.9:
			r.P90 = e
		case 0.95:
			r.P95 = e
		case 0.99:
			r.P99 = e
		case 0.999:
			r.P999 = e
		}
	}
}

func leftOutReason(left float64) string {
	return "no number: " + share(left) + " of the requests are not in it, such as those that failed"
}

// madeUpLimit is the share of values that a tool's own correction may add. It
// adds one for each request that it should have sent and did not: with more than
// half of them made up, it is not about the requests any more.
const madeUpLimit = 0.5

const toolCorrected = "Response times are as %s corrected them itself (grade X): shown as they are, not measured here, and not corrected again."

// corrected shows times that the tool itself counted from when requests were due,
// as they are (grade X). Nothing is corrected here, nor made out of service times.
func (j *judge) corrected(t *judged) {
	times := t.Counts.Response
	n := int64(times.Buckets.Count())
	if n == 0 {
		return
	}
	grade := fold.GradeX.String()
	r := wire.Response{Valid: true, Grade: &grade, N: n, Reason: "corrected by the tool itself and shown as it is; the value lies between lo and hi"}
	bucketed(&r, times.Percentiles(0.5, 0.9, 0.95, 0.99, 0.999))
	if b := times.Buckets; b.Max > 0 {
		r.Max = some(b.Max)
	}
	made := times.MadeUp()
	switch {
	case j.closed() && !j.fixed():
		refuse(&r, closedReason)
	case made > madeUpLimit:
		refuse(&r, fmt.Sprintf("no number: the tool's own correction made up %s of %s values", share(made), human(n)))
	case times.LeftOut() > dropLimit:
		refuse(&r, leftOutReason(times.LeftOut()))
	case t.wire.DroppedRatio > dropLimit:
		refuse(&r, droppedReason(t.wire.DroppedRatio))
	}
	switch name := j.st.Generator; {
	case t.Index < 0:
	case j.closed() && !j.fixed():
		t.find("tool_corrected", wire.Warn, 0,
			"%s corrected its latencies itself, for requests that a closed loop was never to send: what it prints was not measured, and is nobody's response time.", name)
	case made > madeUpLimit:
		t.find("tool_corrected", wire.Warn, made,
			"%s made up %s of its %s latencies for requests that it did not send: its percentiles say nothing about the service.", name, share(made), human(n))
	default:
		t.find("tool_corrected", wire.Info, made, toolCorrected, name)
	}
	t.wire.ResponseTime = r
}

// outrun reports a step known by counts whose workers were all busy while
// arrivals were dropped, so that its backlog could not grow and yet its rate is
// more than the service carries.
func (t *judged) outrun() bool {
	return t.Counts != nil && t.wire.DroppedRatio > dropLimit && t.Counts.Limit > 0
}

// backlog is what was in flight when the load ended: a run that finished has
// nothing left, and counts show what it had.
func (t *judged) backlog() int64 {
	if c := t.Counts; c != nil && len(c.Level) > 0 {
		return max(t.AtEnd, int64(math.Round(c.Level[len(c.Level)-1])))
	}
	return t.AtEnd
}

// busyWorkers says what set the times of a step whose workers were all busy, by
// the generator's own count of them.
func (j *judge) busyWorkers(t *judged) {
	c := t.Counts
	if c == nil || c.Limit <= 0 {
		return
	}
	if c.EndedPerS <= 0 {
		return
	}
	took := c.Second / c.EndedPerS // by Little's law, once they were all busy
	r, ok := audit.Cap{Workers: c.Limit, OfferedPerS: c.Offered, PerS: c.EndedPerS, ServiceS: took}.Predict()
	if !ok {
		return
	}
	bound := ""
	switch {
	case r.Binds && t.wire.Stability.State == wire.Unstable:
		bound = cappedAt(c.Limit, c.EndedPerS, &r)
	case r.Binds:
		bound = capOver(c.Limit, c.EndedPerS, &r)
	}
	t.find("worker_cap", wire.Warn, c.Limit,
		"%s all %s workers were busy: so many hold this rate only while an iteration takes less than %s, and it took %s in the second half.%s",
		t.at(), count(&c.Limit), lasting(r.HoldsBelowS), lasting(took), bound)
}
