package stability

import "math/bits"

// levelBits sets the pooling of levels: 2^levelBits of them to an octave.
const levelBits = 5

// LevelOf returns the pooled level of n requests in flight. Levels up to 63
// stand for themselves; above, levels are pooled in steps of at most 3.1 %.
func LevelOf(n int) int {
	if n <= 0 {
		return 0
	}
	s := bits.Len(uint(n)) - levelBits - 1
	if s <= 0 {
		return n
	}
	return s<<levelBits + n>>s
}

// Value returns the number in flight that a pooled level stands for: the middle
// of the numbers in it.
func Value(level int) float64 {
	if level < 2<<levelBits {
		return float64(level)
	}
	s := level>>levelBits - 1
	return float64((level-s<<levelBits)<<s) + float64(int(1)<<s-1)/2
}

// Cell is what happened at one pooled level: time spent at it and departures
// that left from it.
type Cell struct {
	TimeNS     int64
	Departures int64
}

// Occupancy is time and departures per pooled level. It is exact, so adding and
// merging in any order give the same. The zero value is empty.
type Occupancy struct {
	base  int    // level of the first cell
	cells []Cell // no gaps; grows at either end
}

// Add counts ns spent at a level and departures that left from it.
func (o *Occupancy) Add(level int, ns, departures int64) {
	if ns == 0 && departures == 0 {
		return
	}
	c := o.cell(level)
	c.TimeNS += ns
	c.Departures += departures
}

// Merge adds all of p.
func (o *Occupancy) Merge(p *Occupancy) {
	for i, c := range p.cells {
		o.Add(p.base+i, c.TimeNS, c.Departures)
	}
}

// Reset empties the occupancy and keeps its memory.
func (o *Occupancy) Reset() { o.base, o.cells = 0, o.cells[:0] }

// Each calls fn for every level in use, lowest first.
func (o *Occupancy) Each(fn func(level int, c Cell)) {
	for i, c := range o.cells {
		if c != (Cell{}) {
			fn(o.base+i, c)
		}
	}
}

// Time returns the time at all levels together, in ns.
func (o *Occupancy) Time() int64 {
	var ns int64
	for _, c := range o.cells {
		ns += c.TimeNS
	}
	return ns
}

// Departures returns the departures from all levels together.
func (o *Occupancy) Departures() int64 {
	var n int64
	for _, c := range o.cells {
		n += c.Departures
	}
	return n
}

// Top returns the highest level in use; 0 when empty.
func (o *Occupancy) Top() int {
	for i := len(o.cells) - 1; i >= 0; i-- {
		if o.cells[i] != (Cell{}) {
			return o.base + i
		}
	}
	return 0
}

// Size returns the memory that the occupancy takes, in bytes.
func (o *Occupancy) Size() int { return 32 + 16*cap(o.cells) }

func (o *Occupancy) cell(level int) *Cell {
	switch {
	case len(o.cells) == 0:
		o.base = level
		o.cells = append(o.cells, Cell{})
	case level < o.base:
		grown := make([]Cell, o.base-level+len(o.cells))
		copy(grown[o.base-level:], o.cells)
		o.base, o.cells = level, grown
	default:
		for level >= o.base+len(o.cells) {
			o.cells = append(o.cells, Cell{})
		}
	}
	return &o.cells[level-o.base]
}
