package otlp

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// maxNesting bounds how deeply JSON may be nested.
const maxNesting = 64

var (
	errJSON   = errors.New("malformed JSON")
	errNumber = errors.New("not a number of the field's type")
	errHex    = errors.New("not a hexadecimal id")
	errBase64 = errors.New("not base64")
	errMember = errors.New("value has a wrong type")
)

// transcoder writes JSON as protobuf. Lengths are written as padded varints, so
// that nothing has to be moved when a message is complete.
type transcoder struct {
	scanner
	out []byte
}

// transcode appends to dst the protobuf form of a JSON request.
func transcode(dst, body []byte, m *message) ([]byte, error) {
	t := transcoder{scanner: scanner{b: body}, out: dst}
	err := t.fields(m, 0)
	if err == nil {
		if t.space(); t.pos != len(t.b) {
			err = errJSON
		}
	}
	if err != nil {
		return t.out, fmt.Errorf("at byte %d: %w", t.pos, err)
	}
	return t.out, nil
}

// fields transcodes an object.
func (t *transcoder) fields(m *message, depth int) error {
	if depth > maxNesting {
		return errDepth
	}
	return t.object(func(name []byte) error {
		f, known := (*m)[string(name)]
		switch {
		case !known:
			return t.skip(depth)
		case t.null():
			return nil
		case f.repeated:
			return t.array(func() error { return t.field(&f, depth) })
		}
		return t.field(&f, depth)
	})
}

func (t *transcoder) field(f *field, depth int) error {
	switch f.kind {
	case asMessage:
		at := t.open(f.num)
		if err := t.fields(f.message, depth+1); err != nil {
			return err
		}
		t.close(at)
	case asString:
		at := t.open(f.num)
		var err error
		if t.out, err = t.text(t.out); err != nil {
			return err
		}
		t.close(at)
	case asBase64, asHex:
		return t.binary(f)
	case asBool:
		v, err := t.boolean()
		t.varint(f.num, v)
		return err
	case asEnum:
		return t.enum(f)
	case asDouble:
		return t.double(f.num)
	default:
		return t.integer(f)
	}
	return nil
}

func (t *transcoder) tag(num uint32, wire uint8) {
	t.out = binary.AppendUvarint(t.out, uint64(num)<<3|uint64(wire))
}

func (t *transcoder) varint(num uint32, v uint64) {
	t.tag(num, wireVarint)
	t.out = binary.AppendUvarint(t.out, v)
}

// open begins a length-delimited field and returns where its body begins.
func (t *transcoder) open(num uint32) int {
	t.tag(num, wireLen)
	t.out = append(t.out, 0x80, 0x80, 0x80, 0x80, 0)
	return len(t.out)
}

func (t *transcoder) close(at int) {
	n := len(t.out) - at
	for i := range 4 {
		t.out[at-5+i] = byte(n>>(7*i))&0x7f | 0x80
	}
	t.out[at-1] = byte(n >> 28 & 0x7f)
}

// binary transcodes hexadecimal or base64 text in place.
func (t *transcoder) binary(f *field) error {
	at := t.open(f.num)
	out, err := t.text(t.out)
	if err != nil {
		return err
	}
	text := out[at:]
	var n int
	if f.kind == asHex {
		if n, err = hex.Decode(text, text); err != nil {
			return errHex
		}
	} else {
		enc := base64.StdEncoding
		for i, c := range text {
			switch c {
			case '-':
				text[i] = '+'
			case '_':
				text[i] = '/'
			}
		}
		for len(text) > 0 && text[len(text)-1] == '=' {
			text = text[:len(text)-1]
		}
		if n, err = enc.WithPadding(base64.NoPadding).Decode(text, text); err != nil {
			return errBase64
		}
	}
	t.out = out[:at+n]
	t.close(at)
	return nil
}

func (t *transcoder) enum(f *field) error {
	text, quoted, err := t.scalar()
	if err != nil {
		return err
	}
	if v, ok := f.names[string(text)]; ok && quoted {
		t.varint(f.num, v)
		return nil
	}
	v, err := strconv.ParseInt(string(text), 10, 32)
	if err != nil {
		return errNumber
	}
	t.varint(f.num, uint64(v))
	return nil
}

func (t *transcoder) double(num uint32) error {
	text, _, err := t.scalar()
	if err != nil {
		return err
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return errNumber
	}
	t.tag(num, wireI64)
	t.out = binary.LittleEndian.AppendUint64(t.out, math.Float64bits(v))
	return nil
}

// integer transcodes a number, or text with a number, exactly.
func (t *transcoder) integer(f *field) error {
	text, _, err := t.scalar()
	if err != nil {
		return err
	}
	var v uint64
	switch f.kind {
	case asUnsigned, asFixed:
		v, err = strconv.ParseUint(string(text), 10, 64)
	default:
		var signed int64
		signed, err = strconv.ParseInt(string(text), 10, 64)
		v = uint64(signed)
	}
	if err != nil {
		// 1e3 and 1.0 are whole numbers as well.
		d, ferr := strconv.ParseFloat(string(text), 64)
		if ferr != nil || d != math.Trunc(d) || math.Abs(d) > 1<<53 || d < 0 && (f.kind == asUnsigned || f.kind == asFixed) {
			return errNumber
		}
		v = uint64(int64(d))
	}
	switch f.kind {
	case asFixed, asSfixed:
		t.tag(f.num, wireI64)
		t.out = binary.LittleEndian.AppendUint64(t.out, v)
	case asZigzag:
		n := int64(v)
		if n < math.MinInt32 || n > math.MaxInt32 {
			return errNumber
		}
		t.varint(f.num, uint64(n<<1)^uint64(n>>63))
	default:
		t.varint(f.num, v)
	}
	return nil
}
