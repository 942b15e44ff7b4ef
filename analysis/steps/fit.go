package steps

import (
	"math"
	"slices"
)

// piece is a segment of cells [from, to) with rate a + b·x, x in cells from the
// middle of the piece.
type piece struct {
	from, to int
	a, b     float64
	line     bool
	dev      float64 // deviance
}

func (p *piece) parameters() float64 {
	if p.line {
		return 2
	}
	return 1
}

// at is the rate at a position in cells, cell i covering [i, i+1).
func (p *piece) at(x float64) float64 {
	return p.a + p.b*(x-float64(p.from+p.to)/2)
}

func deviance(y, mu float64) float64 {
	if y <= 0 {
		return 2 * mu
	}
	return 2 * (y*math.Log(y/mu) - y + mu)
}

// constant fits one rate.
func (s *series) constant(i, j int) piece {
	y, w := s.sum(i, j)
	p := piece{from: i, to: j}
	if w > 0 {
		p.a = y / w
	}
	p.dev = s.deviance(&p)
	return p
}

// deviance is the deviance of the cells from the piece's rate.
func (s *series) deviance(p *piece) float64 {
	var sum float64
	for i := p.from; i < p.to; i++ {
		if s.w[i] > 0 {
			sum += deviance(s.y[i], s.floor(p, i)*s.w[i])
		}
	}
	return sum
}

// floor is the rate of a piece in a cell, kept above zero.
func (s *series) floor(p *piece, i int) float64 {
	return max(p.at(float64(i)+0.5), 0.02*p.a, 1e-9)
}

// straight fits a line by iterated weighted least squares, weights 1/rate.
func (s *series) straight(i, j int) piece {
	p := s.constant(i, j)
	if p.a <= 0 || j-i < 3 {
		return p
	}
	p.line = true
	middle := float64(i+j) / 2
	for range 3 {
		var n, sx, sy, sxx, sxy float64
		for k := i; k < j; k++ {
			w := s.w[k]
			if w <= 0 {
				continue
			}
			g := w / s.floor(&p, k) // of the observed rate y/w: variance rate/w
			x, y := float64(k)+0.5-middle, s.y[k]/w
			n += g
			sx += g * x
			sy += g * y
			sxx += g * x * x
			sxy += g * x * y
		}
		d := n*sxx - sx*sx
		if d <= 0 {
			break
		}
		p.b = (n*sxy - sx*sy) / d
		p.a = (sy - p.b*sx) / n
	}
	p.dev = s.deviance(&p)
	return p
}

// ramp fits a line where it describes the cells better than any one step does,
// and a constant elsewhere.
func (s *series) ramp(i, j int) piece {
	p := s.straight(i, j)
	if !p.line {
		return p
	}
	// −2·Σ Y·ln(rate) differs from the deviance by what all fits share.
	term := func(i, j int) float64 {
		y, w := s.sum(i, j)
		if y <= 0 || w <= 0 {
			return 0
		}
		return -2 * y * math.Log(y/w)
	}
	flat := s.constant(i, j)
	shared := flat.dev - term(i, j)
	for k := i + 1; k < j; k++ {
		if term(i, k)+term(k, j)+shared < p.dev {
			return flat
		}
	}
	return p
}

// dispersion is a robust variance-to-mean ratio of the cells, from differences
// of neighbours: the median of (Yᵢ − Yᵢ₋₁)²/(Yᵢ + Yᵢ₋₁) over that of χ² with one
// degree of freedom. Rounding to whole arrivals bounds it from below.
func (s *series) dispersion() float64 {
	var ratios, counts []float64
	last := -1
	for i := range s.y {
		if s.w[i] <= 0 {
			continue
		}
		counts = append(counts, s.y[i])
		if last >= 0 && s.y[i]+s.y[last] > 0 {
			a, b := s.y[i]/s.w[i], s.y[last]/s.w[last]
			ratios = append(ratios, (a-b)*(a-b)/(a/s.w[i]+b/s.w[last]))
		}
		last = i
	}
	if len(ratios) == 0 {
		return 1
	}
	slices.Sort(ratios)
	return max(ratios[len(ratios)/2]/0.455, rounding(counts))
}

// rounding is the dispersion of even arrivals, whose counts are off by a part of
// one: 0.3 over a low count.
func rounding(counts []float64) float64 {
	slices.Sort(counts)
	return 0.3 / max(1, counts[len(counts)/10])
}

// within is the dispersion within pieces, with its degrees of freedom: that over
// single cells, or, where blocks scatter by 2σ more than cells do, what bursts of
// that length add up to over a long time. Where cells scatter by half more than
// Poisson arrivals do, blocks are always asked.
func (s *series) within(pieces []piece, least float64) (phi, freedom float64) {
	var cell, cellFree, blocks, blockFree float64
	for i := range pieces {
		p := &pieces[i]
		n := p.to - p.from
		for k := p.from; k < p.to; k++ {
			if mu := s.floor(p, k) * s.w[k]; mu > 0 {
				cell += (s.y[k] - mu) * (s.y[k] - mu) / mu
				cellFree++
			}
		}
		cellFree -= p.parameters()
		m := n / s.least
		for b := range m {
			var y, mu float64
			for k := p.from + b*n/m; k < p.from+(b+1)*n/m; k++ {
				y += s.y[k]
				mu += s.floor(p, k) * s.w[k]
			}
			if mu > 0 {
				blocks += (y - mu) * (y - mu) / mu
				blockFree++
			}
		}
		blockFree -= p.parameters()
	}
	phi, freedom = least, max(1, cellFree)
	if cellFree > 0 {
		phi = max(phi, cell/cellFree)
	}
	if chance := 1 + 2*math.Sqrt(2/max(blockFree, 1)); blockFree > 0 && (phi > bursty || blocks/blockFree > phi*chance) {
		return lasting(phi, max(phi, blocks/blockFree), float64(s.least)), blockFree
	}
	if blockFree <= 0 && cellFree > 0 {
		freedom = 1 // nothing is known about bursts
	}
	return phi, freedom
}

// lasting is the dispersion of counts over a long time, from that over one cell
// and over a block, for a rate whose correlation falls off exponentially with a
// time τ (as that of a Markov-modulated Poisson process does; Cox and Isham,
// Point Processes, 1980):
//
//	φ(t) = φ∅ + A·f(t),  f(t) = 1 − (τ/t)·(1 − e^(−t/τ)),  t in cells.
//
// φ∅ is that of Poisson arrivals. τ is at most two blocks.
func lasting(cell, blocks, block float64) float64 {
	if blocks < 2*cell {
		return blocks
	}
	f := func(t, tau float64) float64 { return 1 + tau/t*math.Expm1(-t/tau) }
	base := min(1, 0.9*cell)
	ratio := (blocks - base) / (cell - base)
	lo, hi := 0.05, 2*block
	for range 40 {
		if tau := (lo + hi) / 2; f(block, tau)/f(1, tau) < ratio {
			lo = tau
		} else {
			hi = tau
		}
	}
	return base + (blocks-base)/f(block, lo)
}
