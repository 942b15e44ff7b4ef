package importer

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// errJSON says that a line is not the JSON that was expected.
var errJSON = errors.New("malformed JSON")

// jsonScan reads JSON values one after another from a line, without building
// them. After a method fails all others fail too; err says why.
type jsonScan struct {
	b   []byte
	i   int
	err error
}

func (s *jsonScan) fail() {
	if s.err == nil {
		s.err = fmt.Errorf("%w at column %d", errJSON, s.i+1)
	}
	s.i = len(s.b)
}

// peek returns the next byte that is not space, 0 at the end.
func (s *jsonScan) peek() byte {
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return c
		}
	}
	return 0
}

func (s *jsonScan) take(c byte) bool {
	if s.i < len(s.b) && s.b[s.i] == c || s.peek() == c {
		s.i++
		return true
	}
	s.fail()
	return false
}

// object calls fn for each member; fn must read the value or skip it.
func (s *jsonScan) object(fn func(key []byte)) {
	if !s.take('{') {
		return
	}
	if s.peek() == '}' {
		s.i++
		return
	}
	for s.err == nil {
		key := s.text()
		if !s.take(':') {
			return
		}
		fn(key)
		if s.more('}') {
			return
		}
	}
}

// more reads a comma, or the end of an object or array and returns true.
func (s *jsonScan) more(end byte) bool {
	switch s.peek() {
	case ',':
		s.i++
		return false
	case end:
		s.i++
		return true
	}
	s.fail()
	return true
}

// raw reads a string as it is written, without the quotes.
func (s *jsonScan) raw() (b []byte, escaped bool) {
	if !s.take('"') {
		return nil, false
	}
	start := s.i
	for {
		n := bytes.IndexByte(s.b[s.i:], '"')
		if n < 0 {
			s.fail()
			return nil, false
		}
		part := s.b[s.i : s.i+n]
		s.i += n + 1
		slashes := 0
		for slashes < len(part) && part[len(part)-1-slashes] == '\\' {
			slashes++
		}
		escaped = escaped || slashes > 0 || bytes.IndexByte(part, '\\') >= 0
		if slashes%2 == 0 {
			return s.b[start : s.i-1], escaped
		}
	}
}

// text reads a string.
func (s *jsonScan) text() []byte {
	b, escaped := s.raw()
	if !escaped {
		return b
	}
	return unescape(b)
}

// unescape resolves the escapes of a JSON string; wrong ones stay as they are.
func unescape(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 == len(b) {
			out = append(out, b[i])
			continue
		}
		i++
		switch b[i] {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r := hex4(b[i+1:])
			i += 4
			if utf16.IsSurrogate(r) && i+2 < len(b) && b[i+1] == '\\' && b[i+2] == 'u' {
				r = utf16.DecodeRune(r, hex4(b[i+3:]))
				i += 6
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, b[i])
		}
	}
	return out
}

func hex4(b []byte) rune {
	if len(b) < 4 {
		return utf8.RuneError
	}
	n, err := strconv.ParseUint(string(b[:4]), 16, 32)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}

// number reads a number, also one that stands in quotes.
func (s *jsonScan) number() []byte {
	if s.peek() == '"' {
		b, _ := s.raw()
		return b
	}
	start := s.i
	for s.i < len(s.b) {
		if c := s.b[s.i]; c != '+' && c != '-' && c != '.' && c != 'e' && c != 'E' && (c < '0' || c > '9') {
			break
		}
		s.i++
	}
	if start == s.i {
		s.fail()
		return nil
	}
	return s.b[start:s.i]
}

// float reads a number; null is 0.
func (s *jsonScan) float() float64 {
	if s.peek() == 'n' {
		s.skip()
		return 0
	}
	b := s.number()
	if s.err != nil {
		return 0
	}
	v, err := strconv.ParseFloat(view(b), 64)
	if err != nil {
		s.fail()
	}
	return v
}

// integer reads a number without a fraction; null is 0.
func (s *jsonScan) integer() int64 {
	if s.peek() == 'n' {
		s.skip()
		return 0
	}
	b := s.number()
	if s.err != nil {
		return 0
	}
	v, err := strconv.ParseInt(view(b), 10, 64)
	if err != nil {
		f, ferr := strconv.ParseFloat(view(b), 64)
		if ferr != nil || f != f || f > 1<<62 || f < -1<<62 {
			s.fail()
			return 0
		}
		v = int64(f)
	}
	return v
}

// skip passes over a value.
func (s *jsonScan) skip() {
	depth := 0
	for s.err == nil {
		switch c := s.peek(); c {
		case '"':
			s.raw()
		case '{', '[':
			s.i++
			depth++
			continue
		case '}', ']':
			if depth == 0 {
				s.fail()
				return
			}
			s.i++
			depth--
		case ',', ':':
			if depth == 0 {
				s.fail()
				return
			}
			s.i++
			continue
		case 0:
			s.fail()
			return
		default:
			for s.i < len(s.b) && !delimiter(s.b[s.i]) {
				s.i++
			}
		}
		if depth == 0 {
			return
		}
	}
}

func delimiter(c byte) bool {
	switch c {
	case ',', '}', ']', ' ', '\t', '\n', '\r', ':', '"', '{', '[':
		return true
	}
	return false
}

// end checks that nothing follows.
func (s *jsonScan) end() {
	if s.err == nil && s.peek() != 0 {
		s.fail()
	}
}

// view is b as a string that must not outlive it.
func view(b []byte) string { //nolint:gosec // callers do not keep it
	return unsafe.String(unsafe.SliceData(b), len(b))
}
