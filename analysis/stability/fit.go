package stability

import "math"

// shape is a form of g(x), the share of full speed at x = n/m in flight.
type shape uint8

const (
	plateau    shape = iota // min(1, x): m servers and a queue
	hyperbolic              // x/(1+x): speed that keeps rising, as of batching
	rounded                 // x/√(1+x²): between the two
	shapes
)

func (s shape) at(x float64) float64 {
	switch s {
	case plateau:
		return min(1, x)
	case hyperbolic:
		return x / (1 + x)
	default:
		return x / math.Sqrt(1+x*x)
	}
}

// The grid of m rises by 15 % from half a request, where every shape is close to
// a step, to four times the highest level, where all are straight lines over
// what was seen. Beyond, nothing changes but C, which the data do not bound.
const (
	gridLow  = 0.5
	gridStep = 1.15
	gridTop  = 4
)

// fit is one candidate: full speed Ĉ = d/b at a shape and m, with the part of
// the log-likelihood that does not depend on C.
type fit struct {
	shape shape
	m     float64
	b     float64 // B = Σ T_n·g(n/m), seconds
	lg    float64 // Σ D_n ln g(n/m)
	edge  bool    // m is at the top of the grid
}

// at is ℓ(C, m) for D departures; −∞ at C = 0 unless there are none.
func (f fit) at(c, d float64) float64 {
	if d == 0 {
		return -c * f.b
	}
	return d*math.Log(c) + f.lg - c*f.b
}

func (f fit) capacity(d float64) float64 {
	if f.b == 0 {
		return 0
	}
	return d / f.b
}

// fits holds all candidates for one occupancy.
type fits struct {
	d    float64 // departures from levels above 0
	lost int64   // departures from level 0, which no rate can explain
	all  []fit
}

func fitAll(o *Occupancy) fits {
	type level struct{ n, t, d float64 }
	var (
		fs     fits
		levels []level
	)
	o.Each(func(l int, c Cell) {
		if l == 0 {
			fs.lost += c.Departures
			return
		}
		levels = append(levels, level{Value(l), float64(c.TimeNS) / 1e9, float64(c.Departures)})
		fs.d += float64(c.Departures)
	})
	if len(levels) == 0 {
		return fs
	}
	top := gridTop * levels[len(levels)-1].n
	for m := gridLow; ; m *= gridStep {
		for s := range shapes {
			f := fit{shape: s, m: m, edge: m*gridStep > top}
			for _, l := range levels {
				g := s.at(l.n / m)
				f.b += l.t * g
				if l.d > 0 && g < 1 {
					f.lg += l.d * math.Log(g)
				}
			}
			fs.all = append(fs.all, f)
		}
		if m*gridStep > top {
			return fs
		}
	}
}

// best returns the most likely candidate; false when there is none.
func (fs fits) best() (fit, bool) {
	var best fit
	most, found := math.Inf(-1), false
	for _, f := range fs.all {
		if l := f.at(f.capacity(fs.d), fs.d); !found || l > most {
			best, most, found = f, l, true
		}
	}
	return best, found
}

// ratio is max ℓ over C >= λ less max ℓ over C <= λ, among the plateaus alone or
// among all shapes.
func (fs fits) ratio(lambda float64, plateauOnly bool) float64 {
	above, under := math.Inf(-1), math.Inf(-1)
	for _, f := range fs.all {
		if plateauOnly && f.shape != plateau {
			continue
		}
		c := f.capacity(fs.d)
		above = max(above, f.at(max(c, lambda), fs.d))
		under = max(under, f.at(min(c, lambda), fs.d))
	}
	if math.IsInf(above, 0) || math.IsInf(under, 0) {
		return 0
	}
	return above - under
}

// interval returns the capacities whose profile likelihood is within drop of the
// best; hi is +Inf where the data do not bound it.
func (fs fits) interval(drop float64) (lo, hi float64) {
	b, ok := fs.best()
	if !ok || fs.d == 0 {
		return 0, math.Inf(1)
	}
	most := b.at(b.capacity(fs.d), fs.d)
	lo, hi = math.Inf(1), 0
	for _, f := range fs.all {
		c := f.capacity(fs.d)
		room := drop - (most - f.at(c, fs.d))
		if room < 0 {
			continue
		}
		// D ln(C/Ĉ) − (C − Ĉ)B = −room, with y = C/Ĉ: y − 1 − ln y = room/D.
		lo = min(lo, c*root(room/fs.d, false))
		hi = max(hi, c*root(room/fs.d, true))
		if f.edge {
			hi = math.Inf(1)
		}
	}
	return lo, hi
}

// root solves y − 1 − ln y = a on one side of y = 1, by Newton's method from a
// start beyond the solution, where it converges from one side.
func root(a float64, above bool) float64 {
	if a <= 0 {
		return 1
	}
	y := 1 + a + math.Sqrt(2*a)
	if !above {
		y = math.Exp(-1 - a)
	}
	for range 60 {
		step := (y - 1 - math.Log(y) - a) / (1 - 1/y)
		y -= step
		if math.Abs(step) < 1e-12*y {
			break
		}
	}
	return y
}
