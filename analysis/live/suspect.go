package live

import "math"

const (
	doubtSpan   = 11  // seconds in which what ended is held against what was offered
	doubtZ      = 3.0 // standard deviations short
	doubtShort  = 0.03
	doubtAge    = 1.5 // times the usual response time of what ends
	ageSpan     = 4   // seconds whose ends are taken as what ends now
	doubtLooks  = 2
	relaxLooks  = 10
	doubtBefore = 60 // seconds before, that tell what is usual
)

// suspicion is what the completions alone say, at the horizon itself.
type suspicion struct {
	on   bool
	over int
	rest int
}

// doubt compares, at the edge, what ended with what was offered, and how old it
// was with what is usual. It returns an event when a suspicion begins.
func (w *Watch) doubt() (Event, bool) {
	e, bad := w.short(w.edge)
	s := &w.suspect
	if bad {
		s.over, s.rest = s.over+1, 0
	} else {
		s.over, s.rest = 0, s.rest+1
	}
	if s.rest >= relaxLooks {
		s.on = false
	}
	if s.on || s.over < doubtLooks {
		return Event{}, false
	}
	s.on = true
	return e, !w.alarm.raised
}

func (w *Watch) short(t int64) (Event, bool) {
	if !w.begun || t-w.start < doubtSpan+leastBase {
		return Event{}, false
	}
	from := t - doubtSpan
	lambda := w.offered(from, t)
	_, left := w.line.sums(from, t)
	want := lambda * doubtSpan
	if want <= 0 {
		return Event{}, false
	}
	base := max(w.start, from-doubtBefore)
	noise := leastSpread
	for _, width := range [3]int64{5, 20, 40} {
		noise = max(noise, w.line.spread(base, from, width, true))
	}
	z := (float64(left) - want) / math.Sqrt(2*max(1, noise)*want)
	if z > -doubtZ || float64(left) > (1-doubtShort)*want || !w.older(t, base) {
		return Event{}, false
	}
	return Event{
		Kind: Suspect, At: t * second, Seen: t * second, WindowS: doubtSpan, Z: z,
		Capacity: float64(left) / doubtSpan, Offered: lambda,
		InFlight: w.line.inFlight(w.looked), Growth: int64(math.Round(want)) - left,
	}, true
}

// offered is the mean rate over [from, to): scheduled, or counted up to where
// arrivals are known.
func (w *Watch) offered(from, to int64) float64 {
	if w.known() {
		var total float64
		for sec := from; sec < to; sec++ {
			total += w.cfg.Rate(sec * second)
		}
		return total / float64(to-from)
	}
	until := from
	if w.cfg.Kind == EndedOnly {
		until = min(from, w.looked)
	}
	since := max(w.start, until-doubtBefore)
	if until-since < leastBase {
		return 0
	}
	due, _ := w.line.sums(since, until)
	return float64(due) / float64(until-since)
}

// older reports that what ends now is older than usual, or that nothing ends.
func (w *Watch) older(t, base int64) bool {
	now, n := w.age(t-ageSpan, t)
	before, m := w.age(base, t-doubtSpan)
	return n == 0 || m == 0 || now > doubtAge*before
}

// age is the mean response time of what ended in [from, to), in seconds.
func (w *Watch) age(from, to int64) (mean float64, n int64) {
	var total float64
	for sec := from; sec < to; sec++ {
		if b := w.line.peek(sec); b != nil {
			total += b.waited
			n += b.timed
		}
	}
	return total / float64(max(n, 1)), n
}
