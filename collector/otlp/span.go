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

// parse reads the fields of a span.
func (s *spanFields) parse(t *convention.Table, b []byte) error {
	s.reset()
	s.trace, s.id, s.parent, s.state, s.name, s.message = nil, nil, nil, nil, nil, nil
	s.kind, s.start, s.end, s.status = 0, 0, 0, 0
	s.events, s.invalid = false, false
	r := reader{b: b}
	for {
		// Attributes make up most of a span: short ones are read here.
		for r.pos+2 <= len(b) && b[r.pos] == 9<<3|wireLen && int(b[r.pos+1]) < min(0x80, len(b)-r.pos-1) {
			from := r.pos + 2
			r.pos = from + int(b[r.pos+1])
			if err := s.add(t, b[from:r.pos:r.pos]); err != nil {
				return err
			}
		}
		if n := s.usual(b[r.pos:]); n > 0 {
			r.pos += n
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

// usual reads the field at the start of b if it has the form that it has in
// nearly every span, and returns its length, or 0.
func (s *spanFields) usual(b []byte) int {
	if len(b) < 10 {
		return 0
	}
	switch b[0] {
	case 1<<3 | wireLen:
		if b[1] == 16 && len(b) >= 18 {
			s.trace = nonZero(b[2:18:18])
			return 18
		}
	case 2<<3 | wireLen:
		if b[1] == 8 {
			s.id = nonZero(b[2:10:10])
			return 10
		}
	case 4<<3 | wireLen:
		if b[1] == 8 {
			s.parent = nonZero(b[2:10:10])
			return 10
		}
	case 5<<3 | wireLen:
		if n := int(b[1]) + 2; b[1] < 0x80 && n <= len(b) {
			s.name = b[2:n:n]
			return n
		}
	case 6<<3 | wireVarint:
		if b[1] < 0x80 {
			s.kind = uint64(b[1])
			return 2
		}
	case 7<<3 | wireI64:
		s.start = binary.LittleEndian.Uint64(b[1:])
		return 9
	case 8<<3 | wireI64:
		s.end = binary.LittleEndian.Uint64(b[1:])
		return 9
	}
	return 0
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
			if o, ok, err := exception(event); err != nil {
				return err
			} else if ok {
				row.Outcome, unsure = o, false
			}
		}
	}
	return r.err
}

// exception classifies an exception event by its type and message.
func exception(event []byte) (sample.Outcome, bool, error) {
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
