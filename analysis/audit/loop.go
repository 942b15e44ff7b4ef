package audit

import (
	"math"

	"github.com/plimsoll/plimsoll/analysis/stability"
)

// Kind is how a generator decides when to send.
type Kind uint8

// Kinds of loop.
const (
	UnknownLoop Kind = iota
	OpenLoop         // sends do not wait for completions
	ClosedLoop       // a population sends again after each answer
	CappedLoop       // a schedule that ran out of workers
)

// String returns the name of the kind in the API.
func (k Kind) String() string {
	switch k {
	case OpenLoop:
		return "open"
	case ClosedLoop:
		return "closed"
	case CappedLoop:
		return "capped"
	default:
		return "unknown"
	}
}

const (
	leastSends   = 100
	near         = 0.02 // mean gaps within which a send follows a completion
	followShare  = 0.5
	followSigma  = 6
	feedbackT    = -6
	ceilingShare = 0.8
	ceilingCalm  = 0.2
	lateLimit    = 5e6  // ns
	lateShare    = 0.01 // of sends, or of arrivals dropped: the schedule was not kept
	openFeedback = 0.25
	fixedBeat    = 0.05
)

// Loop accumulates sends and completions of one stretch at one rate, in order
// of time; at one instant completions come first. It keeps counters, a fixed
// number of histogram buckets and one entry per level of the number in flight
// (pooled by 3 % above 32).
type Loop struct {
	started     bool
	first, last int64
	n, top      int64 // in flight now and at most

	gaps     moments // between sends
	lastSend int64
	lastEnd  int64
	sends    int64
	ends     int64
	late     int64
	due      int64 // sends whose due time is known
	dropped  int64

	after  lags // from the last completion to a send
	before lags // from a send to the completion that follows it
	pause  lags // from one completion to the next

	time    []float64 // by level, ns
	ended   []float64 // completions, by the level before them
	sumN    float64   // ∫ N dt
	squareN float64   // ∫ N² dt

	early   []loopEvent // the first events, until the width of bins is known
	regress []regression
}

type loopEvent struct {
	at   int64
	n    int64 // in flight before
	send bool
}

// Begin sets the start of the stretch and the number in flight at it. Without
// it the stretch begins empty with its first event.
func (l *Loop) Begin(at, inFlight int64) {
	l.started, l.first, l.last = true, at, at
	l.n, l.top = inFlight, inFlight
	l.lastEnd, l.lastSend = math.MinInt64, math.MinInt64
}

// Send counts a send. due is when the schedule wanted it, or 0 when unknown; a
// due time equal to the send says nothing, since tools without a schedule write
// that too.
func (l *Loop) Send(at, due int64) {
	l.advance(at)
	l.event(loopEvent{at, l.n, true})
	l.sends++
	if due != 0 && due != at {
		l.due++
		if at-due > lateLimit {
			l.late++
		}
	}
	if l.lastSend != math.MinInt64 {
		l.gaps.add(float64(at - l.lastSend))
	}
	if l.lastEnd != math.MinInt64 {
		l.after.add(at - l.lastEnd)
	}
	l.lastSend = at
	l.n++
	l.top = max(l.top, l.n)
}

// End counts a completion, whatever its outcome.
func (l *Loop) End(at int64) {
	l.advance(at)
	l.event(loopEvent{at, l.n, false})
	l.ends++
	k := stability.LevelOf(int(l.n))
	for len(l.ended) <= k {
		l.ended = append(l.ended, 0)
	}
	l.ended[k]++
	if l.lastSend != math.MinInt64 && (l.lastEnd == math.MinInt64 || l.lastSend >= l.lastEnd) {
		l.before.add(at - l.lastSend)
	}
	if l.lastEnd != math.MinInt64 {
		l.pause.add(at - l.lastEnd)
	}
	l.lastEnd = at
	l.n = max(0, l.n-1)
}

// Drop counts arrivals that were due and never sent.
func (l *Loop) Drop(n int64) { l.dropped += n }

func (l *Loop) advance(at int64) {
	if !l.started {
		l.Begin(at, 0)
	}
	dt := float64(at - l.last)
	if dt <= 0 {
		return
	}
	l.last = at
	k := stability.LevelOf(int(l.n))
	for len(l.time) <= k {
		l.time = append(l.time, 0)
	}
	l.time[k] += dt
	n := float64(l.n)
	l.sumN += n * dt
	l.squareN += n * n * dt
}

// event counts into the bins of the regression.
func (l *Loop) event(e loopEvent) {
	if l.regress != nil {
		for i := range l.regress {
			l.regress[i].event(e.at-l.first, e.n, e.send)
		}
		return
	}
	l.early = append(l.early, e)
	if len(l.early) < 2*leastSends || e.at == l.first {
		return
	}
	sends := int64(0)
	for _, x := range l.early {
		if x.send {
			sends++
		}
	}
	gap := (e.at - l.first) / max(1, sends)
	for _, width := range [...]int64{4, 16} {
		l.regress = append(l.regress, regression{width: max(1, width*gap)})
	}
	early := l.early
	l.early = nil
	for _, x := range early {
		l.event(x)
	}
}

// moments are a running mean and sum of squares.
type moments struct{ n, mean, m2 float64 }

func (m *moments) add(x float64) {
	m.n++
	d := x - m.mean
	m.mean += d / m.n
	m.m2 += d * (x - m.mean)
}

func (m *moments) cv() float64 {
	if m.n == 0 || m.mean <= 0 {
		return 0
	}
	return math.Sqrt(m.m2/m.n) / m.mean
}
