package audit

import "math"

// Process is a kind of arrival process.
type Process uint8

// Arrival processes.
const (
	UnknownProcess Process = iota
	Paced                  // equal gaps
	Jittered               // nearly equal gaps, or paced streams laid over one another
	Poisson                // independent of one another
	Bursty                 // more uneven than Poisson
)

// String returns the name of the process in the API.
func (p Process) String() string {
	switch p {
	case Paced:
		return "constant"
	case Jittered:
		return "jittered"
	case Poisson:
		return "poisson"
	case Bursty:
		return "bursty"
	default:
		return "unknown"
	}
}

const (
	leastGaps  = 100 // gaps that a verdict takes
	windowGaps = 20  // mean gaps in a window of counts
	pacedCV    = 0.2
	jitteredCV = 0.6
	sigmas     = 4
	leastWide  = 10
)

// Arrivals accumulates the arrivals of one stretch at one rate. Feed due times,
// or sends where no due time is known, in ascending order. The zero value is
// ready.
type Arrivals struct {
	first, last int64
	n           int64 // gaps
	mean, m2    float64
	early       []int64 // the first arrivals, until the width of windows is known
	windows     []windows
}

// Add counts an arrival at the given time.
func (a *Arrivals) Add(at int64) {
	if a.n == 0 && len(a.early) == 0 {
		a.first, a.last = at, at
		a.early = append(a.early, at)
		return
	}
	gap := float64(at - a.last)
	a.last = at
	a.n++
	d := gap - a.mean
	a.mean += d / float64(a.n)
	a.m2 += d * (gap - a.mean)
	if a.windows != nil {
		a.count(at)
		return
	}
	if a.early = append(a.early, at); a.n >= leastGaps && a.last > a.first {
		a.open()
	}
}

// scales is how many widths of window are kept: factors of √2 around twenty
// gaps of the first arrivals, 2⁻⁴ to 2⁴.
const scales = 17

// open chooses the widths of the windows and counts the first arrivals.
func (a *Arrivals) open() {
	width := windowGaps * a.mean / 16
	for range scales {
		a.windows = append(a.windows, windows{width: max(1, int64(width))})
		width *= math.Sqrt2
	}
	for _, at := range a.early {
		a.count(at)
	}
	a.early = a.early[:1]
}

func (a *Arrivals) count(at int64) {
	for i := range a.windows {
		a.windows[i].add(at - a.first)
	}
}

// windows counts events in windows of one width.
type windows struct {
	width  int64
	number int64 // of the window that is open
	open   int64 // events in it
	sum    int64 // over closed windows
	square float64
}

func (w *windows) add(offset int64) {
	if n := offset / w.width; n != w.number {
		w.sum += w.open
		w.square += float64(w.open) * float64(w.open)
		w.number, w.open = n, 0
	}
	w.open++
}

// dispersion is variance over mean of the counts of closed windows.
func (w *windows) dispersion() (d float64, n int64) {
	n = w.number // windows 0..number-1 are closed, empty ones included
	if n < 2 || w.sum == 0 {
		return 0, n
	}
	mean := float64(w.sum) / float64(n)
	return (w.square - float64(w.sum)*mean) / float64(n-1) / mean, n
}

// ArrivalsResult says how requests arrive and by what numbers.
type ArrivalsResult struct {
	Process    Process
	N          int64   // gaps
	RatePerS   float64 // of the arrivals; 0 when unknown
	GapCV      float64 // standard deviation over mean of the gaps
	Dispersion float64 // variance over mean of counts in windows of about 20 gaps
	Windows    int64   // such windows
	Wide       float64 // the same in the widest windows of which there are ten, up to 320 gaps: bursts last longer than twenty
}

// Result classifies the arrivals that were added:
//
//	cv < 0.2                                     constant
//	cv < 0.6, at least 4/√n below 1              jittered
//	|cv − 1| ≤ 4/√n, |D − 1| ≤ 4·√(2/(k − 1))    poisson
//	either above                                 bursty
//
// with n gaps, cv = GapCV, D = Dispersion over k windows. A cv between jittered
// and Poisson is jittered if D lies below Poisson: streams that are paced each
// on its own. Fewer than 100 gaps, or all at one instant, are unknown.
func (a *Arrivals) Result() ArrivalsResult {
	r := ArrivalsResult{N: a.n}
	if a.n < 1 || a.mean <= 0 {
		return r
	}
	r.RatePerS = 1e9 / a.mean
	r.GapCV = math.Sqrt(max(0, a.m2/float64(a.n))) / a.mean
	if a.windows == nil {
		return r
	}
	best := math.Inf(1)
	for i := range a.windows {
		w := &a.windows[i]
		if off := math.Abs(math.Log(float64(w.width) / (windowGaps * a.mean))); off < best {
			best = off
			r.Dispersion, r.Windows = w.dispersion()
		}
		if d, n := w.dispersion(); n >= leastWide {
			r.Wide = d
		}
	}
	r.Process = r.classify()
	return r
}

func (r *ArrivalsResult) classify() Process {
	if r.N < leastGaps {
		return UnknownProcess
	}
	noise := sigmas / math.Sqrt(float64(r.N))
	spread := math.Inf(1) // too few windows: no dispersion is out of range
	if r.Windows > 2 {
		spread = sigmas * math.Sqrt(2/float64(r.Windows-1))
	}
	above, below := r.Dispersion > 1+spread, r.Dispersion < 1-spread
	switch {
	case r.GapCV < pacedCV:
		return Paced
	case r.GapCV > 1+noise || above:
		return Bursty
	case r.GapCV < jitteredCV && r.GapCV <= 1-noise:
		return Jittered
	case r.GapCV >= 1-noise && !below:
		return Poisson
	case below:
		return Jittered
	}
	return UnknownProcess
}
