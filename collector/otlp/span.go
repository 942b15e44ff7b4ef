package otlp

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/convention"
)

// spanFields is what is read of a span, not copied.
type spanFields struct {
	attributes
	trace, id, parent []byte
	state, name       []byte
	kind, start, end  uint64
	status            convention.SpanStatus
	message           []byte
	events            bool
	invalid           bool // an id has a wrong length
}

// operation reports whether the span is a whole operation on a model.
func (s *spanFields) operation() bool {
	return s.has&(1<<convention.ModelOperation|1<<convention.OutputTokens) != 0
}

// Tags of a span's fields, as they are written.
const (
	attributeTag = 9<<3 | wireLen
	flagsTag     = 1<<8 | 0x80 | (16<<3|wireI32)&0x7f
)

// parse reads the fields of a span.
func (s *spanFields) parse(t *convention.Table, b []byte) error {
	s.reset()
	s.trace, s.id, s.parent, s.state, s.name, s.message = nil, nil, nil, nil, nil, nil
	s.kind, s.start, s.end, s.status = 0, 0, 0, 0
	s.events, s.invalid = false, false
	r := reader{b: b, pos: s.head(b)}
	for {
		// Attributes make up most of a span.
		if r.pos < len(b) && b[r.pos] == attributeTag {
			n, err := s.usual(t, b[r.pos:], attributeTag)
			if err != nil {
				return err
			}
			r.pos += n
		}
		if rest := b[r.pos:]; len(rest) >= 6 && binary.LittleEndian.Uint16(rest) == flagsTag {
			r.pos += 6
			continue
		}
		if !r.next() {
			break
		}
		if err := s.field(t, &r); err != nil {
			return err
		}
	}
	if r.err == nil && s.invalid {
		return errID
	}
	return r.err
}

// head reads the fields at the start of b as far as they have the order and form
// that they have in nearly every span, and returns their length.
func (s *spanFields) head(b []byte) int {
	tag := func(at int) uint16 { return binary.LittleEndian.Uint16(b[at:]) }
	if len(b) < 40 || tag(0) != 16<<8|1<<3|wireLen || tag(18) != 8<<8|2<<3|wireLen {
		return 0
	}
	s.trace, s.id = nonZero(b[2:18:18]), nonZero(b[20:28:28])
	at := 28
	if tag(at) == 8<<8|4<<3|wireLen {
		s.parent = nonZero(b[30:38:38])
		at = 38
	}
	name := at + 2
	end := name + int(b[at+1])
	if b[at] != 5<<3|wireLen || b[at+1] >= 0x80 || end+20 > len(b) {
		return at
	}
	s.name = b[name:end:end]
	rest := b[end : end+20]
	if rest[0] != 6<<3|wireVarint || rest[1] >= 0x80 || rest[2] != 7<<3|wireI64 || rest[11] != 8<<3|wireI64 {
		return end
	}
	s.kind = uint64(rest[1])
	s.start, s.end = binary.LittleEndian.Uint64(rest[3:]), binary.LittleEndian.Uint64(rest[12:])
	return end + 20
}

// field reads a field of any form.
func (s *spanFields) field(t *convention.Table, r *reader) error {
	switch r.num {
	case 1:
		s.trace = s.spanID(r.bytes(), 16)
	case 2:
		s.id = s.spanID(r.bytes(), 8)
	case 3:
		s.state = r.bytes()
	case 4:
		s.parent = s.spanID(r.bytes(), 8)
	case 5:
		s.name = r.bytes()
	case 6:
		s.kind = uint64(uint32(r.varint()))
	case 7:
		s.start = r.fixed64()
	case 8:
		s.end = r.fixed64()
	case 9:
		return s.add(t, r.bytes())
	case 11:
		s.events = true
		r.skipAs(wireLen)
	case 13:
		r.skipAs(wireLen)
	case 15:
		return s.addStatus(r.bytes())
	case 10, 12, 14:
		r.skipAs(wireVarint)
	case 16:
		r.skipAs(wireI32)
	default:
		r.skip()
	}
	return nil
}

// spanID returns an id, nothing if it is empty or zero.
func (s *spanFields) spanID(id []byte, size int) []byte {
	if len(id) != size {
		s.invalid = s.invalid || len(id) != 0
		return nil
	}
	return nonZero(id)
}

func nonZero(id []byte) []byte {
	for _, c := range id {
		if c != 0 {
			return id
		}
	}
	return nil
}

func (s *spanFields) addStatus(b []byte) error {
	r := reader{b: b}
	for r.next() {
		switch r.num {
		case 2:
			s.message = r.bytes()
		case 3:
			s.status = convention.SpanStatus(min(uint32(r.varint()), 3))
		default:
			r.skip()
		}
	}
	return r.err
}

// times checks that the span has the times of a request.
func (s *spanFields) times() (Reason, bool) {
	switch {
	case s.start == 0 || s.end == 0:
		return NoTime, false
	case s.start > math.MaxInt64 || s.end > math.MaxInt64 || !plausible(int64(s.start)) || !plausible(int64(s.end)):
		return BadTime, false
	case s.end < s.start:
		return ClockStep, false
	}
	return 0, true
}

// readEvents looks for the first byte and, when the outcome is not sure, for an
// exception that names the reason.
func (s *spanFields) readEvents(row *sample.Row, b []byte, unsure bool) error {
	r := reader{b: b}
	for r.next() {
		if r.num != 11 {
			r.skip()
			continue
		}
		event := r.bytes()
		var name []byte
		var at uint64
		e := reader{b: event}
		for e.next() {
			switch e.num {
			case 1:
				at = e.fixed64()
			case 2:
				name = e.bytes()
			default:
				e.skip()
			}
		}
		if e.err != nil {
			return e.err
		}
		switch {
		case convention.FirstByteEvent(name) && row.FirstByte == 0 && at >= s.start && at <= s.end:
			row.FirstByte = int64(at)
		case unsure && string(name) == "exception":
			if o, ok, err := exception(event, row); err != nil {
				return err
			} else if ok {
				row.Outcome, unsure = o, false
			}
		}
	}
	return r.err
}

// exception classifies an exception event by its type and message, and marks a row
// whose client had run out of something.
func exception(event []byte, row *sample.Row) (sample.Outcome, bool, error) {
	r := reader{b: event}
	for r.next() {
		if r.num != 3 {
			r.skip()
			continue
		}
		var kv keyValue
		if err := kv.parse(r.bytes()); err != nil {
			return 0, false, err
		}
		if k := string(kv.key); k != "exception.type" && k != "exception.message" {
			continue
		}
		var v value
		if err := kv.value(&v); err != nil {
			return 0, false, err
		}
		if convention.Exhausted(v.text()) {
			row.Flags |= sample.LocalLimit
		}
		if o, ok := convention.Failure(v.text()); ok {
			return o, true, nil
		}
	}
	return 0, false, r.err
}

// sampledState reports whether a W3C tracestate says that the span was kept with
// a probability below one: a threshold (th) or, as in older SDKs, a power (p).
func sampledState(state []byte) bool {
	for len(state) > 0 {
		var member []byte
		member, state, _ = bytes.Cut(state, []byte(","))
		member = bytes.TrimSpace(member)
		if !bytes.HasPrefix(member, []byte("ot=")) {
			continue
		}
		member = member[3:]
		for len(member) > 0 {
			var field []byte
			field, member, _ = bytes.Cut(member, []byte(";"))
			if bytes.HasPrefix(field, []byte("th:")) || bytes.HasPrefix(field, []byte("p:")) {
				_, v, _ := bytes.Cut(field, []byte(":"))
				if len(bytes.Trim(v, "0")) > 0 {
					return true
				}
			}
		}
	}
	return false
}
