package importer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// mostTag bounds a tag with its attributes.
const mostTag = 1 << 20

// markup reads the tags of an XML file and passes over all else. It is more
// lenient than XML: result files hold what servers sent, control characters and
// all.
type markup struct {
	src *Source
	buf []byte
}

// tag is one tag. It is valid until the next one is read.
type tag struct {
	name       []byte
	attributes []byte // as written
	end        bool   // </name>
	empty      bool   // <name/>
}

// next reads the next tag. It returns io.EOF at the end of the file, and
// io.ErrUnexpectedEOF when the file ends within a tag.
func (m *markup) next() (t tag, err error) {
	for {
		if err := m.skip('<'); err != nil {
			return t, io.EOF
		}
		head, _ := m.src.Peek(8)
		switch {
		case bytes.HasPrefix(head, []byte("!--")):
			err = m.past("-->")
		case bytes.HasPrefix(head, []byte("![CDATA[")):
			err = m.past("]]>")
		case bytes.HasPrefix(head, []byte("?")), bytes.HasPrefix(head, []byte("!")):
			err = m.past(">")
		default:
			return m.tag()
		}
		if err != nil {
			return t, io.ErrUnexpectedEOF
		}
	}
}

// skip reads up to and with a byte.
func (m *markup) skip(c byte) error {
	for {
		part, err := m.src.r.ReadSlice(c)
		m.src.offset += int64(len(part))
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// past reads up to and with a text.
func (m *markup) past(end string) error {
	last := end[len(end)-1]
	tail := make([]byte, 0, 8)
	for {
		part, err := m.src.r.ReadSlice(last)
		m.src.offset += int64(len(part))
		tail = append(tail, part[max(0, len(part)-len(end)):]...)
		tail = tail[max(0, len(tail)-len(end)):]
		if string(tail) == end {
			return nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// tag reads a tag whose "<" has been read, to a ">" that stands in no quotes.
func (m *markup) tag() (t tag, err error) {
	m.buf = m.buf[:0]
	for {
		part, err := m.src.r.ReadSlice('>')
		m.src.offset += int64(len(part))
		m.buf = append(m.buf, part...)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return t, io.ErrUnexpectedEOF
		}
		if len(m.buf) > mostTag {
			return t, fmt.Errorf("a tag is longer than %d bytes", mostTag)
		}
		if err == nil && bytes.Count(m.buf, []byte{'"'})%2 == 0 {
			break
		}
	}
	b := m.buf[:len(m.buf)-1]
	if b, t.end = bytes.CutPrefix(b, []byte("/")); !t.end {
		b, t.empty = bytes.CutSuffix(b, []byte("/"))
	}
	if i := bytes.IndexAny(b, " \t\r\n"); i >= 0 {
		t.name, t.attributes = b[:i], b[i:]
	} else {
		t.name = b
	}
	return t, nil
}

// each calls fn for each attribute, with its value as it is meant.
func (t *tag) each(fn func(name, value []byte) error) error {
	rest := t.attributes
	for {
		rest = bytes.TrimLeft(rest, " \t\r\n")
		if len(rest) == 0 {
			return nil
		}
		name, after, ok := bytes.Cut(rest, []byte("="))
		after = bytes.TrimLeft(after, " \t\r\n")
		if !ok || len(after) < 2 || after[0] != '"' && after[0] != '\'' {
			return fmt.Errorf("attribute %q has no value", trimmed(rest))
		}
		end := bytes.IndexByte(after[1:], after[0])
		if end < 0 {
			return fmt.Errorf("attribute %q has no end", trimmed(name))
		}
		if err := fn(bytes.TrimRight(name, " \t\r\n"), entities(after[1:end+1])); err != nil {
			return err
		}
		rest = after[end+2:]
	}
}

// entities resolves what stands for other characters; what is not known stays.
func entities(b []byte) []byte {
	if bytes.IndexByte(b, '&') < 0 {
		return b
	}
	var out []byte
	for len(b) > 0 {
		i := bytes.IndexByte(b, '&')
		end := -1
		if i >= 0 {
			end = bytes.IndexByte(b[i:min(len(b), i+12)], ';')
		}
		if end < 0 {
			if i >= 0 {
				out, b = append(out, b[:i+1]...), b[i+1:]
				continue
			}
			return append(out, b...)
		}
		out = append(out, b[:i]...)
		name := b[i+1 : i+end]
		if r, ok := entity(name); ok {
			out = utf8.AppendRune(out, r)
		} else {
			out = append(out, b[i:i+end+1]...)
		}
		b = b[i+end+1:]
	}
	return out
}

func entity(name []byte) (rune, bool) {
	switch string(name) {
	case "lt":
		return '<', true
	case "gt":
		return '>', true
	case "amp":
		return '&', true
	case "quot":
		return '"', true
	case "apos":
		return '\'', true
	}
	digits, ok := bytes.CutPrefix(name, []byte("#"))
	if !ok {
		return 0, false
	}
	base := 10
	if hex, ok := bytes.CutPrefix(digits, []byte("x")); ok {
		digits, base = hex, 16
	}
	n, err := strconv.ParseUint(string(digits), base, 21)
	return rune(n), err == nil
}
