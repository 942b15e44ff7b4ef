package live

import "unsafe"

// Size returns about how much memory the watch takes, in bytes.
func (w *Watch) Size() int {
	n := int(unsafe.Sizeof(*w)) + cap(w.line.blocks)*int(unsafe.Sizeof(block{}))
	for i := range w.line.blocks {
		b := &w.line.blocks[i]
		n += 2*cap(b.ends) + cap(b.pending)*int(unsafe.Sizeof(arrivals{}))
	}
	if s := w.scratch; s != nil {
		n += int(unsafe.Sizeof(*s)) + cap(s.tries)*int(unsafe.Sizeof(try{}))
		for i := range s.parts {
			n += s.parts[i].Size()
		}
		for i := range s.tries[:cap(s.tries)] {
			n += 8 * cap(s.tries[:cap(s.tries)][i].g)
		}
	}
	return n
}
