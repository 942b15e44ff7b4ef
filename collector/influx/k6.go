package influx

import (
	"bytes"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/convention"
)

// dropsName is the metric that counts arrivals that were due and never sent.
const dropsName = "loadtest.arrivals.dropped"

// pending is the request of k6 whose lines are being read: they stand together,
// with one time, the end of the request.
type pending struct {
	row    sample.Row
	place  place
	blocks int64 // time until there was a connection
	tail   int64 // time from the first byte to the last
	open   bool
}

// k6Request begins a request. K6 stamps it with its end; it was sent when it
// asked for a connection, which is no part of the duration.
func (d *Decoder) k6Request(at int64, rpc bool) (Reason, error) {
	value, ok := d.line.number("value")
	if !ok || value < 0 {
		return Malformed, errNumber
	}
	if aside(&d.line) {
		return Detail, nil
	}
	p, reason, ok := d.place(&d.facts, "k6")
	if !ok {
		return reason, reason.explain()
	}
	r := sample.Row{Sent: at - millis(value), Done: at, Index: sample.NoIndex, Flags: sample.StartIsDue}
	d.k6Outcome(&r, rpc)
	d.fill(&r)
	d.pending = pending{row: r, place: p, open: true}
	return kept, nil
}

// k6Part adds a part of the time of the request before it.
func (d *Decoder) k6Part(role role, at int64) {
	value, ok := d.line.number("value")
	if !d.pending.open || d.pending.row.Done != at || !ok || value <= 0 {
		return
	}
	if role == k6Blocked {
		d.pending.blocks = millis(value)
	} else {
		d.pending.tail = millis(value)
	}
}

// settle adds the pending request.
func (d *Decoder) settle() {
	p := &d.pending
	if !p.open {
		return
	}
	p.open = false
	if p.tail > 0 && p.tail < p.row.Done-p.row.Sent {
		p.row.FirstByte = p.row.Done - p.tail
	}
	p.row.Sent -= p.blocks
	d.addRow(&p.row, p.place)
}

// k6Outcome classifies a request of k6. A script may say which statuses it
// expects, and k6 then says whether this one was.
func (d *Decoder) k6Outcome(r *sample.Row, rpc bool) {
	l := &d.line
	a := convention.Answer{GRPC: -1, ErrorType: l.tag("error")}
	code := status(l.tag("status"))
	r.Status = int16(code)
	if rpc {
		a.GRPC = code
	} else {
		a.HTTP = code
	}
	switch {
	case rpc:
	case code > 0:
		a.ErrorType = nil // an answer came: its status says more than k6's text about it
	default:
		a.Span = convention.StatusError
	}
	r.Outcome, _ = d.table.Outcome(&a)
	switch expected := l.tag("expected_response"); {
	case r.Outcome != sample.Shed && bytes.Equal(expected, []byte("true")):
		r.Outcome = sample.OK
	case r.Outcome == sample.OK && bytes.Equal(expected, []byte("false")):
		r.Outcome = sample.Error
	}
}

// aside reports whether a request belongs to setup or teardown, which are no
// load.
func aside(l *line) bool {
	group := l.tag("group")
	return bytes.HasPrefix(group, []byte("::setup")) || bytes.HasPrefix(group, []byte("::teardown"))
}

// iterationName is the metric that tells of each iteration from its start to its
// end. Whether iterations start as others end tells a closed executor from one
// that keeps a schedule; k6 says it nowhere.
const (
	iterationName  = "loadtest.iteration"
	iterationsName = "loadtest.iterations" // how many there were: a dropped arrival was one of them, and might have sent several requests
)

// k6Iteration adds an iteration.
func (d *Decoder) k6Iteration(at int64) (Reason, error) {
	value, ok := d.line.number("value")
	if !ok || value < 0 {
		return Malformed, errNumber
	}
	p, reason, ok := d.place(&d.facts, "k6")
	if !ok {
		return reason, reason.explain()
	}
	s := d.seriesOf(p, "k6", iterationName, "{iteration}")
	p.to.AddPoint(&s, sample.Point{Start: at - millis(value), Time: at, Value: 1})
	d.report.Points++
	d.add(p, tally{generator: "k6", name: iterationsName, unit: "{iteration}"}, 1, at)
	return kept, nil
}

// k6Workers adds a number of virtual users.
func (d *Decoder) k6Workers(at int64) (Reason, error) {
	value, ok := d.line.number("value")
	if !ok {
		return Malformed, errNumber
	}
	s := sample.Series{Scope: "k6", Name: d.intern.text(d.line.name), Kind: sample.Gauge}
	return d.point(s, sample.Point{Time: at, Value: value}, "k6")
}
