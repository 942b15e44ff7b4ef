package live

import (
	"math"

	"github.com/plimsoll/plimsoll/analysis/stability"
)

const (
	longestWindow = 60
	leastGrowth   = 5  // growth of N over a window under which a window is not looked at
	leastBase     = 20 // seconds, in which a rate is counted
	fullBase      = 60
	firstCounted  = 30 // seconds before the first look where the rate is counted
	phiFloor      = 0.1
	lossSpan      = 11   // seconds in which clients that gave up are weighed
	lossShare     = 0.05 // of arrivals, from which on they count as not served
	leastSpread   = 0.05
)

// windows are the lengths of the windows that end at a look, in seconds. Their
// halves are whole half seconds.
func windows() [9]int64 { return [9]int64{4, 6, 8, 11, 16, 22, 31, 43, 60} }

// scratch is the buffers of a look.
type scratch struct {
	due, ends [cells]uint16
	parts     [18]stability.Occupancy // between the edges of windows and halves, latest first
	edges     []int64                 // seconds·2 before t where parts begin, ascending
	fits      fits
	tries     []try
}

// try is one window that is computed.
type try struct {
	w          int64
	growth     int64
	lost       int64
	lambda     float64
	noise      float64 // I_a/s of a counted rate; 0 when the rate is known
	most       float64 // that −Z can come to
	whole      fit
	late       fit
	g          []float64 // speed by level, times Ĉ
	seen, want [40]float64
}

// score measures the windows that end at the edge t and returns the one that
// speaks loudest; Z is 0 when there is none.
func (w *Watch) score(t, n int64) Event {
	e := Event{At: t * second, Seen: w.edge * second, InFlight: n}
	if w.known() {
		e.Offered = w.cfg.Rate(t * second)
	}
	lossy := w.lossy(t)
	w.choose(t, e.Offered, lossy)
	if w.scratch == nil || len(w.scratch.tries) == 0 {
		return e
	}
	w.stats.Scored++
	s := w.scratch
	longest := s.tries[len(s.tries)-1].w
	at := w.line.inFlight(t - longest)
	s.split(longest)
	p := path{line: &w.line, served: lossy, visit: s.intoParts(longest)}
	p.walk(t-longest, t, at, s)
	s.fitAll()
	p.visit = s.intoSpans(longest)
	p.walk(t-longest, t, at, s)
	for i := range s.tries {
		y := &s.tries[i]
		phi := y.phi() + y.noise*y.whole.busyS
		z := y.whole.z(y.lambda, float64(y.w), phi)
		if y.late.z(y.lambda, float64(y.w)/2, phi) <= 0 && z < e.Z {
			e.Z, e.WindowS, e.Offered, e.Capacity = z, float64(y.w), y.lambda, y.whole.c
			e.Growth, e.Lost = y.growth, y.lost
		}
	}
	return e
}

// mayMatter reports whether a window that ends at t may decide something.
func (w *Watch) mayMatter(t int64) bool {
	lambda := 0.0
	if w.known() {
		lambda = w.cfg.Rate(t * second)
	}
	w.choose(t, lambda, w.lossy(t))
	return w.scratch != nil && len(w.scratch.tries) > 0
}

// lossy reports that so many clients give up that time-outs, not the server,
// may be what keeps the number in flight from growing.
func (w *Watch) lossy(t int64) bool {
	due, _ := w.line.sums(t-lossSpan, t)
	return float64(w.line.lost(t-lossSpan, t)) > lossShare*float64(due)
}

// choose lists the windows that are worth computing.
func (w *Watch) choose(t int64, lambda float64, lossy bool) {
	if w.scratch != nil {
		w.scratch.tries = w.scratch.tries[:0]
	}
	if w.known() && lambda <= 0 || !w.known() && t-w.start < firstCounted {
		return
	}
	for _, long := range windows() {
		if t-long < w.start {
			return
		}
		due, left := w.line.sums(t-long, t)
		y := try{w: long, growth: due - left, lambda: lambda}
		if lossy {
			y.lost = w.line.lost(t-long, t)
			y.growth += y.lost
		}
		if y.growth < leastGrowth {
			continue
		}
		if !w.known() {
			var ok bool
			if y.lambda, y.noise, ok = w.count(t, long, due); !ok {
				continue
			}
		}
		if y.most = y.bound(left - y.lost); y.most < w.matters() {
			continue
		}
		if w.scratch == nil {
			w.scratch = &scratch{}
		}
		s := w.scratch
		if len(s.tries) < cap(s.tries) {
			y.g = s.tries[:len(s.tries)+1][len(s.tries)].g
		}
		s.tries = append(s.tries, y)
	}
}

// bound is the most that −Z of the window can come to when so many were served.
// With speeds g ≤ 1 a window of w seconds is busy for B ≤ w of them, and for the
// capacity C* and shape that fit best
//
//	l(C*) − l(λ) = D·ln(C*/λ) + (λ − C*)·B ≤ D·ln(D/(λw)) + λw − D,
//
// to which λ itself is the only rival that has to be allowed. It spares calm
// systems, whose number in flight moves little against √(λw), all further work.
func (y *try) bound(served int64) float64 {
	d, all := float64(served), y.lambda*float64(y.w)
	switch {
	case d >= all:
		return 0
	case d <= 0:
		return math.Sqrt(2 * all / phiFloor)
	}
	return math.Sqrt(2 * (d*math.Log(d/all) + all - d) / phiFloor)
}

// matters is the score under which a look decides nothing.
func (w *Watch) matters() float64 {
	const margin = 0.99 // of rounding
	switch {
	case w.alarm.raised:
		return margin * calmScore
	case w.known():
		return margin * barKnown
	}
	return margin * barCounted
}

// count estimates the offered rate from the time before a window, and from the
// window too when both agree. The noise is I_a/s.
func (w *Watch) count(t, long, due int64) (lambda, noise float64, ok bool) {
	span := min(fullBase, t-long-w.start)
	if span < leastBase {
		return 0, 0, false
	}
	before, _ := w.line.sums(t-long-span, t-long)
	ia := leastSpread
	for _, width := range [3]int64{5, 20, 40} {
		ia = max(ia, w.line.spread(t-long-span, t-long, width, false))
	}
	a, l, b := float64(due), float64(long), float64(span)
	base := float64(before) / b
	if math.Abs(a-base*l) <= 4*math.Sqrt(ia*base*l*(1+l/b)) {
		lambda, noise = (float64(before)+a)/(b+l), ia/(b+l)
	} else {
		lambda, noise = a/l, ia/l
	}
	return lambda, noise, lambda > 0
}

// spread is the variance-to-mean ratio of arrivals or ends, counted in stretches
// of width tenths, over [from, to); 0 when there are none.
func (l *timeline) spread(from, to, width int64, ends bool) float64 {
	var n, total, sq, in float64
	var filled int64
	for sec := from; sec < to; sec++ {
		b := l.peek(sec)
		for i := range tenths {
			switch {
			case b == nil:
			case ends:
				in += float64(b.left[i])
			default:
				in += float64(b.due[i])
			}
			if filled++; filled == width {
				n, total, sq = n+1, total+in, sq+in*in
				in, filled = 0, 0
			}
		}
	}
	if n < 2 || total <= 0 {
		return 0
	}
	mean := total / n
	return (sq - n*mean*mean) / (n - 1) / mean
}

// split sets the edges of the parts: every window that is computed and its half.
func (s *scratch) split(longest int64) {
	s.edges = s.edges[:0]
	for at := int64(1); at <= 2*longest; at++ {
		for i := range s.tries {
			if at == s.tries[i].w || at == 2*s.tries[i].w {
				s.parts[len(s.edges)].Reset()
				s.edges = append(s.edges, at)
				break
			}
		}
	}
}

func (s *scratch) intoParts(longest int64) visitor {
	part := len(s.edges) - 1
	return func(slot, level int, ns, departures int64) {
		for part > 0 && 2*longest-int64(slot)*2/slots <= s.edges[part-1] {
			part--
		}
		s.parts[part].Add(level, ns, departures)
	}
}

// fitAll fits all windows and their halves, shortest first.
func (s *scratch) fitAll() {
	top := 0
	for i := range s.edges {
		top = max(top, s.parts[i].Top())
	}
	s.fits.reset(stability.Value(top))
	for i, at := range s.edges {
		s.fits.add(&s.parts[i])
		for j := range s.tries {
			y := &s.tries[j]
			if at == y.w { // half of it, in half seconds
				y.late = s.fits.against(y.lambda)
			}
			if at == 2*y.w {
				y.whole = s.fits.against(y.lambda)
			}
		}
	}
	for j := range s.tries {
		y := &s.tries[j]
		y.g = y.g[:0]
		for l := range top + 1 {
			g := 0.0
			if l > 0 && y.whole.c > 0 {
				g = y.whole.c * y.whole.speed(stability.Value(l)) / 1e9
			}
			y.g = append(y.g, g)
		}
	}
}

// intoSpans counts departures, and those the fit wants, in fortieths of each
// window.
func (s *scratch) intoSpans(longest int64) visitor {
	return func(slot, level int, ns, departures int64) {
		left := longest*slots - int64(slot)
		for i := len(s.tries) - 1; i >= 0; i-- {
			y := &s.tries[i]
			if left > y.w*slots {
				return
			}
			if level == 0 {
				continue
			}
			span := (y.w*slots - left) / y.w
			y.seen[span] += float64(departures)
			y.want[span] += float64(ns) * y.g[level]
		}
	}
}

// phi is the dispersion of departures about the fitted rate.
func (y *try) phi() float64 {
	return phiFloor + (1-phiFloor)*max(y.runs(len(y.seen)/20), y.runs(len(y.seen)/10))
}

// runs is the variance-to-mean ratio of seen − want over all runs of k spans.
func (y *try) runs(k int) float64 {
	var sq, mean float64
	for i := range len(y.seen) - k + 1 {
		var r, m float64
		for j := i; j < i+k; j++ {
			r += y.seen[j] - y.want[j]
			m += y.want[j]
		}
		sq += r * r
		mean += m
	}
	if mean <= 0 {
		return 0
	}
	return sq / mean
}
