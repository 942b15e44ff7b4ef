package live

import "slices"

const (
	second    = int64(1e9)
	tenths    = 10   // cells of a second in which arrivals are counted
	cells     = 1000 // cells of a second in which ends are counted
	behind    = 125  // seconds kept before the last look: a window of 60 s, 60 s to count a rate in, and the looks before it
	exact     = 65   // seconds before the last look whose ends are kept by cell
	ahead     = 3600 // seconds that rows may lie ahead of the horizon
	exactRoom = 512 << 10
)

// block is one second of event time.
type block struct {
	due, left [tenths]int32 // arrivals and ends
	gone      [tenths]int32 // ends that were no answer: the client had waited long enough
	// ends holds the cell of every end, or when dense the number in every cell.
	ends    []uint16
	dense   bool
	coarse  bool // some ends are in left alone, for want of room
	longest int64
	waited  float64 // sum of the response times of the requests that ended, s
	timed   int64   // how many of them there are
	// pending are arrivals known from requests that ended in this second, until
	// the horizon passes it.
	pending []arrivals
}

// arrivals are n requests due in one tenth of a second, counted from the epoch.
type arrivals struct {
	tenth int64
	n     int32
}

func (b *block) dueSum() int64  { return sum(&b.due) }
func (b *block) leftSum() int64 { return sum(&b.left) }

func sum(counts *[tenths]int32) int64 {
	var n int64
	for _, c := range counts {
		n += int64(c)
	}
	return n
}

// end records that a request ended in a cell, and returns the change of memory.
func (b *block) end(cell int, room int) int {
	b.left[cell*tenths/cells]++
	before := cap(b.ends)
	switch {
	case b.coarse:
	case b.dense:
		b.ends[cell]++
	case len(b.ends) < cap(b.ends) || room >= 2*max(8, cap(b.ends)):
		b.ends = append(b.ends, uint16(cell))
		if len(b.ends) == cells/2 {
			counts := make([]uint16, cells)
			for _, c := range b.ends {
				counts[c]++
			}
			b.ends, b.dense = counts, true
		}
	default:
		b.ends, b.coarse = nil, true
	}
	return 2 * (cap(b.ends) - before)
}

// expandEnds writes how many requests ended in each cell.
func (b *block) expandEnds(to *[cells]uint16) {
	*to = [cells]uint16{}
	switch {
	case b.coarse || b.ends == nil:
		expand(&b.left, to)
	case b.dense:
		copy(to[:], b.ends)
	default:
		for _, c := range b.ends {
			to[c]++
		}
	}
}

// expandDue writes how many requests arrived in each cell, spread evenly over
// each tenth: within a second their order does not matter.
func (b *block) expandDue(to *[cells]uint16) {
	*to = [cells]uint16{}
	expand(&b.due, to)
}

func expand(counts *[tenths]int32, to *[cells]uint16) {
	const width = cells / tenths
	for i, c := range counts {
		part := to[i*width : (i+1)*width]
		n := int(c)
		if n <= width {
			for j := range n {
				part[(2*j+1)*width/(2*n)]++
			}
			continue
		}
		for j := range part {
			part[j] = uint16((2*(j+1)*n+width)/(2*width) - (2*j*n+width)/(2*width))
		}
	}
}

// timeline is the seconds of a run that the watch still needs.
type timeline struct {
	base   int64   // second of the first block
	blocks []block // one a second, no gaps
	before int64   // arrivals less ends of all seconds dropped
	kept   int64   // seconds before this one have been dropped
	room   int     // bytes left for ends by cell
}

// at returns the block of a second, or nil when it has been dropped.
func (l *timeline) at(sec int64) *block {
	switch {
	case len(l.blocks) == 0:
		if sec < l.kept {
			return nil
		}
		l.base = sec
		l.blocks = append(l.blocks, block{})
	case sec < l.kept || sec < l.base-ahead:
		return nil
	case sec < l.base:
		l.blocks = slices.Insert(l.blocks, 0, make([]block, l.base-sec)...)
		l.base = sec
	}
	for sec >= l.base+int64(len(l.blocks)) {
		l.blocks = append(l.blocks, block{})
	}
	return &l.blocks[sec-l.base]
}

// peek is at without making a block.
func (l *timeline) peek(sec int64) *block {
	if i := sec - l.base; i >= 0 && i < int64(len(l.blocks)) {
		return &l.blocks[i]
	}
	return nil
}

// arrive adds n requests due in a tenth of a second.
func (l *timeline) arrive(tenth int64, n int32) {
	sec := floorDiv(tenth, tenths)
	if b := l.at(sec); b != nil {
		b.due[tenth-sec*tenths] += n
		return
	}
	l.before += int64(n)
}

// drop forgets what no look from t on needs.
func (l *timeline) drop(t int64) {
	for sec := t - exact - 8; sec < t-exact; sec++ {
		if b := l.peek(sec); b != nil && b.ends != nil {
			l.room += 2 * cap(b.ends)
			b.ends, b.dense, b.coarse = nil, false, true
		}
	}
	l.kept = max(l.kept, t-behind)
	n := min(l.kept-l.base, int64(len(l.blocks)))
	if n <= 0 {
		return
	}
	for i := range n {
		b := &l.blocks[i]
		l.before += b.dueSum() - b.leftSum()
		l.room += 2 * cap(b.ends)
	}
	l.blocks = slices.Delete(l.blocks, 0, int(n))
	l.base += n
}

// sums adds up arrivals and ends of the seconds [from, to).
func (l *timeline) sums(from, to int64) (due, left int64) {
	for sec := max(from, l.base); sec < min(to, l.base+int64(len(l.blocks))); sec++ {
		b := &l.blocks[sec-l.base]
		due += b.dueSum()
		left += b.leftSum()
	}
	return due, left
}

// lost adds up the clients that gave up in the seconds [from, to).
func (l *timeline) lost(from, to int64) (n int64) {
	for sec := max(from, l.base); sec < min(to, l.base+int64(len(l.blocks))); sec++ {
		n += sum(&l.blocks[sec-l.base].gone)
	}
	return n
}

// inFlight returns N at the edge of a second: requests due before it and not
// ended before it.
func (l *timeline) inFlight(t int64) int64 {
	due, left := l.sums(l.base, t)
	return l.before + due - left
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
