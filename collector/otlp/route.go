package otlp

import (
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/convention"
)

// maxSpans is how many spans of one request are read.
const maxSpans = 1 << 18

// stream is what the spans of one resource and scope have in common.
type stream struct {
	source, service, generator, scope string
	known                             bool // the generator is a known one
	nests, parts, rootsWarmUp         bool
	iterations                        bool
	cache                             [8]place
	hints                             [32]uint8 // by hash of a scenario, its last place in cache
	filled, next                      int
}

// place is where spans with certain attributes go.
type place struct {
	mask                                         uint64 // which of them the span carried
	run, name, scenario, step, generator, method string
	deadline, interval                           int64
	rate                                         float64
	model                                        sample.Model
	batch                                        int
	group                                        uint16
}

// holds reports whether a span with these attributes goes to this place.
func (p *place) holds(a *attributes, run []byte) bool {
	if a.has&(groupBits|runBits) != p.mask {
		return false
	}
	// A run that the resource names is the same for the whole stream.
	if p.mask&(bit(convention.RunID)|aliasBit) != 0 && string(run) != p.run {
		return false
	}
	if p.mask&bit(convention.Scenario) != 0 && string(a.scenario) != p.scenario {
		return false
	}
	if p.mask&^(bit(convention.Scenario)|bit(convention.RunID)|aliasBit) == 0 {
		return true
	}
	has := func(r convention.Attribute) bool { return p.mask&bit(r) != 0 }
	return (!has(convention.RunName) || string(a.runName) == p.name) &&
		(!has(convention.Step) || string(a.step) == p.step) &&
		(!has(convention.Generator) || string(a.generator) == p.generator) &&
		(!has(convention.ArrivalProcess) || string(a.process) == p.method) &&
		(!has(convention.Deadline) || a.deadline == p.deadline) &&
		(!has(convention.ExpectedInterval) || a.interval == p.interval) &&
		(!has(convention.ArrivalRate) || a.rate == p.rate) &&
		(!has(convention.ArrivalModel) || a.model == p.model)
}

// hint returns where the place of a span is remembered. Scenarios take turns as
// they like: the processor would mostly guess wrong in a search.
func (s *stream) hint(a *attributes) *uint8 {
	h := 0
	if n := len(a.scenario); n > 0 && a.is(convention.Scenario) {
		h = n*5 + int(a.scenario[0]) + int(a.scenario[n-1])*3
	}
	return &s.hints[h%len(s.hints)]
}

// place finds the batch and group of a span.
func (d *Decoder) place(s *stream, a *attributes) (*place, Reason, bool) {
	run := runOf(a, &d.resource)
	hint := s.hint(a)
	if p := &s.cache[*hint%uint8(len(s.cache))]; s.filled > 0 && p.holds(a, run) {
		return p, 0, true
	}
	for i := range s.cache[:s.filled] {
		if p := &s.cache[i]; p.holds(a, run) {
			*hint = uint8(i)
			return p, 0, true
		}
	}
	runID := d.intern.text(run)
	name := a.runName
	if !a.is(convention.RunName) {
		name = nil
		if d.resource.is(convention.RunName) {
			name = d.resource.runName
		}
	}
	to, ok := d.router.To(runID, d.intern.text(name), s.source)
	if !ok {
		return nil, TooManyRuns, false
	}
	g := d.group(s, a)
	index, ok := d.router.At(to).AddGroup(&g)
	if !ok {
		return nil, TooManyGroups, false
	}
	p := &s.cache[s.next]
	*hint = uint8(s.next)
	s.next = (s.next + 1) % len(s.cache)
	s.filled = min(s.filled+1, len(s.cache))
	// Strings that had to be made safe differ from what was sent and never hit.
	*p = place{
		mask: a.has & (groupBits | runBits), run: runID, name: d.intern.text(name), scenario: g.Scenario, step: g.Step,
		generator: g.Generator, method: g.Process, deadline: g.Deadline, interval: g.ExpectedInterval, rate: g.Rate, model: g.Model,
		batch: to, group: index,
	}
	return p, 0, true
}

// group builds the group of a span: the resource's values under the span's.
func (d *Decoder) group(s *stream, a *attributes) sample.Group {
	g := sample.Group{Source: s.source, Generator: s.generator}
	if s.known {
		g.Model = convention.LoopOf(s.generator)
	}
	for _, from := range [...]*attributes{&d.resource, a} {
		if from.is(convention.Scenario) {
			g.Scenario = d.intern.text(from.scenario)
		}
		if from.is(convention.Generator) {
			g.Generator = d.intern.text(from.generator)
		}
		if from.is(convention.Step) {
			g.Step = d.intern.text(from.step)
		}
		if from.is(convention.ArrivalProcess) {
			g.Process = d.intern.text(from.process)
		}
		if from.is(convention.ArrivalModel) {
			g.Model = from.model
		}
		if from.is(convention.ArrivalRate) {
			g.Rate = from.rate
		}
		if from.is(convention.Deadline) {
			g.Deadline = from.deadline
		}
		if from.is(convention.ExpectedInterval) {
			g.ExpectedInterval = from.interval
		}
	}
	return g
}
