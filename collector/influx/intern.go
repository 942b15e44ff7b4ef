package influx

import "github.com/plimsoll/plimsoll/collector/convention"

// Bounds of the memory of an intern.
const (
	mostInterned     = 8192
	mostInternedText = 2048 // bytes of one text
	mostInternedAll  = 1 << 20
)

// intern keeps the strings that come with every line, made safe to show, so
// that they are made once. When full it starts again.
type intern struct {
	strings map[string]string
	bytes   int
	buf     []byte
}

func newIntern() *intern { return &intern{strings: map[string]string{}} }

// text returns s, made safe, as a string.
func (in *intern) text(s []byte) string {
	if len(s) == 0 {
		return ""
	}
	if v, ok := in.strings[string(s)]; ok {
		return v
	}
	in.buf = convention.AppendSafe(in.buf[:0], s, convention.MaxText)
	v := string(in.buf)
	if len(s) > mostInternedText {
		return v
	}
	if len(in.strings) >= mostInterned || in.bytes > mostInternedAll {
		clear(in.strings)
		in.bytes = 0
	}
	in.strings[string(s)] = v
	in.bytes += len(s) + len(v)
	return v
}
