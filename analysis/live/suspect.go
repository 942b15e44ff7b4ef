package live

import "math"

const (
	ageSpan     = 4 // seconds whose ends are taken as what ends now
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
	base := max(w.start, from-doubtBefore)
	_, left := w.line.sums(from, t)
	c := Completions{
		OfferedPerS: w.offered(from, t), WindowS: doubtSpan, Ended: left,
		AgeS: w.age(t-ageSpan, t), UsualAgeS: w.age(base, from),
	}
	if c.OfferedPerS <= 0 {
		return Event{}, false
	}
	for _, width := range [3]int64{5, 20, 40} {
		c.Dispersion = max(c.Dispersion, w.line.spread(base, from, width, true))
	}
	s, ok := c.Short()
	if !ok {
		return Event{}, false
	}
	return Event{
		Kind: Suspect, At: t * second, Seen: t * second, WindowS: doubtSpan, Z: s.Z,
		Capacity: float64(left) / doubtSpan, Offered: c.OfferedPerS,
		InFlight: w.line.inFlight(w.looked), Growth: int64(math.Round(s.Missing)),
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

// age is the mean response time of what ended in [from, to), in seconds; 0 when
// nothing did.
func (w *Watch) age(from, to int64) float64 {
	var total, n float64
	for sec := from; sec < to; sec++ {
		if b := w.line.peek(sec); b != nil {
			total += b.waited
			n += float64(b.timed)
		}
	}
	return total / max(n, 1)
}
