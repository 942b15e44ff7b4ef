package batch

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Append appends the binary form of b to dst and returns the result. The
// columns of b must have one length and its indices must be in range, as its
// producers see to; it panics when the lengths differ.
func Append(dst []byte, b *sample.Batch) []byte {
	checkColumns(b)
	mask := columns(b)
	dst = append(dst, version)
	dst = binary.AppendUvarint(dst, mask)
	dst = appendString(dst, b.RunID)
	dst = appendString(dst, b.RunName)
	dst = appendGroups(dst, b.Groups)
	dst = binary.AppendUvarint(dst, uint64(b.Len()))
	if b.Len() > 0 {
		dst = appendRows(dst, b, mask)
	}
	if mask&hasMetrics != 0 {
		dst = appendSeries(dst, b.Series)
		dst = appendPoints(dst, b.Points)
	}
	return dst
}

func checkColumns(b *sample.Batch) {
	n := b.Len()
	for _, l := range [...]int{len(b.Group), len(b.Done), len(b.Intended), len(b.Outcome), len(b.Status)} {
		if l != n {
			panic("batch: columns differ in length")
		}
	}
	for _, l := range [...]int{len(b.FirstByte), len(b.Index), len(b.Attempt), len(b.Key), len(b.Self), len(b.Flags), len(b.Tokens)} {
		if l != n && l != 0 {
			panic("batch: columns differ in length")
		}
	}
}

// columns returns the mask of what must be written.
func columns(b *sample.Batch) uint64 {
	var mask uint64
	set := func(bit uint64, on bool) {
		if on {
			mask |= bit
		}
	}
	set(hasGroup, differs(b.Group, 0))
	set(hasFirstByte, differs(b.FirstByte, 0))
	set(hasIntended, differs(b.Intended, 0))
	set(hasIndex, differs(b.Index, sample.NoIndex))
	set(hasAttempt, differs(b.Attempt, 0))
	set(hasKey, differs(b.Key, 0))
	set(hasSelf, differs(b.Self, 0))
	set(hasOutcome, differs(b.Outcome, 0))
	set(hasStatus, differs(b.Status, 0))
	set(hasFlags, differs(b.Flags, 0))
	set(hasTokens, differs(b.Tokens, 0))
	set(bySent, falls(b.Sent) < falls(b.Done))
	set(hasMetrics, len(b.Series)+len(b.Points) > 0)
	return mask
}

// differs reports whether any value differs from v.
func differs[T comparable](col []T, v T) bool {
	for _, x := range col {
		if x != v {
			return true
		}
	}
	return false
}

// falls counts the values that are below the value before them: the column
// with fewer falls is closer to sorted and has the smaller differences.
func falls(col []int64) int {
	n := 0
	for i := 1; i < len(col); i++ {
		if col[i] < col[i-1] {
			n++
		}
	}
	return n
}

func appendRows(dst []byte, b *sample.Batch, mask uint64) []byte {
	lead := b.Done
	if mask&bySent != 0 {
		lead = b.Sent
	}
	dst = appendDeltas(dst, lead)
	dst = appendDifferences(dst, b.Done, b.Sent)
	if mask&hasIntended != 0 {
		dst = appendOptional(dst, b.Intended, 0, b.Sent)
	}
	if mask&hasFirstByte != 0 {
		dst = appendOptional(dst, b.FirstByte, 0, b.Sent)
	}
	if mask&hasIndex != 0 {
		dst = appendOptional(dst, b.Index, sample.NoIndex, nil)
	}
	if mask&hasGroup != 0 {
		dst = appendSmall(dst, b.Group)
	}
	if mask&hasAttempt != 0 {
		dst = appendSmall(dst, b.Attempt)
	}
	if mask&hasOutcome != 0 {
		dst = appendSmall(dst, b.Outcome)
	}
	if mask&hasStatus != 0 {
		dst = appendSmall(dst, b.Status)
	}
	if mask&hasFlags != 0 {
		dst = appendSmall(dst, b.Flags)
	}
	if mask&hasTokens != 0 {
		dst = appendOptional(dst, b.Tokens, 0, nil)
	}
	if mask&hasKey != 0 {
		dst = appendKeys(dst, b.Key)
	}
	if mask&hasSelf != 0 {
		dst = appendKeys(dst, b.Self)
	}
	return dst
}

func appendGroups(dst []byte, groups []sample.Group) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(groups)))
	prev := &sample.Group{}
	for i := range groups {
		g := &groups[i]
		w := changes{dst: dst}
		w.str(groupSource, g.Source, prev.Source)
		w.str(groupGenerator, g.Generator, prev.Generator)
		w.str(groupScenario, g.Scenario, prev.Scenario)
		w.str(groupStep, g.Step, prev.Step)
		w.num(groupDeadline, zigzag(g.Deadline), zigzag(prev.Deadline))
		w.num(groupExpectedInterval, zigzag(g.ExpectedInterval), zigzag(prev.ExpectedInterval))
		w.num(groupRate, floatBits(g.Rate), floatBits(prev.Rate))
		w.num(groupModel, uint64(g.Model), uint64(prev.Model))
		w.str(groupProcess, g.Process, prev.Process)
		dst, prev = w.end(), g
	}
	return dst
}

// changes writes the fields of a struct that differ from those of the struct
// before it, after a mask of two bytes that says which.
type changes struct {
	dst  []byte
	at   int // where the mask belongs, once begun
	mask uint16
}

func (w *changes) begin(bit uint16) {
	if w.mask == 0 {
		w.at = len(w.dst)
		w.dst = append(w.dst, 0, 0)
	}
	w.mask |= bit
}

func (w *changes) str(bit uint16, v, prev string) {
	if v != prev {
		w.begin(bit)
		w.dst = appendString(w.dst, v)
	}
}

func (w *changes) num(bit uint16, v, prev uint64) {
	if v != prev {
		w.begin(bit)
		w.dst = binary.AppendUvarint(w.dst, v)
	}
}

func (w *changes) end() []byte {
	if w.mask == 0 {
		return append(w.dst, 0, 0)
	}
	binary.LittleEndian.PutUint16(w.dst[w.at:], w.mask)
	return w.dst
}

func appendString(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

// floatBits returns the bits of f with the sign and exponent last, so that the
// varint of a small whole number is short.
func floatBits(f float64) uint64 { return bits.ReverseBytes64(math.Float64bits(f)) }

func bitsFloat(u uint64) float64 { return math.Float64frombits(bits.ReverseBytes64(u)) }
