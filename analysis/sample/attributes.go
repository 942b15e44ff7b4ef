package sample

import (
	"iter"
	"strings"
)

// Pairs reads attributes as Series has them: sorted "key=value" joined by
// commas, with a backslash before what is meant as it stands.
func Pairs(attributes string) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		for rest := attributes; rest != ""; {
			var key, value string
			key, rest = field(rest, "=,")
			if strings.HasPrefix(rest, "=") {
				value, rest = field(rest[1:], ",")
			}
			if !yield(key, value) {
				return
			}
			rest = strings.TrimPrefix(rest, ",")
		}
	}
}

// field reads up to one of the ends, which stays.
func field(s, ends string) (text, rest string) {
	i := strings.IndexAny(s, ends+`\`)
	switch {
	case i < 0:
		return s, ""
	case s[i] != '\\':
		return s[:i], s[i:]
	}
	var b strings.Builder
	for i = 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case strings.IndexByte(ends, c) >= 0:
			return b.String(), s[i:]
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}
