package batch

import (
	"encoding/binary"
	"slices"
)

// appendChunk appends up to chunkLen values in the largest unit that is exact
// for all of them, without signs when none or all of them have one. It
// overwrites v.
func appendChunk(dst []byte, v []uint64) []byte {
	var some, negated uint64
	for _, x := range v {
		some |= x
		negated |= -x
	}
	unit := unitCode(v)
	if unit != 0 {
		divisor := unitOf(unit)
		for i, x := range v {
			v[i] = uint64(int64(x) / divisor)
		}
	}
	sign := byte(signNone)
	switch {
	case some>>63 == 0:
	case negated>>63 == 0:
		sign = signAll
		for i, x := range v {
			v[i] = -x
		}
	default:
		sign = signMixed
		for i, x := range v {
			v[i] = zigzag(int64(x))
		}
	}
	return appendUvarints(append(dst, unit<<signBits|sign), v)
}

// unitCode returns the largest unit that divides every value.
func unitCode(v []uint64) byte {
	code := byte(lastUnit)
	for _, x := range v {
		for code > 0 && int64(x)%unitOf(code) != 0 {
			code--
		}
		if code == 0 {
			break
		}
	}
	return code
}

// chunk reads len(out) values that appendChunk wrote.
func (r *reader) chunk(out []int64) {
	mode := r.byte()
	sign, unit := mode&(1<<signBits-1), mode>>signBits
	if sign > signAll || unit > lastUnit {
		r.fail("unknown mode %d of a column", mode)
		return
	}
	var buf [chunkLen]uint64
	v := buf[:len(out)]
	r.uvarints(v)
	factor := unitOf(unit)
	switch sign {
	case signMixed:
		for i, x := range v {
			out[i] = unzigzag(x) * factor
		}
		return
	case signAll:
		factor = -factor
	}
	for i, x := range v {
		out[i] = int64(x) * factor
	}
}

// chunks reads all of out, chunk by chunk.
func (r *reader) chunks(out []int64) {
	for len(out) > 0 && r.err == nil {
		n := min(chunkLen, len(out))
		r.chunk(out[:n])
		out = out[n:]
	}
}

// appendDeltas appends the differences of successive values.
func appendDeltas(dst []byte, col []int64) []byte {
	var buf [chunkLen]uint64
	prev := int64(0)
	for len(col) > 0 {
		n := min(chunkLen, len(col))
		for i, x := range col[:n] {
			buf[i] = uint64(x - prev)
			prev = x
		}
		dst = appendChunk(dst, buf[:n])
		col = col[n:]
	}
	return dst
}

func (r *reader) deltas(out []int64) {
	r.chunks(out)
	sum := int64(0)
	for i, d := range out {
		sum += d
		out[i] = sum
	}
}

// appendDifferences appends a[i]−b[i].
func appendDifferences(dst []byte, a, b []int64) []byte {
	var buf [chunkLen]uint64
	for from := 0; from < len(a); from += chunkLen {
		x := a[from:min(from+chunkLen, len(a))]
		y := b[from : from+len(x)]
		for i := range x {
			buf[i] = uint64(x[i] - y[i])
		}
		dst = appendChunk(dst, buf[:len(x)])
	}
	return dst
}

// appendOptional appends the values that are not the one that means unknown,
// each against base of the same row, or against the known value before it when
// base is nil.
func appendOptional(dst []byte, col []int64, unknown int64, base []int64) []byte {
	dst, all := appendPresence(dst, col, unknown)
	if all && base != nil {
		return appendDifferences(dst, col, base)
	}
	if all {
		return appendDeltas(dst, col)
	}
	var buf [chunkLen]uint64
	n, prev := 0, int64(0)
	for i, x := range col {
		if x == unknown {
			continue
		}
		if base != nil {
			prev = base[i]
		}
		buf[n] = uint64(x - prev)
		prev = x
		if n++; n == chunkLen {
			dst, n = appendChunk(dst, buf[:]), 0
		}
	}
	if n > 0 {
		dst = appendChunk(dst, buf[:n])
	}
	return dst
}

// optional reads a column that appendOptional wrote.
func (r *reader) optional(out []int64, unknown int64, base []int64) {
	bitmap, known := r.presence(len(out))
	if r.err != nil {
		return
	}
	if base == nil {
		r.deltas(out[:known])
	} else {
		r.chunks(out[:known])
	}
	scatter(out, known, unknown, bitmap)
	if base == nil {
		return
	}
	for i, x := range out {
		if bitmap == nil || isSet(bitmap, i) {
			out[i] = x + base[i]
		}
	}
}

// appendKeys appends the keys that are not zero, eight bytes each.
func appendKeys(dst []byte, col []uint64) []byte {
	dst, _ = appendPresence(dst, col, 0)
	dst = slices.Grow(dst, 8*len(col))
	for _, x := range col {
		if x != 0 {
			dst = binary.LittleEndian.AppendUint64(dst, x)
		}
	}
	return dst
}

func (r *reader) keys(out []uint64) {
	bitmap, known := r.presence(len(out))
	raw := r.bytes(uint64(known) * 8)
	if r.err != nil {
		return
	}
	for i := range known {
		out[i] = binary.LittleEndian.Uint64(raw[8*i:])
	}
	scatter(out, known, 0, bitmap)
}

// appendPresence says which values are known, and whether all are.
func appendPresence[T comparable](dst []byte, col []T, unknown T) ([]byte, bool) {
	if !slices.Contains(col, unknown) {
		return append(dst, everyRow), true
	}
	dst = append(dst, someRows)
	for len(col) > 0 {
		n := min(8, len(col))
		var bits byte
		for i, x := range col[:n] {
			if x != unknown {
				bits |= 1 << i
			}
		}
		dst, col = append(dst, bits), col[n:]
	}
	return dst, false
}

// presence returns the bitmap of known values, nil when all are, and their number.
func (r *reader) presence(n int) (bitmap []byte, known int) {
	switch mode := r.byte(); {
	case r.err != nil:
		return nil, 0
	case mode == everyRow:
		return nil, n
	case mode != someRows:
		r.fail("unknown presence %d of a column", mode)
		return nil, 0
	}
	bitmap = r.bytes(uint64(n+7) / 8)
	if r.err != nil {
		return nil, 0
	}
	for i := range n {
		if isSet(bitmap, i) {
			known++
		}
	}
	return bitmap, known
}

func isSet(bitmap []byte, i int) bool { return bitmap[i/8]>>(i%8)&1 != 0 }

// scatter spreads the first known values of out over the rows that the bitmap
// names, from the back so that it can work in place.
func scatter[T any](out []T, known int, unknown T, bitmap []byte) {
	if bitmap == nil {
		return
	}
	for i := len(out) - 1; i >= 0; i-- {
		if isSet(bitmap, i) {
			known--
			out[i] = out[known]
		} else {
			out[i] = unknown
		}
	}
}
