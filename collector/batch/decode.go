package batch

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// rowBytes is the least that a row takes: one byte of each of its two times.
const rowBytes = 2

// Decode reads into b what Append wrote. It reuses the memory of b's columns,
// and b's strings where they are the same as before, so a reader of many
// batches should pass the same b again, not reset; distributions and new
// strings are its own and may be kept. Data may be anything: Decode
// allocates at most a small multiple of its length, and b is empty after an
// error.
func Decode(b *sample.Batch, data []byte) error {
	r := &reader{data: data}
	r.batch(b)
	if r.err == nil && len(r.data) > 0 {
		r.fail("%d bytes are left over", len(r.data))
	}
	if r.err != nil {
		b.Reset()
		return fmt.Errorf("decode batch of %d bytes: %w", len(data), r.err)
	}
	return nil
}

// reader consumes data. After its first error it returns zeros.
type reader struct {
	data []byte
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
	r.data = nil
}

func (r *reader) batch(b *sample.Batch) {
	if v := r.byte(); r.err == nil && v != version {
		r.fail("unknown version %d", v)
	}
	mask := r.uvarint()
	if mask >= maskEnd {
		r.fail("unknown columns %#x", mask)
	}
	b.RunID = r.string(b.RunID)
	b.RunName = r.string(b.RunName)
	b.Groups = r.groups(b.Groups)
	n := r.count(rowBytes, "rows")
	resize(b, n, mask)
	if n > 0 {
		r.rows(b, mask)
	}
	if mask&hasMetrics == 0 {
		clear(b.Series)
		clear(b.Points)
		b.Series, b.Points = b.Series[:0], b.Points[:0]
		return
	}
	b.Series = r.series(b.Series)
	b.Points = r.points(b.Points, len(b.Series))
}

// resize gives the columns of b the length n, but leaves out the optional ones
// that mask does not name.
func resize(b *sample.Batch, n int, mask uint64) {
	optional := func(bit uint64) int {
		if mask&bit == 0 {
			return 0
		}
		return n
	}
	b.Group = sized(b.Group, n)
	b.Sent = sized(b.Sent, n)
	b.Done = sized(b.Done, n)
	b.Intended = sized(b.Intended, n)
	b.Outcome = sized(b.Outcome, n)
	b.Status = sized(b.Status, n)
	b.FirstByte = sized(b.FirstByte, optional(hasFirstByte))
	b.Index = sized(b.Index, optional(hasIndex))
	b.Attempt = sized(b.Attempt, optional(hasAttempt))
	b.Key = sized(b.Key, optional(hasKey))
	b.Self = sized(b.Self, optional(hasSelf))
	b.Flags = sized(b.Flags, optional(hasFlags))
	b.Tokens = sized(b.Tokens, optional(hasTokens))
}

func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

func (r *reader) rows(b *sample.Batch, mask uint64) {
	r.times(b, mask)
	if mask&hasIntended != 0 {
		r.optional(b.Intended, 0, b.Sent)
	} else {
		clear(b.Intended)
	}
	if mask&hasFirstByte != 0 {
		r.optional(b.FirstByte, 0, b.Sent)
	}
	if mask&hasIndex != 0 {
		r.optional(b.Index, sample.NoIndex, nil)
	}
	smallColumn(r, b.Group, mask&hasGroup != 0)
	smallColumn(r, b.Attempt, mask&hasAttempt != 0)
	smallColumn(r, b.Outcome, mask&hasOutcome != 0)
	smallColumn(r, b.Status, mask&hasStatus != 0)
	smallColumn(r, b.Flags, mask&hasFlags != 0)
	if mask&hasTokens != 0 {
		r.optional(b.Tokens, 0, nil)
	}
	if mask&hasKey != 0 {
		r.keys(b.Key)
	}
	if mask&hasSelf != 0 {
		r.keys(b.Self)
	}
	if r.err == nil {
		r.check(b)
	}
}

func (r *reader) times(b *sample.Batch, mask uint64) {
	if mask&bySent != 0 {
		r.deltas(b.Sent)
		r.chunks(b.Done)
		for i, service := range b.Done {
			b.Done[i] = b.Sent[i] + service
		}
		return
	}
	r.deltas(b.Done)
	r.chunks(b.Sent)
	for i, service := range b.Sent {
		b.Sent[i] = b.Done[i] - service
	}
}

func smallColumn[T small](r *reader, out []T, present bool) {
	if present {
		readSmall(r, out)
	} else {
		clear(out)
	}
}

// check refuses indices that would lead a reader out of range.
func (r *reader) check(b *sample.Batch) {
	if g := slices.Max(b.Group); int(g) >= len(b.Groups) {
		r.fail("a row of group %d where there are %d", g, len(b.Groups))
	}
	if o := slices.Max(b.Outcome); o >= sample.Outcomes {
		r.fail("unknown outcome %d", o)
	}
}

func (r *reader) groups(groups []sample.Group) []sample.Group {
	n := r.count(2, "groups")
	groups = reuse(groups, n)
	prev := &sample.Group{}
	for i := range groups {
		g := &groups[i]
		mask := r.uint16()
		if mask >= groupEnd {
			r.fail("unknown fields %#x of a group", mask)
		}
		r.str(mask&groupSource, &g.Source, prev.Source)
		r.str(mask&groupGenerator, &g.Generator, prev.Generator)
		r.str(mask&groupScenario, &g.Scenario, prev.Scenario)
		r.str(mask&groupStep, &g.Step, prev.Step)
		g.Deadline = unzigzag(r.num(mask&groupDeadline, zigzag(prev.Deadline)))
		g.ExpectedInterval = unzigzag(r.num(mask&groupExpectedInterval, zigzag(prev.ExpectedInterval)))
		g.Rate = bitsFloat(r.num(mask&groupRate, floatBits(prev.Rate)))
		model := r.num(mask&groupModel, uint64(prev.Model))
		if model > uint64(sample.Closed) {
			r.fail("unknown model %d", model)
		}
		g.Model = sample.Model(model)
		r.str(mask&groupProcess, &g.Process, prev.Process)
		prev = g
	}
	return groups
}

// reuse returns s with length n, keeping what its memory held so that equal
// strings can be used again.
func reuse[T any](s []T, n int) []T {
	if old := s[:cap(s)]; n > len(old) {
		s = make([]T, n)
		copy(s, old)
		return s
	}
	if n < len(s) {
		clear(s[n:])
	}
	return s[:n]
}

// str reads a field that changed, or takes the one of the struct before.
func (r *reader) str(changed uint16, field *string, prev string) {
	if changed == 0 {
		*field = prev
		return
	}
	*field = r.string(*field)
}

// num is str for numbers.
func (r *reader) num(changed uint16, prev uint64) uint64 {
	if changed == 0 {
		return prev
	}
	return r.uvarint()
}

func (r *reader) byte() byte {
	if len(r.data) == 0 {
		r.fail("it is cut short")
		return 0
	}
	v := r.data[0]
	r.data = r.data[1:]
	return v
}

func (r *reader) uint16() uint16 {
	if len(r.data) < 2 {
		r.fail("it is cut short")
		return 0
	}
	v := binary.LittleEndian.Uint16(r.data)
	r.data = r.data[2:]
	return v
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.data)
	if n <= 0 {
		r.fail("a number is cut short or too long")
		return 0
	}
	r.data = r.data[n:]
	return v
}

// count reads a number of things that take at least size bytes each.
func (r *reader) count(size int, what string) int {
	n := r.uvarint()
	if n > uint64(len(r.data)/size) {
		r.fail("%d %s do not fit the %d bytes left", n, what, len(r.data))
		return 0
	}
	return int(n)
}

// bytes returns the next n bytes, or none when there are fewer.
func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.data)) {
		r.fail("it is cut short")
		return nil
	}
	p := r.data[:n]
	r.data = r.data[n:]
	return p
}

// string reads a string, and returns old when it is the same.
func (r *reader) string(old string) string {
	p := r.bytes(r.uvarint())
	if string(p) == old {
		return old
	}
	return string(p)
}
