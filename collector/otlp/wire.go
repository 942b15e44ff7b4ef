package otlp

import (
	"encoding/binary"
	"errors"
)

// Errors of malformed messages.
var (
	errTruncated = errors.New("message is truncated")
	errVarint    = errors.New("integer is too long")
	errWireType  = errors.New("field has a wrong wire type")
	errTag       = errors.New("field has an illegal number")
	errGroup     = errors.New("group is not closed")
	errID        = errors.New("trace or span id has a wrong length")
	errDepth     = errors.New("value is nested too deeply")
)

// Wire types of protobuf.
const (
	wireVarint = 0
	wireI64    = 1
	wireLen    = 2
	wireStart  = 3
	wireEnd    = 4
	wireI32    = 5
)

// reader walks the fields of one message. After next returned true, num and
// wire tell the field, and exactly one of the value methods must be called.
// The first problem is kept in err and ends the walk.
type reader struct {
	b    []byte
	pos  int
	num  int32
	wire uint8
	err  error
}

// next moves to the next field.
func (r *reader) next() bool {
	if r.pos >= len(r.b) || r.err != nil {
		return false
	}
	if c := r.b[r.pos]; c < 0x80 && c >= 8 {
		r.pos++
		r.num, r.wire = int32(c>>3), c&7
		return true
	}
	return r.nextSlow()
}

func (r *reader) nextSlow() bool {
	v := r.uvarint()
	if r.err != nil {
		return false
	}
	r.num, r.wire = int32(v>>3), uint8(v&7)
	if r.num <= 0 {
		r.err = errTag
		return false
	}
	return true
}

// uvarint reads a varint without looking at the wire type.
func (r *reader) uvarint() uint64 {
	var v uint64
	for shift := uint(0); shift < 64; shift += 7 {
		if r.pos >= len(r.b) {
			return r.fail(errTruncated)
		}
		c := r.b[r.pos]
		r.pos++
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
	return r.fail(errVarint)
}

func (r *reader) fail(err error) uint64 {
	if r.err == nil {
		r.err = err
	}
	r.pos = len(r.b)
	return 0
}

// varint reads the value of a varint field.
func (r *reader) varint() uint64 {
	if r.wire != wireVarint {
		return r.fail(errWireType)
	}
	if r.pos < len(r.b) && r.b[r.pos] < 0x80 {
		r.pos++
		return uint64(r.b[r.pos-1])
	}
	return r.uvarint()
}

// fixed64 reads the value of a 64-bit field.
func (r *reader) fixed64() uint64 {
	if r.wire != wireI64 {
		return r.fail(errWireType)
	}
	if len(r.b)-r.pos < 8 {
		return r.fail(errTruncated)
	}
	r.pos += 8
	return binary.LittleEndian.Uint64(r.b[r.pos-8:])
}

// bytes reads the value of a length-delimited field. It aliases the message.
func (r *reader) bytes() []byte {
	if r.wire != wireLen {
		r.fail(errWireType)
		return nil
	}
	var n uint64
	switch b := r.b[r.pos:]; {
	case len(b) > 0 && b[0] < 0x80:
		n = uint64(b[0])
		r.pos++
	case len(b) > 1 && b[1] < 0x80:
		n = uint64(b[0]&0x7f) | uint64(b[1])<<7
		r.pos += 2
	default:
		n = r.uvarint()
	}
	if n > uint64(len(r.b)-r.pos) {
		r.fail(errTruncated)
		return nil
	}
	from := r.pos
	r.pos += int(n)
	return r.b[from:r.pos:r.pos]
}

// skip passes over the value of a field that nobody reads.
func (r *reader) skip() {
	switch r.wire {
	case wireVarint:
		r.uvarint()
	case wireI64:
		r.fixed64()
	case wireLen:
		r.bytes()
	case wireI32:
		if len(r.b)-r.pos < 4 {
			r.fail(errTruncated)
			return
		}
		r.pos += 4
	case wireStart:
		r.skipGroup()
	case wireEnd:
		r.fail(errGroup)
	default:
		r.fail(errWireType)
	}
}

// skipAs is skip for a field whose wire type is known.
func (r *reader) skipAs(wire uint8) {
	if r.wire != wire {
		r.fail(errWireType)
		return
	}
	r.skip()
}

// skipGroup passes over a group, whatever the groups in it are called.
func (r *reader) skipGroup() {
	for depth := 1; depth > 0; {
		if !r.next() {
			r.fail(errGroup)
			return
		}
		switch r.wire {
		case wireStart:
			depth++
		case wireEnd:
			depth--
		default:
			r.skip()
		}
	}
}
