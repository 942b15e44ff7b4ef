package influx

import (
	"time"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/convention"
)

// tallyBin is how far apart events may lie to be counted in one point: steps
// that begin within it are told apart less exactly.
const tallyBin = int64(100 * time.Millisecond)

// tally counts events of one metric of one stream until the next point.
type tally struct {
	place                 place
	name, generator, unit string
	from, at              int64
	n                     float64
}

// count adds the value of a line that stands for events at a time: one each, or
// as many as it says.
func (d *Decoder) count(generator, name, unit string, at int64) (Reason, error) {
	value, ok := d.line.number("value")
	if !ok || value < 0 {
		return Malformed, errNumber
	}
	p, reason, ok := d.place(&d.facts, generator)
	if !ok {
		return reason, reason.explain()
	}
	d.add(p, tally{generator: generator, name: name, unit: unit}, value, at)
	return kept, nil
}

// add counts n events of a stream at a time.
func (d *Decoder) add(p place, what tally, n float64, at int64) {
	t := d.tally(p, what.name)
	t.generator, t.unit = what.generator, what.unit
	if t.n > 0 && (at-t.from > tallyBin || t.at-at > tallyBin) {
		d.flushTally(t)
	}
	if t.n == 0 {
		t.from, t.at = at, at
	}
	t.from, t.at, t.n = min(t.from, at), max(t.at, at), t.n+n
}

// tally finds the count of a metric of a stream. There are few in one request.
func (d *Decoder) tally(p place, name string) *tally {
	for i := range d.counted {
		if t := &d.counted[i]; t.place == p && t.name == name {
			return t
		}
	}
	d.counted = append(d.counted, tally{place: p, name: name})
	return &d.counted[len(d.counted)-1]
}

func (d *Decoder) flushTally(t *tally) {
	if t.n > 0 {
		s := d.seriesOf(t.place, t.generator, t.name, t.unit)
		t.place.to.AddPoint(&s, sample.Point{Start: t.from - 1, Time: t.at, Value: t.n})
		d.report.Points++
	}
	t.n = 0
}

// seriesOf returns the series of a count of a stream.
func (d *Decoder) seriesOf(p place, generator, name, unit string) sample.Series {
	g := &p.to.Groups[p.group]
	s := sample.Series{Source: g.Source, Service: generator, Scope: generator, Name: name, Unit: unit, Kind: sample.DeltaSum}
	if g.Scenario != "" {
		d.scenario = append(d.scenario[:0], g.Scenario...)
		d.buf = convention.AppendAttribute(d.buf[:0], []byte("scenario"), d.scenario)
		s.Attributes = d.intern.text(d.buf)
	}
	return s
}

func (d *Decoder) flushTallies() {
	for i := range d.counted {
		d.flushTally(&d.counted[i])
	}
}
