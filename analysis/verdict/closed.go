package verdict

import (
	"fmt"
	"math"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/audit"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/stability"
)

// saturation is what a closed loop got through: a lower bound of capacity.
func (j *judge) saturation() {
	total := j.st.Totals
	ok, seconds := total.WarmOK, total.WarmSeconds()
	// Exports cover more time than they count: the ends of a run are not full of it.
	if c := j.onlyCounts(); c != nil && c.EndedPerS > 0 && c.WindowS > 0 {
		ok, seconds = int64(math.Round(c.EndedPerS*(1-ratio(total.Rows-total.Outcomes[sample.OK], total.Rows))*c.WindowS)), c.WindowS
	}
	if s, ok := audit.Saturated(ok, seconds, 1); ok {
		j.doc.SaturationThroughput = &wire.Estimate{Value: some(s.PerS), Lo: some(s.Lo), Confidence: confidence}
	}
}

// onlyCounts are the counts of the only step; nil where there are rows, or several.
func (j *judge) onlyCounts() *fold.Counted {
	if len(j.steps) != 1 {
		return nil
	}
	return j.steps[0].Counts
}

// slump says by how much a closed loop slowed down with the service.
func (j *judge) slump() {
	if j.st.Series == nil {
		return
	}
	var cells []audit.Stretch
	for _, c := range j.st.Series.Cells() {
		s := audit.Stretch{Seconds: c.Seconds(), Sent: c.Sent}
		if c.Service != nil {
			s.ResponseS = c.Service.Total()
		}
		cells = append(cells, s)
	}
	if r, ok := audit.Slump(cells); ok {
		j.find("closed_loop_slump", wire.Warn, r.Fell,
			"The load fell by %s, from %s to %s, while response times rose %.3gx, from %s to %s: the tool asked for less because the service was slow.",
			share(r.Fell), rate(r.FastPerS), rate(r.SlowPerS), r.Rose, lasting(r.FastS), lasting(r.SlowS))
	}
}

// Constants of the law of the closed loop.
const (
	lawShare  = 0.05 // a gap that matters
	lawSigmas = 4.0  // of the count of requests
	lawLeast  = 100  // requests
)

// law holds a step of a closed loop against N = X·(R + Z): what its users could
// have sent against what they sent. R is the time in flight per request, so that
// X·R is the mean number in flight whatever the attempts.
func (j *judge) law(t *judged) {
	l, n, ok := j.loopOf(t)
	if !ok {
		return
	}
	var from string
	if l.Users, from = j.users(t); l.Users <= 0 {
		return
	}
	noise := max(lawShare, lawSigmas/math.Sqrt(float64(n)))
	if busy := l.PerS * l.ResponseS; busy > l.Users*(1+noise) {
		t.find("closed_loop_law", wire.Warn, busy/l.Users-1, "%s %s requests were out at once on average, and that is more than the %s %s: they are not those of this loop.",
			t.at(), count(&busy), count(&l.Users), from)
		return
	}
	d := j.st.Run.Declaration
	if d == nil || d.ThinkS == nil {
		j.think(t, l, from)
		return
	}
	l.ThinkS = *d.ThinkS
	r, ok := l.Check()
	if !ok {
		return
	}
	said := fmt.Sprintf("by N = X·(R + Z), %s %s who think for %s and wait for %s send %s",
		count(&l.Users), from, lasting(l.ThinkS), lasting(l.ResponseS), rate(r.ExpectedPerS))
	switch {
	case r.Shortfall > noise:
		t.find("closed_loop_law", wire.Warn, r.Shortfall,
			"%s, and %s were seen, %s less: each user lost %s a cycle outside of its requests. The generator held this load down, not the service alone.",
			said, rate(l.PerS), share(r.Shortfall), lasting(r.LostS))
	case r.Shortfall < -noise:
		t.find("closed_loop_law", wire.Warn, r.Shortfall,
			"%s, and %s were seen, %s more: there are more users, or they think for less.", said, rate(l.PerS), share(-r.Shortfall))
	default:
		t.find("closed_loop_law", wire.Info, r.Shortfall, "%s, and %s were seen: the users account for the load.", said, rate(l.PerS))
	}
}

// think is the pause between an answer and the next request that users, rate and
// times leave: Z = N/X − R.
func (j *judge) think(t *judged, l audit.Law, from string) {
	r, ok := l.Check()
	if !ok {
		return
	}
	z := max(0, r.LostS)
	if z < lawShare*l.ResponseS {
		t.find("think_time", wire.Info, z, "%s the %s %s waited for answers all the time: none paused, and the load is what the service let them send.",
			t.at(), count(&l.Users), from)
		return
	}
	t.find("think_time", wire.Info, z, "%s the %s %s each waited %s for an answer and spent %s before the next request: think time, or the generator. Declare think_s to tell which.",
		t.at(), count(&l.Users), from, lasting(l.ResponseS), lasting(z))
}

// loopOf measures a step: requests per second and the time that each was in
// flight, without the start, in which users come one by one.
func (j *judge) loopOf(t *judged) (l audit.Law, n int64, ok bool) {
	if j.st.Series == nil || j.st.SampledRows > 0 || j.st.Narrowed || t.Counts != nil {
		return l, 0, false
	}
	from, to := stability.Cut(t.From, t.To, t.Warmup), t.To
	var seconds, flight float64
	for _, c := range j.st.Series.Cells() {
		if c.From < from || c.To > to {
			continue
		}
		seconds += c.Seconds()
		n += c.Due
		flight += c.InFlight.Seconds()
	}
	if n < lawLeast || seconds <= 0 {
		return l, n, false
	}
	return audit.Law{ResponseS: flight / float64(n), PerS: float64(n) / seconds}, n, true
}

// users is the size of a closed loop's population in a step and who says so: the
// generator's own count, the declaration, else the level at which the number in
// flight stood still.
func (j *judge) users(t *judged) (n float64, from string) {
	declared := 0.0
	if d := j.st.Run.Declaration; d != nil && d.Users != nil {
		declared = *d.Users
	}
	counted := j.st.Telemetry.Of(func(m *fold.Metric) bool { return m.Own == fold.Users && m.Mine })
	if n, ok := fold.Value(counted, stability.Cut(t.From, t.To, t.Warmup), t.To); ok && n > 0 {
		if declared > 0 && math.Abs(n-declared) > lawShare*declared {
			return n, fmt.Sprintf("users counted by the generator (of %s declared)", count(&declared))
		}
		return n, "users counted by the generator"
	}
	if declared > 0 {
		return declared, "declared users"
	}
	if w := t.Rig.Loop.Result(); w.Kind == audit.ClosedLoop && w.CeilingShare > 0.8 && w.Calm < 0.2 {
		return float64(w.Ceiling), "users seen"
	}
	return 0, ""
}
