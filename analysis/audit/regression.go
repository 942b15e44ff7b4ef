package audit

import "math"

// blockCount bounds the blocks that the standard error of a slope is taken over.
const blockCount = 32

// regression is the ordinary least squares of sends per bin on the number in
// flight at the start of the bin. Its sums are kept in at most 32 blocks of
// equal time, whose scatter gives a standard error that holds where neighbouring
// bins hang together.
type regression struct {
	width  int64
	number int64 // of the open bin
	sends  float64
	start  float64
	span   int64 // bins to a block
	blocks []sums
}

// sums are means and centred sums over bins.
type sums struct{ n, x, y, xx, xy, yy float64 }

func (r *regression) event(offset, inFlight int64, send bool) {
	if k := offset / r.width; k != r.number {
		r.add(r.number, sums{n: 1, x: r.start, y: r.sends})
		// Nothing happened in the bins between.
		r.add(r.number+1, sums{n: float64(k - r.number - 1), x: float64(inFlight)})
		r.number, r.sends, r.start = k, 0, float64(inFlight)
	}
	if send {
		r.sends++
	}
}

// add counts equal bins that begin with the given one.
func (r *regression) add(bin int64, o sums) {
	if o.n <= 0 {
		return
	}
	r.span = max(r.span, 1)
	for bin/r.span >= blockCount {
		half := r.blocks[:0]
		for i := 0; i < len(r.blocks); i += 2 {
			b := r.blocks[i]
			if i+1 < len(r.blocks) {
				b.merge(r.blocks[i+1])
			}
			half = append(half, b)
		}
		r.blocks = half
		r.span *= 2
	}
	k := int(bin / r.span)
	for len(r.blocks) <= k {
		r.blocks = append(r.blocks, sums{})
	}
	r.blocks[k].merge(o)
}

func (s *sums) merge(o sums) {
	n := s.n + o.n
	if n <= 0 {
		return
	}
	dx, dy := o.x-s.x, o.y-s.y
	f := s.n * o.n / n
	s.xx += o.xx + dx*dx*f
	s.xy += o.xy + dx*dy*f
	s.yy += o.yy + dy*dy*f
	s.x += dx * o.n / n
	s.y += dy * o.n / n
	s.n = n
}

// fit is a slope of sends per bin for one more in flight.
type fit struct {
	slope float64
	se    float64 // the larger of the ordinary and the block standard error
	mean  float64 // sends per bin
}

func (r *regression) fit() (f fit, ok bool) {
	var all sums
	for _, b := range r.blocks {
		all.merge(b)
	}
	if all.n < 20 || all.xx <= 0 || all.y <= 0 {
		return f, false
	}
	f.slope, f.mean = all.xy/all.xx, all.y
	rest := max(0, all.yy-f.slope*all.xy)
	f.se = math.Sqrt(rest / (all.n - 2) / all.xx)
	var square, filled float64
	for _, b := range r.blocks {
		if b.n <= 0 {
			continue
		}
		filled++
		dx, dy := b.x-all.x, b.y-all.y
		score := b.xy + b.n*dx*dy - f.slope*(b.xx+b.n*dx*dx)
		square += score * score
	}
	if filled >= 8 {
		f.se = max(f.se, math.Sqrt(square*filled/(filled-1))/all.xx)
	}
	return f, f.se > 0
}
