package audit

import (
	"math"

	"github.com/plimsoll/plimsoll/analysis/stability"
)

// LoopResult says how the generator decided when to send, and by what numbers.
type LoopResult struct {
	Kind  Kind
	Sends int64

	Follow      float64 // share of sends within 0.02 mean gaps after a completion
	Chance      float64 // that share if sends did not know of completions
	FollowSigma float64 // how far the share lies above chance
	Before      float64 // share of sends within 0.02 mean gaps before a completion

	// FeedbackT is the t of sends per bin on the number in flight; 0 when unknown,
	// or where the slope moves the rate by less than a quarter from an empty to the
	// fullest moment.
	FeedbackT float64
	// Feedback is the largest share by which the rate may fall from an empty to
	// the fullest moment, by two standard errors; NaN when unknown.
	Feedback float64

	Ceiling      int64   // most in flight by send
	CeilingShare float64 // share of time at the ceiling
	Calm         float64 // variance over mean of the number in flight
	MeanInFlight float64
	NearCeiling  float64 // share of time within 3 % of the ceiling
	AtCeiling    float64 // completions/s then
	Below        float64 // completions/s at half to three quarters of it
	BelowEnds    float64 // completions that Below was counted from

	Late    float64 // share of sends more than 5 ms after they were due
	Known   float64 // share of sends whose due time is known
	Dropped float64 // share of arrivals that were never sent

	// Beat is set when sends and completions keep one fixed beat, exactly: who
	// follows whom cannot be told.
	Beat bool
}

// Result judges what was added:
//
//	closed  Follow > 0.5 and 6σ above Chance; or
//	        FeedbackT < −6; or
//	        CeilingShare > 0.8, Calm < 0.2 and Follow 6σ above Chance
//	capped  the same, where a schedule is known and more than 1 % of it was late
//	        or dropped
//	open    else, where the schedule is known and was kept, or where Feedback
//	        stays below a quarter
//
// and unknown in all other cases and below 100 sends. A closed loop with long
// think times and a large population is not seen from totals; it acts much like
// an open one.
func (l *Loop) Result() LoopResult {
	r := LoopResult{Sends: l.sends, Ceiling: l.top, Feedback: math.NaN()}
	if l.sends == 0 {
		return r
	}
	r.Late = float64(l.late) / float64(l.sends)
	r.Known = float64(l.due) / float64(l.sends)
	r.Dropped = float64(l.dropped) / float64(l.sends+l.dropped)
	l.following(&r)
	l.feedback(&r)
	l.ceiling(&r)
	r.Kind = r.kind()
	return r
}

func (l *Loop) following(r *LoopResult) {
	if l.after.n == 0 || l.gaps.mean <= 0 || l.last <= l.first {
		return
	}
	limit := near * l.gaps.mean
	n := float64(l.after.n)
	r.Follow = float64(l.after.within(limit)) / n
	r.Before = float64(l.before.within(limit)-l.before.zero) / n
	r.Chance = min(1, l.pause.covered(limit)/float64(l.last-l.first))
	sd := math.Sqrt(max(r.Chance*(1-r.Chance), 1/n) / n)
	r.FollowSigma = (r.Follow - r.Chance) / sd
	r.Beat = l.gaps.cv() < fixedBeat && 2*float64(l.after.zero) > r.Follow*n
}

func (l *Loop) feedback(r *LoopResult) {
	for i := range l.regress {
		f, ok := l.regress[i].fit()
		if !ok {
			continue
		}
		top := float64(l.top) / f.mean
		if t := f.slope / f.se; t < r.FeedbackT && -f.slope*top >= openFeedback {
			r.FeedbackT = t
		}
		most := max(0, -(f.slope-2*f.se)*top)
		if math.IsNaN(r.Feedback) || most < r.Feedback {
			r.Feedback = most
		}
	}
}

func (l *Loop) ceiling(r *LoopResult) {
	total := float64(l.last - l.first)
	if total <= 0 || l.top == 0 {
		return
	}
	top := stability.LevelOf(int(l.top))
	ns, _ := l.between(top, top)
	r.CeilingShare = ns / total
	ns, ended := l.between(stability.LevelOf(int(math.Ceil(0.97*float64(l.top)))), top)
	r.NearCeiling = ns / total
	if ns > 0 {
		r.AtCeiling = ended / ns * 1e9
	}
	if ns, ended = l.between(stability.LevelOf(int(l.top+1)/2), stability.LevelOf(int(l.top)*3/4)); ns > 0 {
		r.Below, r.BelowEnds = ended/ns*1e9, ended
	}
	r.MeanInFlight = l.sumN / total
	if r.MeanInFlight > 0 {
		r.Calm = max(0, l.squareN/total-r.MeanInFlight*r.MeanInFlight) / r.MeanInFlight
	}
}

// between is the time at levels from lo to hi, ns, and the completions then.
func (l *Loop) between(lo, hi int) (ns, ended float64) {
	for k := lo; k <= hi; k++ {
		if k < len(l.time) {
			ns += l.time[k]
		}
		if k < len(l.ended) {
			ended += l.ended[k]
		}
	}
	return ns, ended
}

func (r *LoopResult) kind() Kind {
	kept := r.Late <= lateShare && r.Dropped <= lateShare
	scheduled := r.Known > 1-lateShare || !kept
	switch {
	case r.Sends < leastSends:
		return UnknownLoop
	case r.waits() && !kept:
		return CappedLoop
	case scheduled && kept:
		return OpenLoop // it kept a schedule, whatever happened
	case r.Beat:
		return UnknownLoop
	case r.waits():
		return ClosedLoop
	case r.Dropped > lateShare:
		return CappedLoop
	case !math.IsNaN(r.Feedback) && r.Feedback < openFeedback:
		return OpenLoop
	}
	return UnknownLoop
}

// waits reports whether sends depend on completions.
func (r *LoopResult) waits() bool {
	follows := r.FollowSigma > followSigma && r.Follow > 2*r.Before
	return follows && r.Follow > followShare && !r.Beat ||
		r.FeedbackT < feedbackT ||
		r.CeilingShare > ceilingShare && r.Calm < ceilingCalm && follows && !r.Beat
}
