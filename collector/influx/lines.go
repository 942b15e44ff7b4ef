package influx

import "bytes"

// next cuts the first line off a body, without its end. A line ends at a newline
// that is not within a quoted string; when the quotes of a line do not close
// within the bound of a line, it ends at its first newline, so that only one
// line is lost.
func next(body []byte) (s, rest []byte) {
	end := bytes.IndexByte(body, '\n')
	if end < 0 {
		return bytes.TrimSuffix(body, []byte{'\r'}), nil
	}
	if quote := bytes.IndexByte(body[:end], '"'); quote >= 0 && torn(body[:end], quote) {
		if far := lineEnd(body[:min(len(body), maxLine+1)]); far > 0 {
			end = far
		}
	}
	return bytes.TrimSuffix(body[:end], []byte{'\r'}), body[min(end+1, len(body)):]
}

// torn reports whether a line with a quote at the given place may end within a
// quoted string. It costs little and is true for few lines.
func torn(s []byte, quote int) bool {
	return bytes.Count(s[quote:], []byte{'"'})%2 != 0 ||
		bytes.IndexByte(s[quote:], '\\') >= 0 || bytes.IndexByte(s[:quote], ' ') < 0
}

// lineEnd returns where the first line ends, quotes considered, or -1 when its
// quotes do not close. Quotes mean something after the first unescaped space
// and at the start of a value.
func lineEnd(s []byte) int {
	fields, value, quoted := false, false, false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && i+1 < len(s) && s[i+1] != '\n':
			i++
			value = false
			continue
		case quoted:
			quoted = c != '"'
			continue
		case c == '\n':
			return i
		case c == ' ':
			fields = true
		case c == '"' && value:
			quoted = true
		}
		value = fields && c == '='
	}
	if quoted {
		return -1
	}
	return len(s)
}

// comment reports whether a line says nothing, and takes the blanks off its
// start.
func comment(s []byte) ([]byte, bool) {
	s = bytes.TrimLeft(s, " \t\x00")
	return s, len(s) == 0 || s[0] == '#'
}
