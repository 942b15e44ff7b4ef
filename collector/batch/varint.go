package batch

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

func zigzag(v int64) uint64   { return uint64(v)<<1 ^ uint64(v>>63) }
func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

const (
	stopBits  = 0x8080808080808080
	maxVarint = binary.MaxVarintLen64
)

// appendUvarints appends the values as varints. Values below 2^56 are written
// by one store each: their groups of seven bits are spread over the bytes of a
// word.
func appendUvarints(dst []byte, values []uint64) []byte {
	dst = slices.Grow(dst, len(values)*maxVarint+8)
	at := len(dst)
	buf := dst[:cap(dst)]
	for _, v := range values {
		if v >= 1<<56 {
			at += binary.PutUvarint(buf[at:], v)
			continue
		}
		n := (bits.Len64(v|1) + 6) / 7
		w := v&0x0fffffff | v&0x00fffffff0000000<<4
		w = w&0x00003fff00003fff | w&0x0fffc0000fffc000<<2
		w = w&0x007f007f007f007f | w&0x3f803f803f803f80<<1
		w |= stopBits & (1<<(8*n-8) - 1)
		binary.LittleEndian.PutUint64(buf[at:], w)
		at += n
	}
	return dst[:at]
}

// uvarints reads len(out) varints into out. It is the inverse of
// appendUvarints and reads a word at a time while it can.
func (r *reader) uvarints(out []uint64) {
	p := r.data
	for i := range out {
		if len(p) >= 8 {
			w := binary.LittleEndian.Uint64(p)
			if stop := ^w & stopBits; stop != 0 {
				n := (bits.TrailingZeros64(stop) + 1) / 8
				w &= stop ^ (stop - 1)
				w = w&0x007f007f007f007f | w&0x7f007f007f007f00>>1
				w = w&0x00003fff00003fff | w&0x3fff00003fff0000>>2
				w = w&0x000000000fffffff | w&0x0fffffff00000000>>4
				out[i], p = w, p[n:]
				continue
			}
		}
		v, n := binary.Uvarint(p)
		if n <= 0 {
			r.data = p
			r.fail("a number is cut short or too long")
			return
		}
		out[i], p = v, p[n:]
	}
	r.data = p
}
