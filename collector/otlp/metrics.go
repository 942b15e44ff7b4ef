package otlp

import (
	"bytes"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/batch"
	"github.com/plimsoll/plimsoll/collector/convention"
)

// Members of Metric.data.
const (
	dataGauge       = 5
	dataSum         = 7
	dataHistogram   = 9
	dataExponential = 10
	dataSummary     = 11
)

// metricFields is what the points of a metric have in common.
type metricFields struct {
	name, unit  []byte
	series      string // name after the mapping, within a run
	role        convention.Role
	data        int32
	body        []byte // the encoded member of data
	temporality uint64
	monotonic   bool
	ofRun       bool // belongs to a run even if none is named
}

func (d *Decoder) metrics(body []byte) error {
	defer d.forget()
	d.reset()
	r := reader{b: body}
	for r.next() {
		if r.num != 1 {
			r.skip()
			continue
		}
		if err := d.resourceMetrics(r.bytes()); err != nil {
			return err
		}
	}
	if d.dropsUsers {
		d.skipped()
	}
	return r.err
}

func (d *Decoder) resourceMetrics(message []byte) error {
	if err := d.readResource(message); err != nil {
		return err
	}
	r := reader{b: message}
	for r.next() {
		switch r.num {
		case 2:
			if err := d.scopeMetrics(r.bytes()); err != nil {
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

func (d *Decoder) scopeMetrics(message []byte) (err error) {
	var scope []byte
	r := reader{b: message}
	for r.next() {
		if r.num != 1 {
			r.skip()
			continue
		}
		if scope, err = scopeName(r.bytes(), scope); err != nil {
			return err
		}
	}
	if r.err != nil {
		return r.err
	}
	d.readStream(scope)
	r = reader{b: message}
	for r.next() {
		switch r.num {
		case 2:
			if err := d.metric(r.bytes()); err != nil {
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

// metric decodes a metric. Of several members of its data the last one counts.
func (d *Decoder) metric(b []byte) error {
	var m metricFields
	r := reader{b: b}
	for r.next() {
		switch r.num {
		case 1:
			m.name = r.bytes()
		case 3:
			m.unit = r.bytes()
		case dataGauge, dataSum, dataHistogram, dataExponential, dataSummary:
			m.data, m.body = r.num, r.bytes()
		case 2, 12:
			r.skipAs(wireLen)
		default:
			r.skip()
		}
	}
	if r.err != nil || m.data == 0 {
		return r.err
	}
	m.series, m.role = d.intern.text(m.name), d.table.Mapped(m.name)
	m.ofRun = d.stream.known || d.resource.has&generatorBits != 0 || bytes.HasPrefix(m.name, []byte("loadtest."))
	switch c := m.role.Canonical(); {
	case c != "":
		m.series = c
		m.ofRun = m.ofRun || !m.role.OfServers()
	case m.role != "":
		m.series = sample.WithRole(string(m.role), m.series)
	}
	return d.metricData(&m)
}

// generatorBits are the attributes by which a resource says that it is a load
// generator.
const generatorBits = groupBits | 1<<convention.RunName

// metricData reads the members that all points share, then the points.
func (d *Decoder) metricData(m *metricFields) error {
	r := reader{b: m.body}
	for r.next() {
		switch {
		case r.num == 2 && m.data != dataGauge && m.data != dataSummary:
			m.temporality = uint64(uint32(r.varint()))
		case r.num == 3 && m.data == dataSum:
			m.monotonic = r.varint() != 0
		default:
			r.skip()
		}
	}
	if r.err != nil {
		return r.err
	}
	r = reader{b: m.body}
	for r.next() {
		if r.num != 1 {
			r.skip()
			continue
		}
		if err := d.point(m, r.bytes()); err != nil {
			return err
		}
	}
	return r.err
}

// Temporalities, as OTLP numbers them.
const (
	temporalityDelta      = 1
	temporalityCumulative = 2
)

// kind returns the kind of a metric's series.
func (m *metricFields) kind() (sample.Kind, bool) {
	delta := m.temporality == temporalityDelta
	if !delta && m.temporality != temporalityCumulative && m.data != dataGauge {
		return 0, false
	}
	switch {
	case m.data == dataGauge:
		return sample.Gauge, true
	case m.data == dataSum && delta:
		return sample.DeltaSum, true
	case m.data == dataSum && m.monotonic:
		return sample.Counter, true
	case m.data == dataSum:
		return sample.UpDown, true
	case delta:
		return sample.DeltaHisto, true
	}
	return sample.Histogram, true
}

// point decodes a point and adds it to the batch where it belongs.
func (d *Decoder) point(m *metricFields, b []byte) error {
	if d.rows >= maxSpans {
		d.report.note(TooManySpans, "point of", m.name)
		return nil
	}
	d.rows++
	p := &d.points
	if err := p.parse(d.table, m.data, b); err != nil {
		return err
	}
	if m.data == dataSummary {
		d.report.note(Summary, "point of", m.name)
		return nil
	}
	if p.flags&1 != 0 {
		d.report.Counts[NoRecordedData]++
		return nil
	}
	kind, ok := m.kind()
	if !ok {
		d.report.note(NoTemporality, "point of", m.name)
		return nil
	}
	out, reason, ok := p.point(m.data)
	if !ok {
		d.report.note(reason, "point of", m.name)
		return nil
	}
	if d.stream.generator == "artillery" {
		d.points.period(&out)
	}
	to, ok := d.pointBatch(m)
	if !ok {
		d.report.note(TooManyRuns, "point of", m.name)
		return nil
	}
	series := sample.Series{
		Source: d.stream.source, Service: d.stream.service, Scope: d.stream.scope, Name: m.series,
		Attributes: d.pointAttributes(), Unit: d.intern.text(m.unit), Kind: kind,
	}
	if m.role.Canonical() != "" && to.RunID == sample.Telemetry {
		series.Name = sample.WithRole(string(m.role), d.intern.text(m.name))
	}
	d.dropsUsers = d.dropsUsers || series.Name == "vusers.skipped" && series.Scope == artilleryScope
	to.AddPoint(&series, out)
	d.report.Points++
	return nil
}

// pointBatch returns the batch of the point that was parsed last: the run that
// the point or its resource names, the source's run for what a generator says,
// else the telemetry of servers.
func (d *Decoder) pointBatch(m *metricFields) (*batch.Building, bool) {
	run := runOf(&d.points.attributes, &d.resource)
	if !m.ofRun && !d.points.is(convention.RunID) {
		run = runOf(&attributes{}, &d.resource)
	}
	var name []byte
	if d.resource.is(convention.RunName) {
		name = d.resource.runName
	}
	id := d.intern.text(run)
	if id == "" && !m.ofRun {
		id, name = sample.Telemetry, nil
	}
	i, ok := d.router.To(id, d.intern.text(name), d.stream.source)
	if !ok {
		return nil, false
	}
	return d.router.At(i), true
}

// pointAttributes returns the attributes of the point that was parsed last as
// sample.Series has them.
func (d *Decoder) pointAttributes() string {
	p := &d.points
	slices.SortStableFunc(p.pairs, func(a, b pair) int { return bytes.Compare(a.key, b.key) })
	d.buf = d.buf[:0]
	for i := range p.pairs {
		kv := &p.pairs[i]
		switch key := string(kv.key); {
		case d.stream.generator == "artillery" && (key == "startTime" || key == "endTime"):
			continue // they are in its times, and would make every point a series
		case d.stream.generator == "nbomber" && key == "operation_type":
			continue // the last export goes on with the running totals of those before
		}
		p.text = kv.val.appendText(p.text[:0], convention.MaxText)
		d.buf = convention.AppendAttribute(d.buf, kv.key, p.text)
	}
	return d.intern.limited(d.buf, 8*convention.MaxText)
}
