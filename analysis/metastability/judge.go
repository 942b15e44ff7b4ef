package metastability

import (
	"fmt"
	"math"
)

// State says what became of the system after the load came back down.
type State string

// States after a push.
const (
	NotTested State = "not_tested"
	Recovered State = "recovered"
	Draining  State = "draining"
	Sustained State = "sustained" // by retries
	Degraded  State = "degraded"  // speed lost, with no more load than was asked for
	Undecided State = "undecided"
)

// Warnings that a result may carry.
const (
	// WarnNoBase says that nothing fine was seen before the push: the end of the
	// watch, where it is healthy, stands in as the base.
	WarnNoBase = "no_base"
	// WarnBaseNotFine says that before the push already over 5 % failed.
	WarnBaseNotFine = "base_not_fine"
	// WarnCapacityBound says that capacity is only known from below.
	WarnCapacityBound = "capacity_lower_bound"
	// WarnShortWatch says that the watch is shorter than 15 s.
	WarnShortWatch = "short_watch"
	// WarnIgnored says that some spans hold no usable numbers.
	WarnIgnored = "ignored_spans"
)

// Constants of what is said where nothing recovered.
const (
	quarter       = 0.25
	amplified     = 1.15
	overCapacity  = 0.97
	fallingZ      = -2.0
	risingZ       = 2.0
	completedLess = 0.97
	boundSure     = 1.2
	boundUnsure   = 0.75
	timeoutsSeen  = 0.03 // of the requests: time-outs hide a backlog
	longestEta    = 20.0 // watches; a fall that takes longer is level
	bestS         = 2.0
	slowAt        = 0.9 // of capacity
)

// Input is a push and its return.
type Input struct {
	Before []Span // the step that was fine, at or below the returned rate; may be empty
	Push   []Span // from the first moment past capacity
	After  []Span // from the start of the returned rate to the last request due, or the horizon
	// Capacity is known from a sweep or declared; 0: unknown. LowerBound says that
	// it is only what the push itself was seen to complete.
	Capacity   float64
	LowerBound bool
	// GoodByFlow says that Span.Good counts good answers when they came, not by
	// the time their requests were due. A rise of in flight within its range then
	// takes that many answers out of a span, which is allowed for.
	GoodByFlow bool
	// Offered is the nominal returned rate, 1/s; 0: it is counted over the watch.
	Offered float64
}

// Signal is a number behind the judgement, over the last quarter of the watch
// unless its name says otherwise.
type Signal struct {
	Name  string
	Value float64
	Unit  string
}

// Result is the judgement of a push. Nil pointers stand for "cannot say".
type Result struct {
	State           State
	RecoveredAfterS *float64 // from the start of the returned rate
	EtaS            *float64 // until the backlog is gone, from the end of the watch
	EtaAtMost       bool     // capacity is only a lower bound, so EtaS is an upper one
	WatchedS        float64
	Base            Base
	Signals         []Signal
	Reason          string // one plain sentence
	Warnings        []string
	Ignored         int // spans without usable numbers
}

// Judge decides what happened after the load came back down.
func Judge(in Input) Result {
	j := judge{before: usable(in.Before), push: usable(in.Push), after: usable(in.After)}
	j.State = NotTested
	j.Base.MedianS = math.NaN()
	j.Ignored = len(in.Before) + len(in.Push) + len(in.After) - len(j.before) - len(j.push) - len(j.after)
	if j.Ignored > 0 {
		j.warn(WarnIgnored)
	}
	j.WatchedS = length(j.after)
	if len(j.push) == 0 || len(j.after) == 0 {
		j.Reason = "no load past capacity was followed by a lower one"
		return j.Result
	}
	if j.WatchedS < 3*spanS {
		j.warn(WarnShortWatch)
	}
	j.State = Undecided
	j.capacity(in.Capacity, in.LowerBound)
	j.measure(in.Offered)
	j.base()
	if in.GoodByFlow {
		j.Base.slack = levelTimes*j.Base.InFlight + levels
	}
	if !j.recovery() {
		j.otherwise()
	}
	j.signals()
	return j.Result
}

// judge is a judgement in the making.
type judge struct {
	Result
	before, push, after []Span
	tail                []Span  // the last quarter of the watch
	sum                 Span    // of the tail
	c                   float64 // capacity, or its lower bound
	known               bool    // c is the capacity itself

	offered, completed      float64 // per second over the tail
	perRequest, perS        float64 // attempts
	endN, slope, slopeZ     float64
	backlog                 float64 // by the books; negative when it must be gone
	falling, rising, enough bool    // enough: completions track the offered rate
}

func (j *judge) warn(code string) { j.Warnings = append(j.Warnings, code) }

// capacity takes what is known, or else the best 2 s of answers as a bound.
func (j *judge) capacity(c float64, bound bool) {
	if c > 0 && !bound {
		j.c, j.known = c, true
		return
	}
	j.c = max(0, c)
	for _, spans := range [][]Span{j.before, j.push, j.after} {
		for i := range spans {
			n, seconds := int64(0), 0.0
			for k := i; k < len(spans) && seconds < bestS-1e-6; k++ {
				n += spans[k].Completed
				seconds += spans[k].seconds()
			}
			if seconds >= bestS-1e-6 {
				j.c = max(j.c, float64(n)/seconds)
			}
		}
	}
	j.warn(WarnCapacityBound)
}

// measure reads the last quarter of the watch and the books since the push.
// The rate of attempts is that of the requests, which does not change and so is
// taken from the schedule or from the whole watch, times the attempts of each: a
// count over a quarter has too much noise to subtract from a capacity.
func (j *judge) measure(nominal float64) {
	start := j.after[len(j.after)-1].ToS - quarter*j.WatchedS
	first := len(j.after) - 1
	for first > 0 && j.after[first-1].FromS >= start-1e-6 {
		first--
	}
	j.tail = j.after[first:]
	j.sum = merge(j.tail)
	seconds := j.sum.seconds()
	j.offered, j.completed = float64(j.sum.Due)/seconds, float64(j.sum.Completed)/seconds
	if nominal <= 0 {
		nominal = float64(merge(j.after).Due) / j.WatchedS
	}
	j.perRequest = 1
	if j.sum.Due > 0 {
		j.perRequest = float64(j.sum.Attempts) / float64(j.sum.Due)
		j.perS = nominal * float64(j.sum.Attempts-j.sum.Refused) / float64(j.sum.Due)
	}
	j.endN, j.slope, j.slopeZ = slope(j.tail)
	change := longestEta * j.WatchedS * math.Abs(j.slope)
	j.falling = j.slopeZ < fallingZ && j.endN > 0 && change > j.endN
	j.rising = j.slopeZ > risingZ && change > j.endN
	due := float64(j.sum.Due)
	j.enough = due-float64(j.sum.Completed) <= max((1-completedLess)*due, 2.6*math.Sqrt(due))
	sent := int64(0)
	for _, spans := range [][]Span{j.push, j.after} {
		for i := range spans {
			sent += spans[i].Attempts - spans[i].Refused
		}
	}
	j.backlog = float64(sent) - j.c*(j.after[len(j.after)-1].ToS-j.push[0].FromS)
}

// base measures the time before the push, or else a healthy end.
func (j *judge) base() {
	if len(j.before) > 0 {
		j.Base = baseOf(j.before)
		if j.Base.Good < 1-goodMore {
			j.warn(WarnBaseNotFine)
		}
		return
	}
	j.warn(WarnNoBase)
	if j.enough && !j.falling && !j.rising && j.sum.share() >= 1-goodMore && j.perRequest <= amplified {
		j.Base = baseOf(j.tail)
	}
}

// recovery reports whether the base holds again, long enough to say so.
func (j *judge) recovery() bool {
	if j.Base.Spans == 0 {
		return false
	}
	at := j.Base.recovered(j.after)
	if at == len(j.after) {
		return false
	}
	end := j.after[len(j.after)-1].ToS
	after, held := j.after[at].FromS-j.after[0].FromS, end-j.after[at].FromS
	hold := max(holdS, holdShare*j.WatchedS)
	if held < hold-1e-6 {
		j.Reason = fmt.Sprintf("back in its range for the last %.3g s only; %.3g s are asked for", held, hold)
		return false
	}
	j.State, j.RecoveredAfterS = Recovered, &after
	j.Reason = fmt.Sprintf("back in the range of before the push after %.3g s, and stayed there for the other %.4g s watched", after, held)
	return true
}

// otherwise says why nothing recovered.
func (j *judge) otherwise() {
	held := j.Reason
	switch {
	case j.perRequest > amplified:
		j.retries()
	case j.known && j.hidden() && j.perS < overCapacity*j.c:
		j.books("time-outs hide the backlog")
	case j.falling:
		j.drains(j.endN/-j.slope, fmt.Sprintf("in flight falls by %.3g/s and is at %.4g", -j.slope, j.endN))
	case held != "":
	case j.hidden() && j.perS < boundUnsure*j.c:
		j.books("time-outs hide the backlog")
	case j.hidden() && !j.known && j.perS < boundSure*j.c:
		j.Reason = "time-outs hide the backlog, if there is one: only the capacity would tell, and it is not known"
	case j.rising:
		j.degraded("in flight still rises")
	case !j.enough:
		j.degraded("in flight does not fall")
	default:
		j.Reason = fmt.Sprintf("%.4g/s of %.4g/s are answered and in flight neither falls nor rises, yet not as before the push",
			j.completed, j.offered)
	}
}

// hidden reports whether time-outs keep a backlog out of sight that the books
// still show.
func (j *judge) hidden() bool {
	return !j.enough && j.backlog > 0 && !j.slow() && float64(j.sum.Timeouts) > timeoutsSeen*float64(j.sum.Due)
}

// unsure is the share of the known capacity, or of its lower bound, up to which
// attempts are surely worked off.
func (j *judge) unsure() float64 {
	if j.known {
		return overCapacity
	}
	return boundUnsure
}

// slow reports whether the server is known to work below its capacity, so that
// the books do not hold: what it answers, whether somebody waits for it or not,
// is counted on its side.
func (j *judge) slow() bool {
	n, ok := j.abandoned()
	return ok && j.known && n+float64(j.sum.Completed) < slowAt*j.c*j.sum.seconds()
}

// retries decides where attempts outnumber requests.
func (j *judge) retries() {
	sure := overCapacity
	if !j.known {
		sure = boundSure
	}
	load := fmt.Sprintf("%.4g attempts/s, %.3g per request", j.perS, j.perRequest)
	switch {
	case j.c > 0 && j.perS >= sure*j.c:
		j.State = Sustained
		j.Reason = fmt.Sprintf("%s, are more than the %.4g/s that it can do: not recovered in the %.4g s watched", load, j.c, j.WatchedS)
	case j.c <= 0 || j.perS >= j.unsure()*j.c:
		j.Reason = load + ": only the capacity would tell whether that is too much, and it is not known"
	case j.backlog > 0 && !j.slow():
		j.books(load)
	case !j.enough:
		j.degraded(load)
	default:
		j.Reason = load + ", and answers keep up, yet not as before the push"
	}
}

// books calls it draining with the time that the books give it.
func (j *judge) books(why string) {
	j.drains(j.backlog/(j.c-j.perS), fmt.Sprintf("%s; by the books %.4g attempts are still to be worked off", why, j.backlog))
	j.EtaAtMost = !j.known
}

func (j *judge) drains(eta float64, why string) {
	j.State, j.EtaS = Draining, &eta
	j.Reason = fmt.Sprintf("%s: about %.3g s more", why, eta)
}

func (j *judge) degraded(why string) {
	j.State = Degraded
	j.Reason = fmt.Sprintf("%s, and %.4g/s of %.4g/s are answered: not recovered in the %.4g s watched", why, j.completed, j.offered, j.WatchedS)
}
