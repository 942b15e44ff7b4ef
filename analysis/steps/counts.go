package steps

import (
	"math"
	"slices"
)

const (
	second   = int64(1e9)
	mostCell = 1 << 17
)

// Counts accumulates arrivals in cells of a second, of two or more where a run
// is longer than a day and a half. The order of arrivals does not matter.
type Counts struct {
	from, to int64
	width    int64
	cells    []int64
}

// NewCounts returns empty cells over [from, to).
func NewCounts(from, to int64) *Counts {
	c := &Counts{from: from, to: max(from, to), width: second}
	for (c.to-from)/c.width >= mostCell {
		c.width *= 2
	}
	c.cells = make([]int64, (c.to-from+c.width-1)/c.width)
	return c
}

// Add counts n arrivals due at the given time. Others than those within the
// stretch are left out.
func (c *Counts) Add(due, n int64) {
	if due >= c.from && due < c.to {
		c.cells[(due-c.from)/c.width] += n
	}
}

// Spread counts n arrivals evenly over a stretch: drops are known by how many
// there were between two exports. What does not divide evenly goes to the
// earlier cells.
func (c *Counts) Spread(from, to, n int64) {
	from, to = max(from, c.from), min(to, c.to)
	if from >= to || n <= 0 {
		return
	}
	first, last := (from-c.from)/c.width, (to-1-c.from)/c.width
	var done int64
	for i := first; i <= last; i++ {
		end := min(to, c.from+(i+1)*c.width)
		upto := int64(math.Ceil(float64(n) * float64(end-from) / float64(to-from)))
		upto = min(upto, n)
		c.cells[i] += upto - done
		done = upto
	}
}

// series is counts with the seconds that each covers; no seconds: left out.
type series struct {
	y, w []float64
	cum  []total // running sums

	// least is the shortest segment, and the block over which dispersion within
	// segments is taken, in cells.
	least int
}

type total struct{ y, w float64 }

func newSeries(y, w []float64) *series {
	s := &series{y: y, w: w, cum: make([]total, len(y)+1), least: shortest}
	for i := range y {
		s.cum[i+1] = total{s.cum[i].y + y[i], s.cum[i].w + w[i]}
	}
	return s
}

// sum is the arrivals and seconds of cells [i, j).
func (s *series) sum(i, j int) (y, w float64) {
	a, b := s.cum[i], s.cum[j]
	return b.y - a.y, b.w - a.w
}

// series lays the cells out, silences left out unless nothing else remains.
func (c *Counts) series() *series {
	n := len(c.cells)
	y, w := make([]float64, n), make([]float64, n)
	for i, k := range c.cells {
		y[i] = float64(k)
		w[i] = float64(min(c.width, c.to-c.from-int64(i)*c.width)) / 1e9
	}
	whole := newSeries(y, w)
	y, w = slices.Clone(y), slices.Clone(w)
	for _, run := range silences(c.cells, w) {
		for i := max(0, run[0]-1); i < min(n, run[1]+1); i++ {
			y[i], w[i] = 0, 0
		}
	}
	if s := newSeries(y, w); s.cum[n].y > 0 {
		return s
	}
	return whole
}

const (
	silentCount = 20 // arrivals that are missing in a silence at least
	silentShare = 1.0 / 3
)

// silences are runs [from, to) of empty cells in which, by the median of the
// others, twenty arrivals are missing; the last cell may be a short one. More than
// a third of the cells is not a silence but how the load comes.
func silences(cells []int64, seconds []float64) [][2]int {
	var busy []int64
	for _, k := range cells {
		if k > 0 {
			busy = append(busy, k)
		}
	}
	if len(busy) == 0 {
		return nil
	}
	slices.Sort(busy)
	median := busy[len(busy)/2]
	var out [][2]int
	total := 0
	for i := 0; i < len(cells); i++ {
		j, missing := i, 0.0
		for j < len(cells) && cells[j] == 0 {
			missing += float64(median) * seconds[j] / seconds[0]
			j++
		}
		if missing >= silentCount {
			out = append(out, [2]int{i, j})
			total += j - i
		}
		i = max(i, j-1)
	}
	if float64(total) > silentShare*float64(len(cells)) {
		return nil
	}
	return out
}

// coarse adds up k cells at a time.
func (s *series) coarse(k int) *series {
	if k == 1 {
		return s
	}
	n := (len(s.y) + k - 1) / k
	y, w := make([]float64, n), make([]float64, n)
	for i := range s.y {
		y[i/k] += s.y[i]
		w[i/k] += s.w[i]
	}
	return newSeries(y, w)
}
