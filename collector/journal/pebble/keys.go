package pebble

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/journal"
)

// The layout of keys. A stream's name is escaped (0x00 as 0x00 0xff) and ended
// by 0x00 0x01, which keeps the order of names and lets no name be the
// beginning of another. Positions are eight bytes, big end first.
//
//	v                       version of this layout, one byte
//	n                       position from which to go on, written by deletions
//	m stream position       meta of an entry, records in its append, id of its append
//	i id                    entries left of an append, a varint
//	k key                   document
//	x position              data of an entry; grows with arrival, whatever the stream
//
// Data comes last, so that new data lies beyond all older tables and is taken
// into no compaction.
const (
	keyVersion  = 'v'
	keyNext     = 'n'
	keyData     = 'x'
	keyMeta     = 'm'
	keyID       = 'i'
	keyDocument = 'k'
)

const layout = 1

func dataKey(dst []byte, p journal.Position) []byte {
	return binary.BigEndian.AppendUint64(append(dst, keyData), uint64(p))
}

// streamPrefix returns what the keys of a stream's metas begin with.
func streamPrefix(stream string) []byte {
	dst := make([]byte, 0, len(stream)+16)
	dst = append(dst, keyMeta)
	for {
		i := strings.IndexByte(stream, 0)
		if i < 0 {
			break
		}
		dst = append(dst, stream[:i]...)
		dst = append(dst, 0x00, 0xff)
		stream = stream[i+1:]
	}
	dst = append(dst, stream...)
	return append(dst, 0x00, 0x01)
}

// splitMetaKey is the inverse of streamPrefix and the position after it.
func splitMetaKey(key []byte) (stream string, p journal.Position, err error) {
	if len(key) < 1+2+8 {
		return "", 0, fmt.Errorf("key %x is too short", key)
	}
	tail := len(key) - 8
	name := string(key[1 : tail-2])
	return strings.ReplaceAll(name, "\x00\xff", "\x00"), journal.Position(binary.BigEndian.Uint64(key[tail:])), nil
}

func position(key []byte) journal.Position {
	return journal.Position(binary.BigEndian.Uint64(key[len(key)-8:]))
}

func withPosition(prefix []byte, p journal.Position) []byte {
	return binary.BigEndian.AppendUint64(prefix[:len(prefix):len(prefix)], uint64(p))
}

func idKey(id journal.ID) []byte { return append([]byte{keyID}, id[:]...) }

func documentKey(key string) []byte { return append([]byte{keyDocument}, key...) }

// after returns the first key after all that begin with prefix, whose first
// byte is one of the letters above.
func after(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for end[len(end)-1] == 0xff {
		end = end[:len(end)-1]
	}
	end[len(end)-1]++
	return end
}

// meta is the value of a meta key.
type meta struct {
	journal.Meta
	together uint64 // number of records in the append
	id       journal.ID
}

func (m *meta) append(dst []byte) []byte {
	dst = binary.AppendVarint(dst, m.Span.From)
	dst = binary.AppendVarint(dst, m.Span.To-m.Span.From)
	dst = binary.AppendUvarint(dst, uint64(m.Rows))
	dst = binary.AppendUvarint(dst, m.together)
	return append(dst, m.id[:]...)
}

func parseMeta(value []byte) (meta, error) {
	var m meta
	from, n1 := binary.Varint(value)
	length, n2 := binary.Varint(value[max(n1, 0):])
	rows, n3 := binary.Uvarint(value[max(n1+n2, 0):])
	together, n4 := binary.Uvarint(value[max(n1+n2+n3, 0):])
	if n1 <= 0 || n2 <= 0 || n3 <= 0 || n4 <= 0 || len(value) != n1+n2+n3+n4+len(m.id) {
		return m, errors.New("a meta is damaged")
	}
	m.Span = sample.Span{From: from, To: from + length}
	m.Rows, m.together = uint32(rows), together
	copy(m.id[:], value[n1+n2+n3+n4:])
	return m, nil
}
