package live

import "github.com/plimsoll/plimsoll/analysis/stability"

const (
	slots     = 40                 // of 25 ms, in a second; all windows and their fortieths are whole slots
	slotCells = cells / slots      //
	half      = second / cells / 2 // ns; what happens in a cell happens in its middle
)

// visitor is told of time at a level, or of departures from it, in a slot.
type visitor func(slot, level int, ns, departures int64)

// walk follows the number in flight through the seconds [from, to), n at from.
// Slots are counted from from.
func (l *timeline) walk(from, to, n int64, s *scratch, visit visitor) {
	for sec := from; sec < to; sec++ {
		base := int(sec-from) * slots
		b := l.peek(sec)
		if b == nil {
			for i := range slots {
				visit(base+i, level(n), second/slots, 0)
			}
			continue
		}
		b.expandDue(&s.due)
		b.expandEnds(&s.ends)
		for i := range slots {
			n = walkSlot(base+i, n, s.due[i*slotCells:][:slotCells], s.ends[i*slotCells:][:slotCells], visit)
		}
	}
}

func walkSlot(slot int, n int64, due, ends []uint16, visit visitor) int64 {
	var from int64 // half cells
	for i := range due {
		a, d := int64(due[i]), int64(ends[i])
		if a == 0 && d == 0 {
			continue
		}
		at := int64(2*i + 1)
		visit(slot, level(n), (at-from)*half, 0)
		from = at
		leave(slot, n, a, d, visit)
		n += a - d
	}
	visit(slot, level(n), (2*slotCells-from)*half, 0)
	return n
}

// leave reports d departures that share a cell with a arrivals, taken in turns,
// arrivals first. Many at once are taken at their mean level.
func leave(slot int, n, a, d int64, visit visitor) {
	if d > 4 {
		visit(slot, max(1, level(n+(a-d+2)/2)), 0, d)
		return
	}
	for j := range d {
		seen := ((2*j+1)*a + 2*d - 1) / (2 * d)
		// A request that leaves was there: in an empty system its arrival is the
		// one that was spread to a later cell.
		visit(slot, max(1, level(n+seen-j)), 0, 1)
	}
}

func level(n int64) int { return stability.LevelOf(int(n)) }
