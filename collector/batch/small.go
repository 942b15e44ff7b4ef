package batch

import (
	"encoding/binary"
)

// small is the type of a column that usually holds few different values.
type small interface {
	~uint8 | ~uint16 | ~int16
}

const maxDictionary = 16

// dictionary holds the different values of a column in order of appearance.
type dictionary struct {
	values [maxDictionary]uint16
	n      int
	slots  [4 * maxDictionary]uint8 // by hash of a value, its place plus one
}

// index returns the place of v, adding it while there is room, or −1.
func (d *dictionary) index(v uint16) int {
	for h := v * 0x9e37 >> 10; ; h++ {
		slot := &d.slots[int(h)%len(d.slots)]
		switch {
		case *slot == 0 && d.n == maxDictionary:
			return -1
		case *slot == 0:
			d.values[d.n] = v
			d.n++
			*slot = uint8(d.n)
			return d.n - 1
		case d.values[(*slot-1)%maxDictionary] == v:
			return int(*slot - 1)
		}
	}
}

// appendSmall appends a column that is not empty in its smallest form, about.
func appendSmall[T small](dst []byte, col []T) []byte {
	const runBytes = 3 // usual cost of a run
	runs := 1
	for i := 1; i < len(col); i++ {
		if col[i] != col[i-1] {
			runs++
		}
	}
	if runs*runBytes <= len(col)/8 || runs == 1 {
		return appendRuns(dst, col, runs)
	}
	var d dictionary
	for _, v := range col {
		if d.index(uint16(v)) < 0 {
			return appendRaw(dst, col)
		}
	}
	form, width := formPack4, 4
	switch {
	case d.n <= 2:
		form, width = formPack1, 1
	case d.n <= 4:
		form, width = formPack2, 2
	}
	if runs*runBytes <= len(col)*width/8 {
		return appendRuns(dst, col, runs)
	}
	dst = append(dst, byte(form), byte(d.n))
	for _, v := range d.values[:d.n] {
		dst = binary.LittleEndian.AppendUint16(dst, v)
	}
	return appendPacked(dst, col, &d, width)
}

func appendRuns[T small](dst []byte, col []T, runs int) []byte {
	dst = append(dst, formRuns)
	dst = binary.AppendUvarint(dst, uint64(runs))
	from := 0
	for i := 1; i <= len(col); i++ {
		if i < len(col) && col[i] == col[from] {
			continue
		}
		dst = binary.AppendUvarint(dst, uint64(uint16(col[from])))
		dst = binary.AppendUvarint(dst, uint64(i-from))
		from = i
	}
	return dst
}

func appendPacked[T small](dst []byte, col []T, d *dictionary, width int) []byte {
	perByte := 8 / width
	for len(col) > 0 {
		n := min(perByte, len(col))
		var bits byte
		for i, v := range col[:n] {
			bits |= byte(d.index(uint16(v)) << (i * width))
		}
		dst, col = append(dst, bits), col[n:]
	}
	return dst
}

func appendRaw[T small](dst []byte, col []T) []byte {
	var any uint16
	for _, v := range col {
		any |= uint16(v)
	}
	if any < 256 {
		dst = append(dst, formRaw8)
		for _, v := range col {
			dst = append(dst, byte(v))
		}
		return dst
	}
	dst = append(dst, formRaw16)
	for _, v := range col {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(v))
	}
	return dst
}

// readSmall reads a column that appendSmall wrote.
func readSmall[T small](r *reader, out []T) {
	switch form := r.byte(); form {
	case formRuns:
		readRuns(r, out)
	case formPack1, formPack2, formPack4:
		readPacked(r, out, 1<<(form-formPack1))
	case formRaw8:
		for i, v := range r.bytes(uint64(len(out))) {
			out[i] = T(v)
		}
	case formRaw16:
		raw := r.bytes(2 * uint64(len(out)))
		for i := 0; 2*i+1 < len(raw); i++ {
			out[i] = asSmall[T](r, uint64(binary.LittleEndian.Uint16(raw[2*i:])))
		}
	default:
		r.fail("unknown form %d of a column", form)
	}
}

func readRuns[T small](r *reader, out []T) {
	for range r.uvarint() {
		v := asSmall[T](r, r.uvarint())
		n := r.uvarint()
		if r.err != nil {
			return
		}
		if n == 0 || n > uint64(len(out)) {
			r.fail("a run of %d values where %d are left", n, len(out))
			return
		}
		for i := range out[:n] {
			out[i] = v
		}
		out = out[n:]
	}
	if len(out) > 0 {
		r.fail("the runs of a column end %d rows early", len(out))
	}
}

func readPacked[T small](r *reader, out []T, width int) {
	var values [maxDictionary]T
	n := int(r.byte())
	if n > 1<<width {
		r.fail("a dictionary of %d values for %d bits", n, width)
		return
	}
	for i := range n {
		values[i] = asSmall[T](r, uint64(r.uint16()))
	}
	perByte := 8 / width
	raw := r.bytes(uint64(len(out)+perByte-1) / uint64(perByte))
	if r.err != nil {
		return
	}
	mask := byte(1<<width - 1)
	top := byte(0)
	for _, bits := range raw {
		k := min(perByte, len(out))
		for i := range out[:k] {
			index := bits & mask
			out[i] = values[index&(maxDictionary-1)]
			top = max(top, index)
			bits >>= width
		}
		out = out[k:]
	}
	if int(top) >= n {
		r.fail("value %d of a dictionary of %d", top, n)
	}
}

// asSmall narrows v, which must fit the column.
func asSmall[T small](r *reader, v uint64) T {
	t := T(v)
	if v > 1<<16-1 || uint16(t) != uint16(v) {
		r.fail("value %d does not fit its column", v)
	}
	return t
}
