package stability

import "math"

// Evidence is everything that is measured on one window.
type Evidence struct {
	Offered    float64 // λ, per second
	Ended      float64 // X, departures per second
	Arrivals   int64
	Departures int64
	WindowS    float64 // T

	Z        float64 // 0.7·ZAll + 0.3·ZPlateau; positive: serves faster than work comes
	ZAll     float64 // over all shapes
	ZPlateau float64 // over min(1, x) alone
	ZLate    float64 // Z of the last half

	GrowthZ    float64 // z of SecondHalf − FirstHalf against the noise of a saturated queue
	FirstHalf  float64 // mean in flight of the first half
	SecondHalf float64
	Mean       float64 // mean in flight

	DispersionIn  float64 // I_a, variance to mean of arrivals in blocks of T/20
	DispersionOut float64 // I_d, of departures

	Dispersion  float64  // φ, the noise of the counted rate included
	Capacity    Interval // C; Hi is +Inf where the window does not bound it
	Utilisation Interval // ρ = λ/C; Lo is 0 where the window does not bound C
	busyS       float64  // B at the best fit
	lost        int64    // departures from an empty system
}

// Interval is a value with the bounds that the data support.
type Interval struct{ Value, Lo, Hi, Confidence float64 }

const (
	blocks        = 20   // of T/20, in which arrivals and departures are dispersed
	allWeight     = 0.7  // of Z_A in Z; the rest is Z_P
	phiFloor      = 0.1  // φ = 0.1 + 0.9·max(V10, V20)
	blockFloor    = 0.05 // least dispersion of blocks
	profileDrop   = 1.92 // half of the 95 % point of χ² with one degree
	profileWeight = 0.95
)

// Evaluate measures a window: steps 2 to 6 of the procedure.
func Evaluate(w *Window, rate Rate) Evidence {
	var (
		e          Evidence
		whole      Occupancy
		late       Occupancy
		integral   float64
		arrivals   [blocks]float64
		departures [blocks]float64
		half       [2]struct{ integral, s float64 }
	)
	for i := range w.Spans {
		s := &w.Spans[i]
		e.Arrivals += s.Arrivals
		e.Departures += s.Departures
		e.WindowS += float64(s.DurationNS) / 1e9
		arrivals[i*blocks/Spans] += float64(s.Arrivals)
		departures[i*blocks/Spans] += float64(s.Departures)
		whole.Merge(&s.Occupancy)
		h := &half[2*i/Spans]
		h.integral += float64(s.IntegralNS) / 1e9
		h.s += float64(s.DurationNS) / 1e9
		if 2*i >= Spans {
			late.Merge(&s.Occupancy)
		}
	}
	integral = half[0].integral + half[1].integral
	if e.WindowS <= 0 {
		return e
	}
	e.Ended = float64(e.Departures) / e.WindowS
	e.Offered = rate.PerS
	if !rate.Known {
		e.Offered = float64(e.Arrivals) / e.WindowS
	}
	e.Mean = integral / e.WindowS
	e.FirstHalf = quotient(half[0].integral, half[0].s)
	e.SecondHalf = quotient(half[1].integral, half[1].s)
	ia := max(dispersion(arrivals[:]), blockFloor)
	id := max(dispersion(departures[:]), blockFloor)
	e.DispersionIn, e.DispersionOut = ia, id
	e.GrowthZ = Halves{
		First: e.FirstHalf, Second: e.SecondHalf, Offered: e.Offered, Ended: e.Ended, WindowS: e.WindowS, IA: ia, ID: id,
	}.growth()
	e.likelihood(w, &whole, &late, rate, ia)
	return e
}

func (e *Evidence) likelihood(w *Window, whole, late *Occupancy, rate Rate, ia float64) {
	fs := fitAll(whole)
	best, ok := fs.best()
	e.lost = fs.lost
	e.Dispersion = 1
	if !ok {
		return // nothing was ever in flight
	}
	e.Dispersion = phi(w.Spans[:], best, best.capacity(fs.d))
	e.busyS = best.b
	noise := 0.0 // of a counted rate
	if !rate.Known {
		noise = ia / e.WindowS
	}
	e.Dispersion += noise * best.b
	e.ZAll, e.ZPlateau, e.Z = e.roots(fs, e.WindowS, e.Dispersion)

	// The last half is judged as a window of its own: what went before must
	// neither excuse it nor pass for its noise.
	half := fitAll(late)
	if last, ok := half.best(); ok {
		p := phi(w.Spans[Spans/2:], last, last.capacity(half.d)) + 2*noise*last.b
		_, _, e.ZLate = e.roots(half, e.WindowS/2, p)
	}

	lo, hi := fs.interval(profileDrop * e.Dispersion)
	e.Capacity = Interval{best.capacity(fs.d), lo, hi, profileWeight}
	if lo > 0 {
		e.Utilisation = Interval{e.Offered / e.Capacity.Value, e.Offered / hi, e.Offered / lo, profileWeight}
	}
}

// roots returns the signed roots over all shapes, over plateaus, and their mix.
// A window of s seconds without any departure is as unstable as its length says.
func (e *Evidence) roots(fs fits, s, phi float64) (all, flat, mix float64) {
	if fs.d == 0 && len(fs.all) > 0 {
		z := -math.Sqrt(2 * s * e.Offered)
		return z, z, z
	}
	all = signedRoot(2 * fs.ratio(e.Offered, false) / phi)
	flat = signedRoot(2 * fs.ratio(e.Offered, true) / phi)
	return all, flat, allWeight*all + (1-allWeight)*flat
}

// phi is the dispersion of departures about the fitted rate, in overlapping
// twentieths and tenths of the spans given.
func phi(spans []Span, f fit, c float64) float64 {
	seen, want := make([]float64, len(spans)), make([]float64, len(spans))
	for i := range spans {
		spans[i].Occupancy.Each(func(l int, cell Cell) {
			if l > 0 {
				seen[i] += float64(cell.Departures)
				want[i] += c * float64(cell.TimeNS) / 1e9 * f.shape.at(Value(l)/f.m)
			}
		})
	}
	return phiFloor + (1-phiFloor)*max(spread(seen, want, len(spans)/20), spread(seen, want, len(spans)/10))
}

// spread is the variance-to-mean ratio of seen − want over all runs of k
// neighbouring spans. The residuals sum to zero over the window, so their mean
// is zero by construction; the constants of the procedure were set without a
// correction for it.
func spread(seen, want []float64, k int) float64 {
	var sq, mean float64
	for i := 0; i+k <= len(seen); i++ {
		var r, m float64
		for j := i; j < i+k; j++ {
			r += seen[j] - want[j]
			m += want[j]
		}
		sq += r * r
		mean += m
	}
	if mean <= 0 {
		return 0
	}
	return sq / mean
}

// dispersion is the variance-to-mean ratio of counts; 1 when nothing was counted.
func dispersion(counts []float64) float64 {
	var sum, sq float64
	for _, c := range counts {
		sum += c
	}
	n := float64(len(counts))
	mean := sum / n
	if mean == 0 {
		return 1
	}
	for _, c := range counts {
		sq += (c - mean) * (c - mean)
	}
	return sq / (n - 1) / mean
}

func signedRoot(x float64) float64 {
	if x < 0 {
		return -math.Sqrt(-x)
	}
	return math.Sqrt(x)
}

func quotient(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
