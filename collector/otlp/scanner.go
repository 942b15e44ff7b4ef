package otlp

import (
	"unicode/utf16"
	"unicode/utf8"
)

// scanner reads JSON from memory, one value after another.
type scanner struct {
	b   []byte
	pos int
	buf []byte
}

func (s *scanner) space() {
	for s.pos < len(s.b) {
		switch s.b[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek returns the next byte that is not space, or 0 at the end.
func (s *scanner) peek() byte {
	s.space()
	if s.pos < len(s.b) {
		return s.b[s.pos]
	}
	return 0
}

func (s *scanner) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.pos++
	return true
}

func (s *scanner) word(w string) bool {
	s.space()
	if len(s.b)-s.pos < len(w) || string(s.b[s.pos:s.pos+len(w)]) != w {
		return false
	}
	s.pos += len(w)
	return true
}

func (s *scanner) null() bool { return s.peek() == 'n' && s.word("null") }

// object calls fn at the value of each member.
func (s *scanner) object(fn func(name []byte) error) error {
	if s.null() {
		return nil
	}
	if !s.take('{') {
		return errMember
	}
	if s.take('}') {
		return nil
	}
	for {
		if s.peek() != '"' {
			return errJSON
		}
		name, err := s.text(s.buf[:0])
		if err != nil {
			return err
		}
		s.buf = name
		if !s.take(':') {
			return errJSON
		}
		if err := fn(name); err != nil {
			return err
		}
		if s.take('}') {
			return nil
		}
		if !s.take(',') {
			return errJSON
		}
	}
}

// array calls fn at each element.
func (s *scanner) array(fn func() error) error {
	if !s.take('[') {
		return errMember
	}
	if s.take(']') {
		return nil
	}
	for {
		if err := fn(); err != nil {
			return err
		}
		if s.take(']') {
			return nil
		}
		if !s.take(',') {
			return errJSON
		}
	}
}

// text appends the next value, a string, without its quotes and escapes.
func (s *scanner) text(dst []byte) ([]byte, error) {
	if !s.take('"') {
		return dst, errMember
	}
	for s.pos < len(s.b) {
		from := s.pos
		for s.pos < len(s.b) && s.b[s.pos] != '"' && s.b[s.pos] != '\\' && s.b[s.pos] >= ' ' {
			s.pos++
		}
		dst = append(dst, s.b[from:s.pos]...)
		if s.pos == len(s.b) {
			break
		}
		switch c := s.b[s.pos]; {
		case c == '"':
			s.pos++
			return dst, nil
		case c != '\\' || s.pos+1 == len(s.b):
			return dst, errJSON
		}
		var ok bool
		if dst, ok = s.escape(dst); !ok {
			return dst, errJSON
		}
	}
	return dst, errJSON
}

// escape appends what the escape at the position stands for.
func (s *scanner) escape(dst []byte) ([]byte, bool) {
	c := s.b[s.pos+1]
	s.pos += 2
	switch c {
	case '"', '\\', '/':
		return append(dst, c), true
	case 'b':
		return append(dst, '\b'), true
	case 'f':
		return append(dst, '\f'), true
	case 'n':
		return append(dst, '\n'), true
	case 'r':
		return append(dst, '\r'), true
	case 't':
		return append(dst, '\t'), true
	case 'u':
	default:
		return dst, false
	}
	r, ok := s.hex4()
	if !ok {
		return dst, false
	}
	if utf16.IsSurrogate(r) {
		at := s.pos
		low := rune(utf8.RuneError)
		if at+1 < len(s.b) && s.b[at] == '\\' && s.b[at+1] == 'u' {
			s.pos += 2
			if low, ok = s.hex4(); !ok {
				return dst, false
			}
		}
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			s.pos = at // half a pair; what follows stands for itself
		}
	}
	return utf8.AppendRune(dst, r), true
}

func (s *scanner) hex4() (rune, bool) {
	if len(s.b)-s.pos < 4 {
		return 0, false
	}
	var r rune
	for _, c := range s.b[s.pos : s.pos+4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	s.pos += 4
	return r, true
}

// scalar returns the next value, a number or a string, as text that is valid
// until the next call.
func (s *scanner) scalar() (text []byte, quoted bool, err error) {
	if s.peek() == '"' {
		s.buf, err = s.text(s.buf[:0])
		return s.buf, true, err
	}
	from := s.pos
	for s.pos < len(s.b) {
		switch c := s.b[s.pos]; {
		case '0' <= c && c <= '9', c == '-', c == '+', c == '.', c == 'e', c == 'E':
			s.pos++
			continue
		}
		break
	}
	if s.pos == from {
		return nil, false, errMember
	}
	return s.b[from:s.pos], false, nil
}

func (s *scanner) boolean() (uint64, error) {
	switch {
	case s.word("true"):
		return 1, nil
	case s.word("false"):
		return 0, nil
	}
	return 0, errMember
}

// skip passes over a value of any kind.
func (s *scanner) skip(depth int) error {
	if depth > maxNesting {
		return errDepth
	}
	switch s.peek() {
	case '{':
		return s.object(func([]byte) error { return s.skip(depth + 1) })
	case '[':
		return s.array(func() error { return s.skip(depth + 1) })
	case '"':
		var err error
		s.buf, err = s.text(s.buf[:0])
		return err
	case 't', 'f':
		_, err := s.boolean()
		return err
	case 'n':
		if s.word("null") {
			return nil
		}
		return errJSON
	}
	_, _, err := s.scalar()
	return err
}
