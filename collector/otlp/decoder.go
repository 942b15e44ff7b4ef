package otlp

import (
	"fmt"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/batch"
	"github.com/plimsoll/plimsoll/collector/convention"
)

// Decoder turns export requests into batches. It keeps its memory from one
// request to the next and must not be used by two goroutines at once.
//
// What a method returns is valid until the next call of any method; the bytes
// of a request are not kept.
type Decoder struct {
	table  *convention.Table
	intern *intern
	router *batch.ByRun
	report Report

	resource attributes
	span     spanFields
	outer    spanFields // an enclosing client span, read again
	stream   stream
	buf      []byte

	body    []byte    // the request
	spans   []extent  // the spans of the scope that is read
	refs    []spanRef // the spans of the request that have an id, if tracked
	tracked bool      // spans have parents, or had in the request before
	rows    int       // spans that became rows or were refused as one, in this pass
	nest    *nesting  // what is known about nesting, in the second pass
	nested  nesting

	served served // what spans of servers said, in this scope
	points pointFields

	dropsUsers bool // a generator that did not start users is among them
	schemas    *schemas
	wire       []byte // JSON as protobuf
}

// NewDecoder returns a decoder that understands names by a table.
func NewDecoder(t *convention.Table) *Decoder {
	return &Decoder{table: t, intern: newIntern(), router: batch.NewByRun(), schemas: newSchemas()}
}

// Report says what became of the spans or points of the last request.
func (d *Decoder) Report() *Report { return &d.report }

// Traces decodes an ExportTraceServiceRequest.
func (d *Decoder) Traces(body []byte) ([]*sample.Batch, error) {
	if err := d.traces(body); err != nil {
		return nil, fmt.Errorf("decode traces: %w", err)
	}
	return d.router.Batches(), nil
}

// TracesJSON decodes an ExportTraceServiceRequest in JSON.
func (d *Decoder) TracesJSON(body []byte) ([]*sample.Batch, error) {
	var err error
	if d.wire, err = transcode(d.wire[:0], body, d.schemas.traces); err != nil {
		return nil, fmt.Errorf("decode traces: %w", err)
	}
	return d.Traces(d.wire)
}

// Metrics decodes an ExportMetricsServiceRequest.
func (d *Decoder) Metrics(body []byte) ([]*sample.Batch, error) {
	if err := d.metrics(body); err != nil {
		return nil, fmt.Errorf("decode metrics: %w", err)
	}
	return d.router.Batches(), nil
}

// MetricsJSON decodes an ExportMetricsServiceRequest in JSON.
func (d *Decoder) MetricsJSON(body []byte) ([]*sample.Batch, error) {
	var err error
	if d.wire, err = transcode(d.wire[:0], body, d.schemas.metrics); err != nil {
		return nil, fmt.Errorf("decode metrics: %w", err)
	}
	return d.Metrics(d.wire)
}

// maxKept is the number of spans of a request whose memory a decoder may keep.
const maxKept = 1 << 15

// Oversized reports whether the last request was so large that the decoder
// should rather be dropped than kept for the next one.
func (d *Decoder) Oversized() bool {
	return cap(d.refs) > maxKept || cap(d.spans) > maxKept || cap(d.wire) > 16<<20 || len(d.router.Used()) > 32 ||
		d.report.Rows+d.report.Points > maxKept
}

// reset prepares for a request, or for its second pass.
func (d *Decoder) reset() {
	d.router.Reset()
	d.report = Report{}
	d.refs = d.refs[:0]
	d.rows = 0
	d.nested.wanted = false
	d.dropsUsers = false
}

// forget drops what points into the bytes of the request.
func (d *Decoder) forget() {
	d.body = nil
	d.resource, d.outer = attributes{recent: d.resource.recent}, spanFields{}
	d.span = spanFields{attributes: attributes{recent: d.span.recent}}
	d.nest = nil
	d.points.forget()
}

// readResource reads what all Resource messages of a ResourceSpans or
// ResourceMetrics say together.
func (d *Decoder) readResource(message []byte) error {
	d.resource = attributes{recent: d.resource.recent}
	d.resource.recent.next = 0
	r := reader{b: message}
	for r.next() {
		if r.num != 1 {
			r.skip()
			continue
		}
		res := reader{b: r.bytes()}
		for res.next() {
			if res.num != 1 {
				res.skip()
				continue
			}
			if err := d.resource.add(d.table, res.bytes()); err != nil {
				return err
			}
		}
		if res.err != nil {
			return res.err
		}
	}
	return r.err
}

// readStream sets what the spans or metrics of a scope have in common.
func (d *Decoder) readStream(scope []byte) {
	d.buf = convention.AppendSource(d.buf[:0], &d.resource.id)
	service := d.resource.id.Name
	d.stream = stream{
		source: d.intern.limited(d.buf, 4*convention.MaxText), service: d.intern.text(service),
		scope: d.intern.text(scope), nests: convention.NestsClients(scope), parts: convention.PartsOfRequests(scope),
	}
	d.served = served{}
	s := &d.stream
	s.generator, s.known = convention.KnownGenerator(scope, service)
	switch {
	case s.known:
	case len(service) > 0:
		s.generator = s.service
	default:
		s.generator = s.scope
	}
	s.iterations = convention.Iterations(scope)
	s.rootsWarmUp = s.known && convention.RootsWarmUp(s.generator)
}

// scopeName reads the name in an InstrumentationScope.
func scopeName(scope, before []byte) ([]byte, error) {
	name := before
	r := reader{b: scope}
	for r.next() {
		if r.num == 1 {
			name = r.bytes()
		} else {
			r.skip()
		}
	}
	return name, r.err
}
