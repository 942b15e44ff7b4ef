package otlp

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"
)

type valueKind uint8

const (
	valueNone valueKind = iota
	valueString
	valueBool
	valueInt
	valueDouble
	valueBytes
	valueArray
	valueMap
)

// value is an AnyValue, not copied.
type value struct {
	kind valueKind
	num  uint64 // of bool, int and double
	raw  []byte // of string and bytes; the encoded message of array and map
}

// merge reads an encoded AnyValue into v; as in protobuf the last member wins.
func (v *value) merge(b []byte) error {
	if n := len(b) - 2; n >= 0 && b[0] == 1<<3|wireLen && int(b[1]) == n && n < 0x80 {
		v.kind, v.raw = valueString, b[2:]
		return nil
	}
	if len(b) > 1 && b[0] == 3<<3|wireVarint {
		if num, n := binary.Uvarint(b[1:]); n == len(b)-1 {
			v.kind, v.num = valueInt, num
			return nil
		}
	}
	r := reader{b: b}
	for r.next() {
		switch r.num {
		case 1:
			v.kind, v.raw = valueString, r.bytes()
		case 2:
			v.kind, v.num = valueBool, r.varint()
		case 3:
			v.kind, v.num = valueInt, r.varint()
		case 4:
			v.kind, v.num = valueDouble, r.fixed64()
		case 5:
			v.kind, v.raw = valueArray, r.bytes()
		case 6:
			v.kind, v.raw = valueMap, r.bytes()
		case 7:
			v.kind, v.raw = valueBytes, r.bytes()
		case 8: // index into a table of strings, which traces and metrics do not have
			v.kind, v.num = valueNone, r.varint()
		default:
			r.skip()
		}
	}
	return r.err
}

// text returns the bytes of a string, or nothing.
func (v *value) text() []byte {
	if v.kind == valueString {
		return v.raw
	}
	return nil
}

// int returns an integer that was sent as such or as decimal text.
func (v *value) int() (int64, bool) {
	switch v.kind {
	case valueInt:
		return int64(v.num), true
	case valueString:
		if len(v.raw) == 0 || len(v.raw) > 20 {
			return 0, false
		}
		n, err := strconv.ParseInt(string(v.raw), 10, 64)
		return n, err == nil
	case valueDouble:
		f := math.Float64frombits(v.num)
		if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return int64(f), true
		}
	}
	return 0, false
}

// float returns a finite number that was sent as such or as decimal text.
func (v *value) float() (float64, bool) {
	f := math.NaN()
	switch v.kind {
	case valueInt:
		f = float64(int64(v.num))
	case valueDouble:
		f = math.Float64frombits(v.num)
	case valueString:
		if len(v.raw) > 0 && len(v.raw) <= 32 {
			if p, err := strconv.ParseFloat(string(v.raw), 64); err == nil {
				f = p
			}
		}
	}
	return f, !math.IsNaN(f) && !math.IsInf(f, 0)
}

// bool returns a boolean that was sent as such or as text.
func (v *value) bool() bool {
	return v.kind == valueBool && v.num != 0 || v.kind == valueString && string(v.raw) == "true"
}

// appendText appends a value of any kind as text, at most limit bytes or so.
func (v *value) appendText(dst []byte, limit int) []byte {
	switch v.kind {
	case valueString:
		return append(dst, v.raw...)
	case valueBool:
		return strconv.AppendBool(dst, v.num != 0)
	case valueInt:
		return strconv.AppendInt(dst, int64(v.num), 10)
	case valueDouble:
		return strconv.AppendFloat(dst, math.Float64frombits(v.num), 'g', -1, 64)
	case valueBytes, valueArray, valueMap:
		// Structured values are rare and only need to be told apart.
		raw := v.raw
		if 2*len(raw) > limit {
			var h [16]byte
			binary.BigEndian.PutUint64(h[:], hashBytes(raw))
			binary.BigEndian.PutUint64(h[8:], uint64(len(raw)))
			raw = h[:]
		}
		return hex.AppendEncode(dst, raw)
	}
	return dst
}

// keyValue is one attribute, not copied.
type keyValue struct {
	key []byte
	val []byte // encoded AnyValue; with more than one, see value
	all []byte // the encoded KeyValue
	// many says that the value was sent in several pieces.
	many bool
}

// parse reads an encoded KeyValue without looking into the value.
func (kv *keyValue) parse(b []byte) error {
	*kv = keyValue{all: b}
	r := reader{b: b}
	for r.next() {
		switch r.num {
		case 1:
			kv.key = r.bytes()
		case 2:
			kv.many = kv.val != nil
			kv.val = r.bytes()
		default:
			r.skip()
		}
	}
	return r.err
}

// value reads the attribute's value.
func (kv *keyValue) value(v *value) error {
	*v = value{}
	if !kv.many {
		return v.merge(kv.val)
	}
	r := reader{b: kv.all}
	for r.next() {
		if r.num != 2 {
			r.skip()
			continue
		}
		if err := v.merge(r.bytes()); err != nil {
			return err
		}
	}
	return r.err
}
