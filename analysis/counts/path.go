package counts

import "math"

// gauges reads the gauge at the ends.
func (w *window) gauges(judged []Interval) {
	before := math.NaN()
	if w.cut > 0 {
		before = w.in.Intervals[w.cut-1].InFlight
	}
	w.ends = append(w.ends, before)
	for i := range judged {
		w.ends = append(w.ends, judged[i].InFlight)
	}
}

// clock finds how many seconds of load the counts of each interval hold. A
// generator hands over its samples about once a second, and an export may come
// just before or just after: one interval then holds a second more and the next
// a second less. Where arrivals are paced they tell the time.
func (w *window) clock(judged []Interval) {
	w.held = w.e
	if !w.in.Rate.Paced || w.in.Rate.PerS <= 0 {
		return
	}
	held := make([]float64, len(judged))
	var total, late, most float64
	for i := range judged {
		a := judged[i].Ended + judged[i].Dropped + w.ends[i+1] - w.ends[i]
		if math.IsNaN(a) {
			return
		}
		held[i] = min(max(a/w.in.Rate.PerS, w.e[i]-flushS), w.e[i]+flushS)
		if held[i] < w.e[i]/10 {
			return // shorter than the flushes: nothing can be told
		}
		total += held[i]
		late += held[i] - w.e[i]
		most = max(most, math.Abs(late))
	}
	if most < 3*math.Sqrt(2*w.in.Rate.PerS)/w.in.Rate.PerS || math.Abs(total-w.t) > 1.5*flushS {
		return
	}
	w.uneven = true
	for i := range held {
		held[i] *= w.t / total
	}
	w.held = held
}

// little fills L_i, from the gauge's ends where durations are not known.
func (w *window) little(judged []Interval) {
	ev := w.ev
	var service float64
	for i := range judged {
		l := judged[i].ServiceS / w.held[i]
		if math.IsNaN(l) {
			l = (w.ends[i] + w.ends[i+1]) / 2
		}
		if math.IsNaN(l) {
			l = judged[i].InFlight
		}
		if math.IsNaN(l) {
			l = 0
		}
		ev.InFlight = append(ev.InFlight, l)
		ev.Mean += l * w.e[i] / w.t
		service += judged[i].ServiceS
	}
	if ev.MeanS = service / ev.Ended; math.IsNaN(ev.MeanS) {
		ev.MeanS = 0
	}
}

// levels fills N_k and the offered rate.
func (w *window) levels(judged []Interval) {
	ev := w.ev
	gauge := w.gauge()
	pace := w.paced(judged, gauge)
	k := len(judged)
	switch {
	case pace != nil:
		ev.Level, ev.Path = pace, PathPace
	case gauge != nil:
		ev.Level, ev.Path = gauge, PathGauge
	default:
		ev.Level, ev.Path = make([]float64, k+1), PathLittle
		l := ev.InFlight
		for i := range ev.Level {
			switch i {
			case 0:
				ev.Level[i] = l[0]
			case k:
				ev.Level[i] = l[k-1]
			default:
				ev.Level[i] = (l[i-1] + l[i]) / 2
			}
		}
	}
	ended := make([]float64, k+1)
	due := make([]float64, k+1)
	for i := range ended {
		if i > 0 {
			ended[i] = ended[i-1] + judged[i-1].Ended
		}
		due[i] = ended[i] + w.d[i] + ev.Level[i]
	}
	ev.EndedPerS, ev.Offered = w.slope(ended), max(0, w.slope(due))
	if w.in.whole() {
		t := w.in.Totals()
		seconds := float64(w.in.Intervals[len(w.in.Intervals)-1].To-w.in.From) / nanosPerSecond
		ev.Offered = (t.Ended + t.Dropped) / seconds
		if t.Dropped == 0 { // else workers may still have been added at first
			ev.EndedPerS = t.Ended / seconds
		}
	}
	if w.in.Rate.PerS > 0 {
		ev.Offered = w.in.Rate.PerS
	}
}

// slope is the growth per second of what was counted up to the ends of the
// intervals, between the means over the first and over the last seconds. A
// single export lacks what was not handed over yet, up to a second of load, and
// the last one of a run lacks nothing: between two single ones a rate is off by
// as much.
func (w *window) slope(total []float64) float64 {
	m := 1
	for end := w.e[0]; m < len(total)/4 && end < shortE; m++ {
		end += w.e[m]
	}
	var t, n, at float64
	for i := range total {
		if i > 0 {
			at += w.e[i-1]
		}
		switch {
		case i < m:
			t, n = t-at, n-total[i]
		case i >= len(total)-m:
			t, n = t+at, n+total[i]
		}
	}
	return n / t
}

// gauge returns the sampled levels, gaps bridged by Little's law; nil when less
// than half of them are known or when they count idle workers.
func (w *window) gauge() []float64 {
	known := 0
	out := make([]float64, len(w.ends))
	for i, n := range w.ends {
		if math.IsNaN(n) {
			out[i] = w.ev.InFlight[max(i-1, 0)]
			continue
		}
		out[i] = n
		known++
	}
	if 2*known < len(w.ends) || w.allocated() {
		return nil
	}
	return out
}

// paced returns the levels by exact changes, their height from the gauge, else
// from Little's law; nil when no pace is declared, or when the changes contradict
// the gauge: then exports reached the counters unevenly.
func (w *window) paced(judged []Interval, gauge []float64) []float64 {
	if !w.in.Rate.Paced || w.in.Rate.PerS <= 0 || w.uneven && gauge != nil {
		return nil
	}
	out := make([]float64, len(judged)+1)
	var at, sum, mean float64
	for i := range judged {
		at += w.e[i]
		sum += judged[i].Ended
		out[i+1] = w.in.Rate.PerS*at - w.d[i+1] - sum
	}
	height := w.ev.Mean
	if gauge != nil {
		height = average(gauge)
	}
	mean = average(out)
	for i := range out {
		out[i] = max(0, out[i]-mean+height)
	}
	if gauge != nil && w.disagree(out, gauge) {
		return nil
	}
	return out
}

// disagree compares changes by pace with those by the gauge. A flush is worth
// one second of arrivals, so that a counter read before it in one export and
// after it in the next differs by that much; sampling alone differs by what
// the level moves in two seconds.
func (w *window) disagree(a, b []float64) bool {
	var sq float64
	for i := range a {
		d := a[i] - b[i]
		sq += d * d
	}
	return math.Sqrt(sq/float64(len(a))) > 2*math.Sqrt(2*w.in.Rate.PerS)
}
