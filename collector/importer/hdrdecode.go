package importer

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// This reads what HdrHistogram writes into its logs: in base64 a cookie, a length
// and a compressed histogram of the same version. Versions 0 and 1, which older
// tools write, keep each count in a word of fixed size; version 2 keeps them as
// zigzag LEB128, and runs of zeros as one negative number.

var errHistogram = errors.New("malformed histogram")

const (
	hdrCookies = 0x1c849300 // and the version in the last byte, word sizes left out
	hdrMost    = 4 << 20    // bytes of a histogram
)

// hdrHistogram is a histogram as it was written: where the bars lie, and the
// counts behind the position.
type hdrHistogram struct {
	version int
	word    int // bytes of a count, in versions 0 and 1
	digits  int64
	lowest  int64
	counts  []byte
}

// hdrBars reads a histogram whose values are in a unit, in seconds, and the sum
// of its values. Values were rounded down, so a bar ends where the next begins.
func hdrBars(text []byte, unit float64) (d *sample.Distribution, sum float64, err error) {
	h, err := hdrOpen(text)
	if err != nil {
		return nil, 0, err
	}
	d = &sample.Distribution{Min: math.NaN(), Max: math.NaN()}
	geometry := h.geometry()
	err = h.each(func(i int64, n uint64) bool {
		from, width, ok := geometry(i)
		if !ok || d.Count+n < n {
			return false
		}
		lo, hi := float64(from)*unit, float64(from+width)*unit
		if last := len(d.Bounds) - 1; last < 0 || d.Bounds[last] != lo {
			d.Bounds, d.Buckets = append(d.Bounds, lo), append(d.Buckets, 0)
		}
		d.Bounds, d.Buckets = append(d.Bounds, hi), append(d.Buckets, n)
		d.Count += n
		sum += float64(n) * (float64(from) + float64(width-1)/2) * unit
		return true
	})
	d.Buckets = append(d.Buckets, 0)
	return d, sum, err
}

// hdrOpen takes off the wrapping and reads the header.
func hdrOpen(text []byte) (*hdrHistogram, error) {
	raw := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(raw, text)
	if err != nil || n < 8 {
		return nil, fmt.Errorf("%w: no base64", errHistogram)
	}
	raw = raw[:n]
	outer := binary.BigEndian.Uint32(raw) &^ 0xf0
	z, err := zlib.NewReader(bytes.NewReader(raw[8:]))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errHistogram, err)
	}
	b, err := io.ReadAll(io.LimitReader(z, hdrMost+1))
	if err != nil || len(b) > hdrMost {
		return nil, fmt.Errorf("%w: %d bytes: %w", errHistogram, len(b), errors.Join(err, z.Close()))
	}
	h := &hdrHistogram{}
	head := 40
	switch outer {
	case hdrCookies + 9:
		head = 32
	case hdrCookies + 2:
		h.version = 1
	case hdrCookies + 4:
		h.version = 2
	default:
		return nil, fmt.Errorf("%w: unknown cookie %#x", errHistogram, outer)
	}
	if len(b) < head {
		return nil, fmt.Errorf("%w: header of %d bytes", errHistogram, len(b))
	}
	h.word = int(binary.BigEndian.Uint32(b) >> 4 & 0xf)
	at := 12
	if h.version == 0 {
		at = 4
	}
	h.digits = int64(binary.BigEndian.Uint32(b[at:]))
	h.lowest = int64(binary.BigEndian.Uint64(b[at+4:]))
	h.counts = b[head:]
	if h.version > 0 {
		length, shift := binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
		if int64(length) > int64(len(h.counts)) || shift != 0 {
			return nil, fmt.Errorf("%w: %d bytes of counts, shifted by %d", errHistogram, length, shift)
		}
		h.counts = h.counts[:length]
	}
	if h.digits < 0 || h.digits > 5 || h.lowest < 1 || h.lowest > 1<<40 || h.version < 2 && h.word != 2 && h.word != 4 && h.word != 8 {
		return nil, fmt.Errorf("%w: %d digits from %d in words of %d bytes", errHistogram, h.digits, h.lowest, h.word)
	}
	return h, nil
}

// geometry returns where the bar of an index begins, and how wide it is.
func (h *hdrHistogram) geometry() func(i int64) (from, width int64, ok bool) {
	single := int64(2)
	for range h.digits {
		single *= 10
	}
	half := int64(1) << max(bits.Len64(uint64(single-1))-1, 0) // of the bars of one magnitude
	lowest := bits.Len64(uint64(h.lowest)) - 1
	return func(i int64) (from, width int64, ok bool) {
		magnitude, place := i/half-1, i%half+half
		if magnitude < 0 {
			magnitude, place = 0, i
		}
		shift := int(magnitude) + lowest
		if bits.Len64(uint64(place+1))+shift > 62 {
			return 0, 0, false
		}
		return place << shift, 1 << shift, true
	}
}

// each calls fn with the index of every count that is not zero.
func (h *hdrHistogram) each(fn func(i int64, n uint64) bool) error {
	i := int64(0)
	for b := h.counts; len(b) > 0; i++ {
		var n int64
		if h.version == 2 {
			v, size := hdrVarint(b)
			if size == 0 {
				return fmt.Errorf("%w: count %d is cut off", errHistogram, i)
			}
			b = b[size:]
			if n = int64(v>>1) ^ -int64(v&1); n < 0 {
				if n < -(1<<31) || i > 1<<31 {
					return fmt.Errorf("%w: %d zeros", errHistogram, -n)
				}
				i -= n + 1
				continue
			}
		} else {
			if len(b) < h.word {
				return fmt.Errorf("%w: count %d is cut off", errHistogram, i)
			}
			for _, c := range b[:h.word] {
				n = n<<8 | int64(c)
			}
			b = b[h.word:]
		}
		if n < 0 || n > 0 && !fn(i, uint64(n)) {
			return fmt.Errorf("%w: %d values in bar %d", errHistogram, n, i)
		}
	}
	return nil
}

// hdrVarint is LEB128 of at most nine bytes, of which the last has eight bits.
func hdrVarint(b []byte) (v uint64, n int) {
	for i := range min(len(b), 9) {
		if i == 8 {
			return v | uint64(b[i])<<56, 9
		}
		v |= uint64(b[i]&0x7f) << (7 * i)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}
