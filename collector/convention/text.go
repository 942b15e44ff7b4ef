package convention

import (
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
)

// MaxText is the length in bytes to which strings from outside are cut.
const MaxText = 200

// AppendSafe appends s as valid UTF-8 of at most limit bytes without control and
// direction characters, which are replaced. A string that is cut ends with a
// hash of the whole, so that different strings stay different. The limit must
// be at least 24.
func AppendSafe(dst, s []byte, limit int) []byte {
	if len(s) <= limit && plainASCII(s) {
		return append(dst, s...)
	}
	from, end := len(dst), limit
	if len(s) > limit {
		end = limit - 17
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRune(s[i:])
		i += n
		if r == utf8.RuneError || !printable(r) {
			r = utf8.RuneError
		}
		if len(dst)-from+utf8.RuneLen(r) > end {
			break
		}
		dst = utf8.AppendRune(dst, r)
	}
	if len(s) > limit {
		dst = appendHex(append(dst, '~'), xxh3.Hash(s))
	}
	return dst
}

func plainASCII(s []byte) bool {
	for _, c := range s {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// printable refuses control characters, marks that change the direction of
// text, and line separators; a plain space is printable.
func printable(r rune) bool {
	return r == ' ' || unicode.IsGraphic(r) && !unicode.Is(unicode.Bidi_Control, r)
}

func appendHex(dst []byte, v uint64) []byte {
	const digits = "0123456789abcdef"
	for shift := 60; shift >= 0; shift -= 4 {
		dst = append(dst, digits[v>>shift&15])
	}
	return dst
}

// AppendAttribute appends "key=value" in the form that sample.Series uses,
// after a comma unless it is the first. A comma, an equals sign in the key and
// a backslash are escaped by a backslash.
func AppendAttribute(dst, key, value []byte) []byte {
	if len(dst) > 0 {
		dst = append(dst, ',')
	}
	dst = appendEscaped(dst, key, true)
	dst = append(dst, '=')
	return appendEscaped(dst, value, false)
}

func appendEscaped(dst, s []byte, isKey bool) []byte {
	from := len(dst)
	dst = AppendSafe(dst, s, MaxText)
	extra := 0
	for _, c := range dst[from:] {
		if c == ',' || c == '\\' || isKey && c == '=' {
			extra++
		}
	}
	if extra == 0 {
		return dst
	}
	end := len(dst)
	for range extra {
		dst = append(dst, 0)
	}
	for i, j := end-1, len(dst)-1; i >= from; i, j = i-1, j-1 {
		c := dst[i]
		dst[j] = c
		if c == ',' || c == '\\' || isKey && c == '=' {
			j--
			dst[j] = '\\'
		}
	}
	return dst
}
