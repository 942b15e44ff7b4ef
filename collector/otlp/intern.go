package otlp

import "github.com/plimsoll/plimsoll/collector/convention"

// intern keeps the strings that come with every request, so that they are made
// once. What it returns is safe to show. It is bounded: when full it starts
// again.
type intern struct {
	strings map[string]string
	bytes   int
	buf     []byte
}

// Bounds of the memory of an intern.
const (
	maxInterned      = 8192
	maxInternedBytes = 1 << 20
)

func newIntern() *intern { return &intern{strings: map[string]string{}} }

// text returns s, made safe, as a string.
func (in *intern) text(s []byte) string { return in.limited(s, convention.MaxText) }

func (in *intern) limited(s []byte, limit int) string {
	if len(s) == 0 {
		return ""
	}
	if v, ok := in.strings[string(s)]; ok {
		return v
	}
	in.buf = convention.AppendSafe(in.buf[:0], s, limit)
	v := string(in.buf)
	if len(s) > 2048 {
		return v
	}
	if len(in.strings) >= maxInterned || in.bytes+len(s)+len(v) > maxInternedBytes {
		clear(in.strings)
		in.bytes = 0
	}
	key := v
	if string(s) != v {
		key = string(s)
	}
	in.strings[key] = v
	in.bytes += len(s) + len(v)
	return v
}

func safe(s []byte) []byte { return convention.AppendSafe(nil, s, 64) }
