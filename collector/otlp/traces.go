package otlp

import (
	"errors"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/convention"
)

// kindClient is the kind of spans that are requests.
const kindClient = 3

// errUntracked ends a pass that needs the ids of the spans before.
var errUntracked = errors.New("ids of spans were not kept")

// traces decodes a request. Ids of spans are kept only if they matter: when that
// turns out on the way, it begins again, and so will the next request. When a
// client span turns out to stand around other client spans of the request, it
// is decoded a second time, knowing that.
func (d *Decoder) traces(body []byte) error {
	defer d.forget()
	d.reset()
	err := d.pass(body)
	if errors.Is(err, errUntracked) {
		d.reset()
		d.tracked = true
		err = d.pass(body)
	}
	if err != nil || !d.tracked {
		return err
	}
	if d.tracked = d.nested.find(d.refs); !d.tracked {
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
	d.flushServed()
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
	if d.tracked && len(s.id) > 0 {
		ref = len(d.refs)
		d.remember(at)
	}
	if !d.request(s) {
		d.report.Counts[NotARequest]++
		d.served.add(s)
		return nil
	}
	if !d.tracked && (s.parent != nil || d.stream.nests || s.operation()) {
		return errUntracked
	}
	if d.nest != nil && ref >= 0 {
		if !d.nest.counts(ref) {
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
	to := d.router.At(p.batch)
	row := sample.Row{Group: p.group, Sent: int64(s.start), Done: int64(s.end), Index: sample.NoIndex}
	if err := d.fill(&row, b); err != nil {
		return err
	}
	if ref >= 0 {
		d.refs[ref].batch, d.refs[ref].row = int16(p.batch), int32(to.Len())
	}
	if d.stream.nests || s.operation() {
		to.Nesting = true
		d.nested.wanted = true
	}
	to.Append(row)
	d.report.Rows++
	return nil
}

// request reports whether a span is a request, as far as it says itself.
func (d *Decoder) request(s *spanFields) bool {
	if d.stream.iterations {
		return s.parent == nil && string(s.name) == convention.IterationSpan
	}
	return s.kind == kindClient && !d.stream.parts && !(d.stream.rootsWarmUp && s.parent == nil)
}

// remember notes the ids of the span that was parsed last.
func (d *Decoder) remember(at extent) {
	s, n := &d.span, len(d.refs)
	if n < cap(d.refs) {
		d.refs = d.refs[:n+1] // every field is set below
	} else {
		d.refs = append(d.refs, spanRef{})
	}
	r := &d.refs[n]
	r.at, r.row, r.batch = at, -1, 0
	r.client, r.operation = s.kind == kindClient && !d.stream.parts, s.operation()
	r.trace, r.id, r.parent = [16]byte{}, [8]byte(s.id), [8]byte{}
	if s.trace != nil {
		r.trace = [16]byte(s.trace)
	}
	if s.parent != nil {
		r.parent = [8]byte(s.parent)
	}
}

// fill completes the row of the span that was parsed last.
func (d *Decoder) fill(row *sample.Row, b []byte) error {
	s := &d.span
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
	if s.is(convention.OutputTokens) {
		row.Tokens = s.tokens
	}
	if s.operation() {
		row.Flags |= sample.Operation
	}
	if d.stream.iterations {
		row.Flags |= sample.NoOutcome
	}
	err := d.outcome(row, b)
	if row.FirstByte > row.Done {
		row.FirstByte = 0
	}
	return err
}

// outcome sets the outcome and status of a row.
func (d *Decoder) outcome(row *sample.Row, b []byte) error {
	s := &d.span
	a := convention.Answer{Span: s.status, GRPC: -1}
	if len(s.message) > 0 {
		a.Message = s.message
	}
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
	if row.Outcome == sample.Error && row.Status == 0 && (convention.Exhausted(a.Message) || convention.Exhausted(a.ErrorType)) {
		row.Flags |= sample.LocalLimit
	}
	if !s.events {
		return nil
	}
	return s.readEvents(row, b, !sure)
}
