package otlp

import (
	"bytes"
	"math"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/convention"
)

// kindClient is the kind of spans that are requests.
const kindClient = 3

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

// traces decodes a request. When a client span turns out to stand around other
// client spans of the request, it is decoded a second time, knowing that.
func (d *Decoder) traces(body []byte) error {
	defer d.forget()
	d.reset()
	if err := d.pass(body); err != nil {
		return err
	}
	if !d.nested.find(d.refs) {
		return nil
	}
	if d.nested.anyOuter {
		d.reset()
		d.nest = &d.nested
		if err := d.pass(body); err != nil {
			return err
		}
	}
	d.nameSpans()
	return nil
}

func (d *Decoder) bytes(at extent) []byte { return d.body[at.from:at.to:at.to] }

func (d *Decoder) pass(body []byte) error {
	d.body = body
	r := reader{b: body}
	for r.next() {
		if r.num != 1 {
			r.skip()
			continue
		}
		message := r.bytes()
		if err := d.resourceSpans(message, r.pos-len(message)); err != nil {
			return err
		}
	}
	return r.err
}

// resourceSpans decodes a message that begins at offset at of the request.
func (d *Decoder) resourceSpans(message []byte, at int) error {
	if err := d.readResource(message); err != nil {
		return err
	}
	r := reader{b: message}
	for r.next() {
		switch r.num {
		case 2:
			scope := r.bytes()
			if err := d.scopeSpans(scope, at+r.pos-len(scope)); err != nil {
				return err
			}
		case 3:
			r.skipAs(wireLen)
		default:
			r.skip()
		}
	}
	return r.err
}

// scopeSpans first finds the spans and the scope, which may stand anywhere.
func (d *Decoder) scopeSpans(message []byte, at int) (err error) {
	var scope []byte
	d.spans = d.spans[:0]
	r := reader{b: message}
	for r.next() {
		switch r.num {
		case 1:
			if scope, err = scopeName(r.bytes(), scope); err != nil {
				return err
			}
		case 2:
			if span := r.bytes(); len(d.spans) < maxSpans {
				to := at + r.pos
				d.spans = append(d.spans, extent{uint32(to - len(span)), uint32(to)})
			} else {
				d.report.note(TooManySpans, "span", nil)
			}
		case 3:
			r.skipAs(wireLen)
		default:
			r.skip()
		}
	}
	if r.err != nil {
		return r.err
	}
	d.readStream(scope)
	for _, at := range d.spans {
		if err := d.oneSpan(at); err != nil {
			return err
		}
	}
	return nil
}

// oneSpan decodes a span and, if it is a request, adds its row.
func (d *Decoder) oneSpan(at extent) error {
	s, b := &d.span, d.bytes(at)
	if err := s.parse(d.table, b); err != nil {
		return err
	}
	if d.rows >= maxSpans {
		d.report.note(TooManySpans, "span", s.name)
		return nil
	}
	d.rows++
	ref := -1
	if len(s.id) > 0 {
		ref = len(d.refs)
		d.refs = append(d.refs, spanRef{at: at, client: s.kind == kindClient, row: -1})
		r := &d.refs[ref]
		copy(r.trace[:], s.trace)
		copy(r.id[:], s.id)
		copy(r.parent[:], s.parent)
	}
	if s.kind != kindClient {
		d.report.Counts[NotARequest]++
		return nil
	}
	if d.nest != nil && ref >= 0 {
		if d.nest.isOuter(ref) {
			d.report.Counts[Nested]++
			return nil
		}
		if err := d.inheritAll(ref); err != nil {
			return err
		}
	}
	if reason, ok := s.times(); !ok {
		d.report.note(reason, "span", s.name)
		return nil
	}
	p, reason, ok := d.place(&d.stream, &s.attributes)
	if !ok {
		d.report.note(reason, "span", s.name)
		return nil
	}
	if s.badIntended {
		d.report.note(BadIntended, "span", s.name)
	}
	to := d.router.all[p.batch]
	row, err := d.row(b, p.group)
	if err != nil {
		return err
	}
	if ref >= 0 {
		d.refs[ref].batch, d.refs[ref].row = int16(p.batch), int32(to.batch.Len())
	}
	if d.stream.nests {
		to.nesting = true
		d.nested.wanted = true
	}
	to.batch.Append(row)
	d.report.Rows++
	return nil
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
		if !r.next() {
			break
		}
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
			if err := s.add(t, r.bytes()); err != nil {
				return err
			}
		case 11:
			s.events = true
			r.skipAs(wireLen)
		case 13:
			r.skipAs(wireLen)
		case 15:
			if err := s.addStatus(r.bytes()); err != nil {
				return err
			}
		case 10, 12, 14:
			r.skipAs(wireVarint)
		case 16:
			r.skipAs(wireI32)
		default:
			r.skip()
		}
	}
	if r.err == nil && s.invalid {
		return errID
	}
	return r.err
}

// spanID returns an id, nothing if it is empty or zero.
func (s *spanFields) spanID(id []byte, size int) []byte {
	if len(id) != size {
		s.invalid = s.invalid || len(id) != 0
		return nil
	}
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

// row makes the row of the span that was parsed last.
func (d *Decoder) row(b []byte, group uint16) (sample.Row, error) {
	s := &d.span
	row := sample.Row{Group: group, Sent: int64(s.start), Done: int64(s.end), Index: sample.NoIndex}
	if s.is(convention.IntendedTime) {
		row.Intended = s.intended
	}
	if s.is(convention.ArrivalIndex) {
		row.Index = s.index
	}
	if s.is(convention.ResendCount) {
		row.Attempt = s.attempt
	}
	switch {
	case s.is(convention.RequestID):
		row.Key = hashBytes(s.requestID)
		row.Flags |= sample.RequestKey
	case s.parent != nil:
		row.Key = hashSpan(s.trace, s.parent)
	}
	if s.is(convention.LastAttempt) && s.last {
		row.Flags |= sample.LastAttempt
	}
	if s.sampled || len(s.state) > 0 && sampledState(s.state) {
		row.Flags |= sample.Sampled
	}
	if s.is(convention.FirstByteSeconds) || s.is(convention.FirstByteMillis) {
		row.FirstByte = row.Sent + s.firstByte
	}
	err := d.outcome(&row, b)
	if row.FirstByte > row.Done {
		row.FirstByte = 0
	}
	return row, err
}

// outcome sets the outcome and status of a row.
func (d *Decoder) outcome(row *sample.Row, b []byte) error {
	s := &d.span
	a := convention.Answer{Span: s.status, GRPC: -1, Message: s.message}
	switch {
	case s.is(convention.HTTPStatus):
		a.HTTP = s.http
	case s.is(convention.HTTPStatusOld):
		a.HTTP = s.httpOld
	}
	row.Status = int16(a.HTTP)
	if s.is(convention.GRPCStatus) {
		a.GRPC = s.grpc
		row.Status = int16(s.grpc)
	}
	if s.is(convention.ErrorType) {
		a.ErrorType = s.errorType
	}
	var sure bool
	row.Outcome, sure = d.table.Outcome(&a)
	if !s.events {
		return nil
	}
	return s.readEvents(row, b, !sure)
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
