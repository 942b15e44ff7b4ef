package live

import "github.com/plimsoll/plimsoll/analysis/stability"

const (
	slots     = 40                 // of 25 ms, in a second; all windows and their fortieths are whole slots
	slotCells = cells / slots      //
	half      = second / cells / 2 // ns; what happens in a cell happens in its middle
)

// visitor is told of time at a level, or of departures from it, in a slot.
type visitor func(slot, level int, ns, departures int64)

// path follows the number in flight through seconds.
type path struct {
	line   *timeline
	served bool // clients that gave up lower the number in flight, but are not departures
	visit  visitor
	n      int64
	// What has not been told to the visitor yet: neighbours at one level are told
	// as one.
	level          int
	ns, departures int64
	// Ends so far of this tenth of a second, and how many of all its ends were
	// answers: which ones is not kept, so they are taken evenly.
	seen, left, answered int64
}

// walk goes through the seconds [from, to), n in flight at from. Slots are
// counted from from.
func (p *path) walk(from, to, n int64, s *scratch) {
	p.n = n
	for sec := from; sec < to; sec++ {
		base := int(sec-from) * slots
		b := p.line.peek(sec)
		if b == nil {
			for i := range slots {
				p.spend(base+i, level(p.n), second/slots, 0)
				p.flush(base + i)
			}
			continue
		}
		b.expandDue(&s.due)
		b.expandEnds(&s.ends)
		for i := range slots {
			if i%(slots/tenths) == 0 {
				t := i * tenths / slots
				p.seen, p.left, p.answered = 0, int64(b.left[t]), int64(b.left[t])
				if p.served {
					p.answered -= int64(b.gone[t])
				}
			}
			p.slot(base+i, s.due[i*slotCells:][:slotCells], s.ends[i*slotCells:][:slotCells])
		}
	}
}

func (p *path) slot(slot int, due, ends []uint16) {
	var came, left int64
	for i := range due {
		came, left = came+int64(due[i]), left+int64(ends[i])
	}
	if low := level(p.n - left); low > 0 && low == level(p.n+came) {
		p.spend(slot, low, second/slots, p.answers(left)) // whatever their order
		p.flush(slot)
		p.n += came - left
		return
	}
	var from int64 // half cells
	for i := range due {
		a, d := int64(due[i]), int64(ends[i])
		if a == 0 && d == 0 {
			continue
		}
		at := int64(2*i + 1)
		p.spend(slot, level(p.n), (at-from)*half, 0)
		from = at
		p.leave(slot, a, d)
		p.n += a - d
	}
	p.spend(slot, level(p.n), (2*slotCells-from)*half, 0)
	p.flush(slot)
}

func (p *path) spend(slot, level int, ns, departures int64) {
	if level != p.level {
		p.flush(slot)
		p.level = level
	}
	p.ns += ns
	p.departures += departures
}

func (p *path) flush(slot int) {
	if p.ns != 0 || p.departures != 0 {
		p.visit(slot, p.level, p.ns, p.departures)
		p.ns, p.departures = 0, 0
	}
}

// leave reports d departures that share a cell with a arrivals, taken in turns,
// arrivals first. Many at once are taken at their mean level.
func (p *path) leave(slot int, a, d int64) {
	if d > 4 {
		if k := p.answers(d); k > 0 {
			p.spend(slot, max(1, level(p.n+(a-d+2)/2)), 0, k)
		}
		return
	}
	for j := range d {
		if p.answers(1) == 0 {
			continue
		}
		came := ((2*j+1)*a + 2*d - 1) / (2 * d)
		// A request that leaves was there: in an empty system its arrival is the
		// one that was spread to a later cell.
		p.spend(slot, max(1, level(p.n+came-j)), 0, 1)
	}
}

// answers returns how many of the next d ends are departures.
func (p *path) answers(d int64) int64 {
	if p.answered == p.left {
		return d
	}
	before := p.seen * p.answered / p.left
	p.seen += d
	return p.seen*p.answered/p.left - before
}

func level(n int64) int { return stability.LevelOf(int(n)) }
