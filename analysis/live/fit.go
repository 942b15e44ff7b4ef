package live

import (
	"math"

	"github.com/plimsoll/plimsoll/analysis/stability"
)

// The candidates are those of package stability: three shapes, m in steps of
// 15 % from 0.5 to four times the highest level.
const (
	shapes   = 3
	plateau  = 0
	gridLow  = 0.5
	gridStep = 1.15
	gridTop  = 4
	gridSize = 160 // to 2·10⁹ in flight
)

// fits holds, for every candidate, B and Σ D·ln g of the occupancies added so
// far. Both are sums over levels, so nested windows are had by adding.
type fits struct {
	m   [gridSize]float64
	b   [shapes][gridSize]float64
	lg  [shapes][gridSize]float64
	n   int     // grid points kept up
	d   float64 // departures
	top float64 // highest level added; 0: nothing
}

// reset starts over, for levels up to top.
func (f *fits) reset(top float64) {
	m := gridLow
	f.n = 0
	for f.n < gridSize {
		f.m[f.n] = m
		for s := range shapes {
			f.b[s][f.n], f.lg[s][f.n] = 0, 0
		}
		f.n++
		if m*gridStep > gridTop*top {
			break
		}
		m *= gridStep
	}
	f.d, f.top = 0, 0
}

// add adds an occupancy.
func (f *fits) add(o *stability.Occupancy) {
	o.Each(func(l int, c stability.Cell) {
		if l == 0 {
			return
		}
		v := stability.Value(l)
		f.top = max(f.top, v)
		f.d += float64(c.Departures)
		f.addLevel(v, float64(c.TimeNS)/1e9, float64(c.Departures))
	})
}

func (f *fits) addLevel(v, t, d float64) {
	ln := math.Log(v)
	for i := range f.n {
		m := f.m[i]
		flat, sum, sq := min(1, v/m), v+m, v*v+m*m
		f.b[0][i] += t * flat
		f.b[1][i] += t * v / sum
		f.b[2][i] += t * v / math.Sqrt(sq)
		if d == 0 {
			continue
		}
		if v < m {
			f.lg[0][i] += d * math.Log(flat)
		}
		f.lg[1][i] += d * (ln - math.Log(sum))
		f.lg[2][i] += d * (ln - 0.5*math.Log(sq))
	}
}

// fit is what one occupancy says against an offered rate.
type fit struct {
	all, flat float64 // twice the log-likelihood ratio, φ not divided out; positive: faster than work comes
	silent    bool    // nothing ended
	empty     bool    // nothing was in flight

	shape       int // the most likely candidate, its m, Ĉ and B
	m, c, busyS float64
}

// against returns what the occupancies added so far say of a rate.
func (f *fits) against(lambda float64) fit {
	r := fit{silent: f.d == 0, empty: f.top == 0}
	if r.empty || r.silent {
		return r
	}
	most, above, under := math.Inf(-1), math.Inf(-1), math.Inf(-1)
	lnD, lnL := math.Log(f.d), math.Log(lambda)
	for s := range shapes {
		for i := range f.n {
			if i > 0 && f.m[i-1]*gridStep > gridTop*f.top {
				break
			}
			b, lg := f.b[s][i], f.lg[s][i]
			if b <= 0 {
				continue
			}
			best := f.d*(lnD-math.Log(b)) + lg - f.d
			bound := f.d*lnL + lg - lambda*b
			if f.d >= lambda*b {
				above, under = max(above, best), max(under, bound)
			} else {
				above, under = max(above, bound), max(under, best)
			}
			if best > most {
				most, r.shape, r.m, r.c, r.busyS = best, s, f.m[i], f.d/b, b
			}
		}
		if s == plateau {
			r.flat = 2 * (above - under)
		}
	}
	r.all = 2 * (above - under)
	return r
}

// speed is g(v/m) of the best candidate.
func (r *fit) speed(v float64) float64 {
	switch x := v / r.m; r.shape {
	case plateau:
		return min(1, x)
	case 1:
		return x / (1 + x)
	default:
		return x / math.Sqrt(1+x*x)
	}
}

// z is the signed root Z = 0.7·Z_A + 0.3·Z_P of a window of s seconds.
func (r *fit) z(lambda, s, phi float64) float64 {
	switch {
	case r.empty:
		return 0
	case r.silent:
		return -math.Sqrt(2 * s * lambda)
	}
	return 0.7*signedRoot(r.all/phi) + 0.3*signedRoot(r.flat/phi)
}

func signedRoot(x float64) float64 {
	if x < 0 {
		return -math.Sqrt(-x)
	}
	return math.Sqrt(x)
}
