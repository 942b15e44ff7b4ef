package influx

import (
	"bytes"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/convention"
)

// unnamed is the generator of requests whose lines name none.
const unnamed = "influx"

// knowsField reports whether a mapping file, or the project's own names, say
// what some field of the line is.
func (d *Decoder) knowsField() bool {
	l := &d.line
	own := bytes.HasPrefix(l.name, []byte("loadtest."))
	if !own && !d.table.MapsLines() {
		return false
	}
	for i := range l.fields {
		name := d.fieldName(l.fields[i].key)
		if d.table.Mapped(name) != convention.NoRole || d.table.Request(name) != (convention.Stamp{}) || own && ownRole(name) != convention.NoRole {
			return true
		}
	}
	return false
}

// fieldName is the name of a field in a mapping file: MEASUREMENT.FIELD, or the
// measurement alone where the field is "value".
func (d *Decoder) fieldName(key []byte) []byte {
	d.name = append(d.name[:0], d.line.name...)
	if string(key) != "value" {
		d.name = append(append(d.name, '.'), key...)
	}
	return d.name
}

// ownRole knows the project's own metrics.
func ownRole(name []byte) convention.Role {
	for _, r := range convention.Roles() {
		if string(name) == r.Canonical() {
			return r
		}
	}
	return convention.NoRole
}

// mapped reads the fields that a mapping file names.
func (d *Decoder) mapped(at int64) (Reason, error) {
	l := &d.line
	for i := range l.fields {
		name := d.fieldName(l.fields[i].key)
		role := d.table.Mapped(name)
		if role == convention.NoRole {
			role = ownRole(name)
		}
		stamp := d.table.Request(name)
		if role == convention.NoRole && stamp == (convention.Stamp{}) {
			continue
		}
		v, ok := number(l.fields[i].value)
		if !ok {
			return Malformed, errNumber
		}
		var reason Reason
		var err error
		if role != convention.NoRole {
			reason, err = d.mappedPoint(role, v, at)
		} else {
			reason, err = d.mappedRow(stamp, v, at)
		}
		if err != nil {
			return reason, err
		}
	}
	return kept, nil
}

// mappedPoint adds an observation of a metric with a role. What servers measure
// belongs to no run, unless the line names one.
func (d *Decoder) mappedPoint(role convention.Role, v float64, at int64) (Reason, error) {
	f := &d.facts
	run, name := d.runOf(f), d.nameOf(f)
	s := sample.Series{Name: role.Canonical(), Service: d.intern.text(f.service), Scope: unnamed, Attributes: d.attributes()}
	if run == "" && role.OfServers() {
		run, name = sample.Telemetry, ""
	}
	if s.Name == "" || run == sample.Telemetry {
		s.Name = sample.WithRole(string(role), d.intern.text(d.name))
	}
	switch role {
	case convention.Scheduled, convention.Dropped, convention.InFlightTime:
		s.Kind = sample.Counter
	default:
		s.Kind = sample.Gauge
	}
	s.Source = d.sourceOf(f, unnamed)
	i, ok := d.targets.To(run, name, s.Source)
	if !ok {
		return TooManyRuns, TooManyRuns.explain()
	}
	d.targets.At(i).AddPoint(&s, sample.Point{Time: at, Value: v})
	d.report.Points++
	return kept, nil
}

// attributes returns the tags as sample.Series has them, without those that say
// where the line belongs.
func (d *Decoder) attributes() string {
	d.tags = append(d.tags[:0], d.line.tags...)
	slices.SortStableFunc(d.tags, func(a, b pair) int { return bytes.Compare(a.key, b.key) })
	d.buf = d.buf[:0]
	for i := range d.tags {
		switch a := d.table.Attribute(d.tags[i].key); {
		case a == convention.RunID, a == convention.RunName, a.IsRunAlias():
		default:
			d.buf = convention.AppendAttribute(d.buf, d.tags[i].key, d.tags[i].value)
		}
	}
	return d.intern.text(d.buf)
}

// mappedRow adds a request whose duration stands in a field.
func (d *Decoder) mappedRow(stamp convention.Stamp, v float64, at int64) (Reason, error) {
	took := int64(min(v*float64(stamp.Unit), longest))
	if took < 0 {
		return Malformed, errNumber
	}
	r := sample.Row{Sent: at, Done: at + took, Index: sample.NoIndex}
	if stamp.End {
		r.Sent, r.Done = at-took, at
	}
	d.outcome(&r)
	d.fill(&r)
	return d.row(&r, unnamed)
}

// outcome classifies a request by the attributes that OpenTelemetry has for it,
// or by a tag or field that is commonly called status, code or result.
func (d *Decoder) outcome(r *sample.Row) {
	f := &d.facts
	a := convention.Answer{HTTP: f.http, GRPC: f.grpc, ErrorType: f.errorType}
	var word []byte
	for _, key := range [...]string{"status", "code", "status_code", "statusCode", "responseCode", "result", "outcome", "success", "ok", "error"} {
		v := d.line.tag(key)
		if v == nil {
			v = unquoted(d.line.field(key))
		}
		if n := status(v); n >= 100 {
			a.HTTP = n
		} else if len(v) > 0 {
			word = said(&a, key, v, word)
		}
	}
	r.Status = int16(max(a.HTTP, a.GRPC, 0))
	r.Outcome, _ = d.table.Outcome(&a)
	if len(word) > 0 && r.Outcome == sample.OK { // a word that may stand for a failure, if the mapping says so
		a.ErrorType = word
		if o, sure := d.table.Outcome(&a); sure {
			r.Outcome = o
		}
	}
}

// said adds what a word says of an answer, and returns it when it says nothing
// by itself.
func said(a *convention.Answer, key string, v, word []byte) []byte {
	low := string(bytes.ToLower(v))
	if key == "error" {
		switch low {
		case "false", "f", "0", "none", "noerror":
		case "true", "t", "1":
			a.Span = convention.StatusError
		default:
			a.Span, a.ErrorType = convention.StatusError, v
		}
		return word
	}
	switch low {
	case "ok", "pass", "passed", "success", "true", "t", "good", "0", "1":
	case "ko", "nok", "fail", "failed", "failure", "false", "f", "error", "timeout", "cancelled":
		a.Span, a.ErrorType = convention.StatusError, v
	default:
		return v
	}
	return word
}

// failure classifies a request that failed with a status, or a text.
func (d *Decoder) failure(code int, why []byte) sample.Outcome {
	o, _ := d.table.Outcome(&convention.Answer{Span: convention.StatusError, HTTP: code, GRPC: -1, ErrorType: why})
	if o == sample.OK {
		return sample.Error
	}
	return o
}

// hash makes the key that joins the attempts of a request; it is never 0.
func hash(id []byte) uint64 { return max(xxh3.Hash(id), 1) }
