package otlp

import (
	"math"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/convention"
)

// served adds up what the spans of one scope say of the time that requests spent
// in a server of models and in its queue (vLLM's llm_request).
type served struct {
	queued, all spread
}

// spread is a distribution without buckets, and the time it covers.
type spread struct {
	n        uint64
	sum      float64
	min, max float64
	from, to int64
}

// add takes a span that is no request.
func (d *served) add(s *spanFields) {
	if s.has&serverBits == 0 {
		return
	}
	if _, ok := s.times(); !ok {
		return
	}
	if s.is(convention.QueueSeconds) {
		d.queued.add(s.queued, s)
	}
	if s.is(convention.ServerSeconds) {
		d.all.add(s.served, s)
	}
}

func (d *spread) add(v float64, s *spanFields) {
	if d.n == 0 {
		*d = spread{min: math.Inf(1), from: math.MaxInt64}
	}
	d.n++
	d.sum += v
	d.min, d.max = min(d.min, v), max(d.max, v)
	d.from, d.to = min(d.from, int64(s.start)), max(d.to, int64(s.end))
}

// flushServed turns what was added up into points, one for each distribution, of
// the run that the resource names or else of servers.
func (d *Decoder) flushServed() {
	for _, m := range [...]struct {
		name string
		of   *spread
	}{{"gen_ai.latency.time_in_queue", &d.served.queued}, {"gen_ai.latency.e2e", &d.served.all}} {
		if m.of.n == 0 {
			continue
		}
		run := d.intern.text(runOf(&attributes{}, &d.resource))
		if run == "" {
			run = sample.Telemetry
		}
		i, ok := d.router.To(run, "", d.stream.source)
		if !ok {
			d.report.note(TooManyRuns, "spans of", []byte(d.stream.scope))
			continue
		}
		d.router.At(i).AddPoint(&sample.Series{
			Source: d.stream.source, Service: d.stream.service, Scope: d.stream.scope, Name: m.name, Unit: "s", Kind: sample.DeltaHisto,
		}, sample.Point{
			Start: m.of.from, Time: m.of.to, Value: m.of.sum, Histogram: &sample.Distribution{Count: m.of.n, Min: m.of.min, Max: m.of.max},
		})
		d.report.Points++
	}
}
