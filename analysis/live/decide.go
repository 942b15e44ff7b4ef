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
	over   int              // looks in a row that are, or may be, at or over the bar
	sure   [raiseLooks]bool // of the last looks, newest first, those that are
	calm   int              // looks in a row under 0.5
	floor  int64            // lowest N before the alarm
	// answered: most of what ended last was answered.
	answered bool
}

// look decides at the edge t. It must be called for every second once.
func (w *Watch) look(t int64) (Event, bool) {
	w.stats.Looks++
	n := w.line.inFlight(t)
	a := &w.alarm
	w.answered(t)
	if !a.raised {
		e, ok := w.persists(t)
		if !ok || !w.grows(t) {
			return Event{}, false
		}
		a.raised, a.calm, a.floor = true, 0, w.lowest(t)
		e.Kind = Raise
		return e, true
	}
	e := w.score(t, n)
	if a.calm++; -e.Z >= calmScore {
		a.calm = 0
	}
	if a.calm < calmLooks || !a.answered {
		return Event{}, false
	}
	fell, span, ok := w.recovered(t, n, e.Offered)
	if !ok {
		return Event{}, false
	}
	a.raised, a.over = false, 0
	e.Kind, e.WindowS, e.Growth = Clear, float64(span), -fell
	return e, true
}

// persists reports whether the last looks, so many as it takes to raise an alarm,
// all reached the bar, with what the one at t saw. Looks are computed only once
// all of them may have reached it, the newest first: in a calm system most never
// are.
func (w *Watch) persists(t int64) (now Event, ok bool) {
	a := &w.alarm
	copy(a.sure[1:], a.sure[:])
	a.sure[0] = false
	if !w.mayMatter(t) {
		a.over = 0
		return now, false
	}
	if a.over++; a.over < raiseLooks {
		return now, false
	}
	bar := barKnown
	if !w.known() {
		bar = barCounted
	}
	for k := range a.sure {
		if a.sure[k] {
			continue
		}
		e := w.score(t-int64(k), w.line.inFlight(t-int64(k)))
		if -e.Z < bar {
			a.over = k
			return now, false
		}
		a.sure[k] = true
		if k == 0 {
			now = e
		}
	}
	a.over = raiseLooks
	return now, true
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
