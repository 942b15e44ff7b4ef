package stability

// Spans is the number of equal stretches that a judged window is cut into: two to
// each twentieth of it, so that blocks of T/20 overlap and the last half has
// twentieths of its own.
const Spans = 40

// WarmUp is the share of a step that is cut off its front before it is judged,
// where no warm-up is declared.
const WarmUp = 0.1

// Span is one of the equal stretches of a window, [from, to).
type Span struct {
	DurationNS int64
	Occupancy  Occupancy
	Arrivals   int64 // by intended time
	Departures int64 // endings of any kind
	IntegralNS int64 // ∫N dt, in request-nanoseconds
}

// Window is a judged stretch of a step at one offered rate, after its warm-up
// has been cut (step 1 of the procedure; N at the cut is known exactly). Span i
// covers [Edge(from, to, i), Edge(from, to, i+1)).
type Window struct {
	Spans [Spans]Span
}

// Edge returns the time at which span i of the window [from, to) begins; Edge
// at i = Spans is to.
func Edge(from, to int64, i int) int64 {
	d := to - from
	return from + d/Spans*int64(i) + d%Spans*int64(i)/Spans
}

// Cut returns where the judged window of a step [from, to) begins: after the
// declared warm-up, or after its first tenth where none is declared.
func Cut(from, to, warmupNS int64) int64 {
	if warmupNS > 0 {
		return min(from+warmupNS, to)
	}
	return from + (to-from)/10
}

// Rate is the offered rate of a window. Known says that it comes from a
// schedule; otherwise arrivals are counted and their noise is added.
type Rate struct {
	PerS  float64
	Known bool
}

// FromPath cuts the path of requests in flight into a window over [from, to).
// Both lists are sorted; arrivals are those of all requests that can be in
// flight in the window, earlier ones included. At equal times arrivals come
// first. It is the plain form of what a streaming fold does.
func FromPath(arrivals, departures []int64, from, to int64) Window {
	var w Window
	a, d, n := 0, 0, 0
	for ; a < len(arrivals) && arrivals[a] < from; a++ {
		n++
	}
	for ; d < len(departures) && departures[d] < from; d++ {
		n--
	}
	now := from
	for i := range w.Spans {
		s := &w.Spans[i]
		end := Edge(from, to, i+1)
		s.DurationNS = end - now
		for {
			at, arrival := end, false
			if d < len(departures) {
				at = min(at, departures[d])
			}
			if a < len(arrivals) && arrivals[a] <= at {
				at, arrival = arrivals[a], true
			}
			at = min(at, end)
			s.Occupancy.Add(LevelOf(n), at-now, 0)
			s.IntegralNS += int64(n) * (at - now)
			now = at
			if at == end {
				break
			}
			if arrival {
				s.Arrivals++
				a++
				n++
				continue
			}
			s.Occupancy.Add(LevelOf(n), 0, 1)
			s.Departures++
			d++
			n--
		}
	}
	return w
}
