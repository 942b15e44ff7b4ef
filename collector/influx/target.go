package influx

import (
	"encoding/binary"
	"math"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/batch"
	"github.com/plimsoll/plimsoll/collector/convention"
)

// place is where a row goes.
type place struct {
	to    *batch.Building
	group uint16
}

// targets sends rows and points to the batch of their run.
type targets struct {
	*batch.ByRun

	places map[string]place // by what tells groups apart, as bytes
	key    []byte
}

func newTargets() *targets { return &targets{ByRun: batch.NewByRun(), places: map[string]place{}} }

func (t *targets) reset() {
	t.Reset()
	clear(t.places)
}

// add appends a text to the key of a place so that no two lists of texts have
// the same key.
func (t *targets) add(s []byte) {
	t.key = append(binary.AppendUvarint(t.key, uint64(len(s))), s...)
}

// place finds where the rows of the facts go. Lines of one stream carry the same
// bytes, so it is looked up by them first.
func (d *Decoder) place(f *facts, generator string) (place, Reason, bool) {
	t := d.targets
	t.key = append(t.key[:0], generator...)
	t.key = append(t.key, 0)
	for _, s := range [...][]byte{f.run, f.runName, f.scenario, f.host, f.instance, f.service} {
		t.add(s)
	}
	const rare = 1<<convention.Generator | 1<<convention.Step | 1<<convention.ArrivalProcess | 1<<convention.Deadline |
		1<<convention.ExpectedInterval | 1<<convention.ArrivalRate | 1<<convention.ArrivalModel
	if f.has&rare != 0 {
		t.key = binary.AppendUvarint(t.key, f.has&rare)
		for _, s := range [...][]byte{f.generator, f.step, f.process} {
			t.add(s)
		}
		for _, n := range [...]uint64{uint64(f.deadline), uint64(f.interval), math.Float64bits(f.rate), uint64(f.model)} {
			t.key = binary.AppendUvarint(t.key, n)
		}
	}
	if p, ok := t.places[string(t.key)]; ok {
		return p, 0, true
	}
	at, ok := t.To(d.runOf(f), d.nameOf(f), d.sourceOf(f, generator))
	if !ok {
		return place{}, TooManyRuns, false
	}
	g := d.group(f, generator)
	to := t.At(at)
	i, ok := to.AddGroup(&g)
	if !ok {
		return place{}, TooManyGroups, false
	}
	p := place{to, i}
	t.places[string(t.key)] = p
	return p, 0, true
}

// runOf returns the id of the run that a line belongs to: of its tags, else of
// the address that it was sent to; empty when neither names one.
func (d *Decoder) runOf(f *facts) string {
	if len(f.run) > 0 {
		return d.intern.text(f.run)
	}
	return d.about.Run
}

// nameOf returns the name of the run for people.
func (d *Decoder) nameOf(f *facts) string {
	if len(f.runName) > 0 {
		return d.intern.text(f.runName)
	}
	return d.about.Name
}

// sourceOf returns the identity of the program that wrote a line: the generator,
// or the service that its tags name, at the host that they name or else the one
// that sent it, and the database, by which the users of one host keep their
// tests apart.
func (d *Decoder) sourceOf(f *facts, generator string) string {
	id := convention.Identity{Name: []byte(generator), Instance: f.instance, Host: f.host}
	if len(f.service) > 0 {
		id.Name = f.service
	}
	if d.about.Database != "" && d.about.Database != generator {
		id.Namespace = []byte(d.about.Database)
	}
	if len(id.Instance) == 0 && len(id.Host) == 0 {
		id.Host = []byte(d.about.Sender)
	}
	return d.intern.text(convention.AppendSource(nil, &id))
}

func (d *Decoder) group(f *facts, generator string) sample.Group {
	g := sample.Group{Source: d.sourceOf(f, generator), Generator: generator, Scenario: d.intern.text(f.scenario)}
	if f.is(convention.Generator) {
		g.Generator = d.intern.text(f.generator)
	}
	if f.is(convention.Step) {
		g.Step = d.intern.text(f.step)
	}
	if f.is(convention.ArrivalProcess) {
		g.Process = d.intern.text(f.process)
	}
	if f.is(convention.Deadline) {
		g.Deadline = f.deadline
	}
	if f.is(convention.ExpectedInterval) {
		g.ExpectedInterval = f.interval
	}
	if f.is(convention.ArrivalRate) {
		g.Rate = f.rate
	}
	if f.is(convention.ArrivalModel) {
		g.Model = f.model
	}
	return g
}
