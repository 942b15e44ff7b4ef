package importer

import (
	"cmp"
	"math"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

const (
	steadyLeast  = 20
	steadyNear   = 2e6 // ns around the schedule: the resolution of pacers and of times in ms
	steadyWindow = 512 // sends that are held against the rate later on
)

// lookFor is for how much event time the beginning of a file is held, at least, to
// find out how the generator was set up, if enough has come by then.
const lookFor = int64(30e9)

const adviseSchedule = "--schedule 'constant:RATE/s x DURATION' (or ramp:…) tells when each request was due"

// unrated is a group of requests that no rate says the arrivals of: those that
// follow the first one of a user are no arrivals of the schedule.
func unrated(g sample.Group) sample.Group {
	g.Rate, g.Process = 0, ""
	return g
}

// send is when the request with a place in the schedule was sent.
type send struct{ seq, sent int64 }

// steady is the constant rate of arrivals that are numbered. It is found in the
// first sends, and given up when later ones leave it in a way in which a
// generator that is merely late does not.
type steady struct {
	origin float64 // when number 0 was due, ns
	gap    float64 // between arrivals, ns; 0 when no rate is known
	window []send
}

// find returns the rate on whose schedule the sends lie, per second; 0 when there
// is none.
//
// Sends are never early and often on time, so the schedule is the line under
// them: the longest edge of their lower hull. The rate is the roundest whole
// number per second, minute or hour that fits, as people give rates.
func (r *steady) find(sends []send) float64 {
	*r = steady{}
	if len(sends) < steadyLeast {
		return 0
	}
	slices.SortFunc(sends, func(a, b send) int { return cmp.Compare(a.seq, b.seq) })
	var hull []send
	for _, s := range sends {
		for len(hull) >= 2 && under(hull[len(hull)-2], hull[len(hull)-1], s) {
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, s)
	}
	var from, to send
	for i := 1; i < len(hull); i++ {
		if hull[i].seq-hull[i-1].seq > to.seq-from.seq {
			from, to = hull[i-1], hull[i]
		}
	}
	length := float64(to.seq - from.seq)
	gap := float64(to.sent-from.sent) / length
	if length < steadyLeast/2 || !(gap > 0) {
		return 0
	}
	late := lateness(sends, gap)
	near := min(2*(late[len(late)/4]-late[0])+20e3, steadyNear) // of the ends of the edge
	for _, unit := range []float64{1, 60, 3600} {
		whole := roundest(1e9/gap*unit, near/(gap*length))
		if whole < 1 {
			continue
		}
		if o, ok := onSchedule(sends, 1e9*unit/whole); ok {
			r.origin, r.gap = o, 1e9*unit/whole
			return whole / unit
		}
	}
	return 0
}

// left reports, once, that sends have left the rate: they came before they were
// due, or late and yet evenly. Then the arrivals had another rate, or several.
func (r *steady) left(s send) bool {
	if r.gap == 0 {
		return false
	}
	gone := r.origin+float64(s.seq)*r.gap-float64(s.sent) > max(5e6, 0.5*r.gap)
	if !gone {
		if r.window = append(r.window, s); len(r.window) < steadyWindow {
			return false
		}
		gone = r.drifted()
		r.window = r.window[:0]
	}
	if gone {
		*r = steady{}
	}
	return gone
}

// drifted reports whether all sends of the window were late and evenly spaced.
func (r *steady) drifted() bool {
	slices.SortFunc(r.window, func(a, b send) int { return cmp.Compare(a.sent, b.sent) })
	for _, s := range r.window {
		if float64(s.sent)-r.origin-float64(s.seq)*r.gap < max(20e6, 2*r.gap) {
			return false
		}
	}
	var sum, square float64
	for i := 1; i < len(r.window); i++ {
		d := float64(r.window[i].sent - r.window[i-1].sent)
		sum, square = sum+d, square+d*d
	}
	n := float64(len(r.window) - 1)
	mean := sum / n
	return square/n-mean*mean < 0.04*mean*mean
}

// roundest returns the roundest whole number within a share of v, 0 when there is
// none.
func roundest(v, share float64) float64 {
	for step := 1e6; step >= 1; step /= 10 {
		for _, s := range []float64{step, step / 2} {
			if s < 1 {
				s = 1
			}
			if w := math.Round(v/s) * s; w > 0 && math.Abs(w-v) <= share*v {
				return w
			}
		}
	}
	return 0
}

// under reports whether b lies on or above the line from a to c.
func under(a, b, c send) bool {
	return float64(b.sent-a.sent)*float64(c.seq-a.seq) >= float64(c.sent-a.sent)*float64(b.seq-a.seq)
}

// onSchedule reports whether a quarter of the sends was on time, and when number
// 0 was due.
func onSchedule(sends []send, gap float64) (origin float64, ok bool) {
	late := lateness(sends, gap)
	return float64(sends[0].sent) + late[0], late[len(late)/4]-late[0] <= max(steadyNear, 0.1*gap)
}

// lateness returns how far sends lie behind a schedule that begins with the first
// one, ascending.
func lateness(sends []send, gap float64) []float64 {
	late := make([]float64, len(sends))
	for i, s := range sends {
		late[i] = float64(s.sent-sends[0].sent) - float64(s.seq)*gap
	}
	slices.Sort(late)
	return late
}
