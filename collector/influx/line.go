package influx

import (
	"bytes"
	"errors"
	"strings"
)

// maxLine bounds one line in bytes.
const maxLine = 64 << 10

// Problems of lines, in InfluxDB's words where it has them.
var (
	errNoMeasurement = errors.New("missing measurement")
	errNoTagKey      = errors.New("missing tag key")
	errNoTagValue    = errors.New("missing tag value")
	errTagFormat     = errors.New("invalid tag format")
	errNoFields      = errors.New("missing fields")
	errNoFieldKey    = errors.New("missing field key")
	errNoFieldValue  = errors.New("missing field value")
	errNumber        = errors.New("invalid number")
	errBoolean       = errors.New("invalid boolean")
	errQuotes        = errors.New("unbalanced quotes")
	errTime          = errors.New("bad timestamp")
	errTimeRange     = errors.New("time outside range -9223372036854775806 - 9223372036854775806")
	errLong          = errors.New("line is longer than 65536 bytes")
)

// pair is a tag, or a field with its value as it stands in the line. Nothing is
// copied: the bytes are those of the body, or of the line's own memory where
// they were escaped.
type pair struct{ key, value []byte }

// line is one parsed line. Its memory is reused for the next.
type line struct {
	name   []byte
	tags   []pair
	fields []pair
	at     int64 // as sent; in units of the request's precision
	timed  bool
	plain  []byte // unescaped text; never grown while the line is in use
}

// Classes of bytes that end the parts of a line.
const (
	endsName = 1 << iota // comma, space
	endsKey              // comma, space, equals sign
)

// ends holds the classes of all bytes.
type ends [256]uint8

// endsOf returns the classes; each decoder has its own copy, as packages keep no
// state.
func endsOf() *ends {
	e := &ends{}
	e[','] = endsName | endsKey
	e[' '] = endsName | endsKey
	e['='] = endsKey
	e['\\'] = endsName | endsKey
	return e
}

// parse reads one line without its end.
func (l *line) parse(e *ends, s []byte) error {
	l.tags, l.fields, l.plain, l.timed, l.at = l.tags[:0], l.fields[:0], l.plain[:0], false, 0
	if len(s) > maxLine {
		return errLong
	}
	if cap(l.plain) < len(s) && bytes.IndexByte(s, '\\') >= 0 {
		l.plain = make([]byte, 0, max(len(s), 1024)) // unescaping only makes text shorter
	}
	var i int
	l.name, i = l.part(e, s, 0, endsName)
	if len(l.name) == 0 {
		return errNoMeasurement
	}
	for i < len(s) && s[i] == ',' {
		var p pair
		if p.key, i = l.part(e, s, i+1, endsKey); len(p.key) == 0 {
			return errNoTagKey
		}
		if i >= len(s) || s[i] != '=' {
			return errNoTagValue
		}
		if p.value, i = l.part(e, s, i+1, endsKey); len(p.value) == 0 {
			return errNoTagValue
		}
		if i < len(s) && s[i] == '=' {
			return errTagFormat
		}
		l.tags = append(l.tags, p)
	}
	i, err := l.readFields(e, s, skip(s, i))
	if err != nil {
		return err
	}
	return l.readTime(s[skip(s, i):])
}

// skip returns where the spaces at i end.
func skip(s []byte, i int) int {
	for i < len(s) && s[i] == ' ' {
		i++
	}
	return i
}

// part reads up to an unescaped byte of the class and returns it unescaped.
func (l *line) part(e *ends, s []byte, from int, class uint8) ([]byte, int) {
	i := from
	for i < len(s) && e[s[i]]&class == 0 {
		i++
	}
	if i == len(s) || s[i] != '\\' {
		return s[from:i], i
	}
	return l.unescape(e, s, from, i, class)
}

// unescape is part for text with a backslash at i. A backslash before anything
// that needs none stands for itself.
func (l *line) unescape(e *ends, s []byte, from, i int, class uint8) ([]byte, int) {
	start := len(l.plain)
	l.plain = append(l.plain, s[from:i]...)
	for i < len(s) {
		c := s[i]
		if c == '\\' && i+1 < len(s) && (s[i+1] == ',' || s[i+1] == ' ' || s[i+1] == '=') {
			l.plain = append(l.plain, s[i+1])
			i += 2
			continue
		}
		if c != '\\' && e[c]&class != 0 {
			break
		}
		l.plain = append(l.plain, c)
		i++
	}
	return l.plain[start:], i
}

// readFields reads the fields, which begin at i, and returns where they end.
func (l *line) readFields(e *ends, s []byte, i int) (int, error) {
	if i >= len(s) {
		return i, errNoFields
	}
	for {
		var p pair
		if p.key, i = l.part(e, s, i, endsKey); len(p.key) == 0 {
			return i, errNoFieldKey
		}
		if i >= len(s) || s[i] != '=' {
			return i, errNoFieldValue
		}
		from := i + 1
		if from < len(s) && s[from] == '"' {
			if i = closing(s, from+1); i < 0 {
				return i, errQuotes
			}
			i++
		} else {
			for i = from; i < len(s) && s[i] != ',' && s[i] != ' '; i++ { // numbers need no escapes
			}
		}
		if p.value = s[from:i]; len(p.value) == 0 {
			return i, errNoFieldValue
		}
		if err := checkValue(p.value); err != nil {
			return i, err
		}
		l.fields = append(l.fields, p)
		if i >= len(s) || s[i] == ' ' {
			return i, nil
		}
		if s[i] != ',' {
			return i, errNoFieldValue // something after the closing quote
		}
		i++
	}
}

// closing returns where the quote that ends a string stands, or -1.
func closing(s []byte, i int) int {
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// readTime reads what is left of a line: a time, or nothing.
func (l *line) readTime(s []byte) error {
	s = bytes.TrimRight(s, " ")
	if len(s) == 0 {
		return nil
	}
	at, ok := integer(s)
	if !ok {
		return errTime
	}
	l.at, l.timed = at, true
	return nil
}

// tag returns the value of a tag, nil when the line has none.
func (l *line) tag(key string) []byte {
	for i := range l.tags {
		if string(l.tags[i].key) == key {
			return l.tags[i].value
		}
	}
	return nil
}

// field returns the value of a field as it stands in the line, nil when the
// line has none.
func (l *line) field(key string) []byte {
	for i := range l.fields {
		if string(l.fields[i].key) == key {
			return l.fields[i].value
		}
	}
	return nil
}

// number returns the value of a field that is a number.
func (l *line) number(key string) (float64, bool) {
	v := l.field(key)
	if v == nil {
		return 0, false
	}
	return number(v)
}

// text returns a string field without its quotes and escapes.
func text(v []byte) string {
	if len(v) < 2 || v[0] != '"' {
		return string(v)
	}
	s := string(v[1 : len(v)-1])
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(s)
}
