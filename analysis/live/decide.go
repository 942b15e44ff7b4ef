package live

import "math"

const (
	barKnown   = 1.9
	barCounted = 2.3
	raiseLooks = 4
	calmScore  = 0.5
	calmLooks  = 10
	floorSpan  = 10  // seconds before an alarm in which the lowest N is looked for
	floorRoom  = 5   // requests over it that count as back
	fallen     = 1.5 // standard deviations that N must fall by to count as draining
)

// alarm is the state of raise and clear.
type alarm struct {
	raised bool
	over   int   // looks in a row at or over the bar
	calm   int   // looks in a row under 0.5
	floor  int64 // lowest N before the alarm
	// answered: most of what ended last was answered.
	answered bool
}

// look decides at the edge t. It must be called for every second once.
func (w *Watch) look(t int64) (Event, bool) {
	w.stats.Looks++
	n := w.line.inFlight(t)
	e := w.score(t, n)
	a := &w.alarm
	w.answered(t)
	bar := barKnown
	if !w.known() {
		bar = barCounted
	}
	if -e.Z >= bar {
		a.over++
	} else {
		a.over = 0
	}
	if -e.Z < calmScore {
		a.calm++
	} else {
		a.calm = 0
	}
	switch {
	case !a.raised && a.over >= raiseLooks && w.grows(t):
		a.raised, a.calm, a.floor = true, 0, w.lowest(t)
		e.Kind = Raise
		return e, true
	case a.raised && a.calm >= calmLooks && a.answered:
		if fell, span, ok := w.recovered(t, n, e.Offered); ok {
			a.raised, a.over = false, 0
			e.Kind, e.WindowS, e.Growth = Clear, float64(span), -fell
			return e, true
		}
	}
	return Event{}, false
}

// grows reports that no more left in the last second than came.
func (w *Watch) grows(t int64) bool {
	due, left := w.line.sums(t-1, t)
	if w.lossy(t) {
		left -= w.line.lost(t-1, t)
	}
	return due >= left
}

// lowest returns the lowest N in the seconds before an alarm.
func (w *Watch) lowest(t int64) int64 {
	n := w.line.inFlight(t)
	least := n
	for sec := t - 1; sec >= t-floorSpan; sec-- {
		due, left := w.line.sums(sec, sec+1)
		n -= due - left
		least = min(least, n)
	}
	return least
}

// answered keeps up whether what ended last was answered: most of what ended in
// the last ten seconds, or before, when nothing ended in them. Clients that give up
// empty the system too, and that is no recovery.
func (w *Watch) answered(t int64) {
	if _, left := w.line.sums(t-calmLooks, t); left > 0 {
		w.alarm.answered = 2*w.line.lost(t-calmLooks, t) < left
	}
}

// recovered reports whether N is back where it was, or certain to drain, and by
// how much it fell over how many seconds. Only answers count towards the fall.
func (w *Watch) recovered(t, n int64, lambda float64) (fell, span int64, ok bool) {
	back := n <= w.alarm.floor+floorRoom
	for _, long := range [4]int64{4, 11, 22, 43} {
		if t-long < w.start {
			break
		}
		due, left := w.line.sums(t-long, t)
		left -= w.line.lost(t-long, t)
		rate := max(lambda, float64(due)/float64(long), float64(left)/float64(long))
		width := max(1, long/2) // tenths: a twentieth
		noise := max(leastSpread, w.line.spread(t-long, t, width, false)) +
			max(leastSpread, w.line.spread(t-long, t, width, true))
		if fell, span = left-due, long; float64(fell) >= fallen*math.Sqrt(noise*rate*float64(long)) && fell > 0 {
			return fell, span, true
		}
	}
	return fell, span, back
}
