package verdict

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/metastability"
	"github.com/plimsoll/plimsoll/analysis/queues"
)

// agrees is how far a server's count of answers may lie from the client's, before
// a push, for what it counts afterwards to be believed.
const agrees = 0.1

// witnesses are the server metrics that a push and return is watched by: of each
// kind the name that had most.
type witnesses struct {
	queue, age, pool []*fold.Metric
	served           []*fold.Metric // answers of the entry service; nil where they are not to be believed
}

// witness adds to the spans around a push what servers said of their queues, and
// the answers that nobody waited for. They explain; what decides are the rows, but
// for a server that is seen to work below its capacity.
func (j *judge) witness(in *metastability.Input) {
	if j.st.Telemetry == nil || j.has("clock_offset") {
		return
	}
	from, to := j.st.Span.From, j.st.Span.To
	w := witnesses{
		queue: j.largest(from, to, func(m *fold.Metric) bool { return m.Kind == queues.Waiting || m.Kind == queues.Lag }),
		age: j.largest(from, to, func(m *fold.Metric) bool {
			return (m.Kind == queues.Age || m.Kind == queues.Wait && m.Form == queues.Spread) && !runtimes(m.Name)
		}),
		pool: j.largest(from, to, func(m *fold.Metric) bool { return m.Kind == queues.PoolPending }),
	}
	if service, one := j.entry(); one && !j.st.Telemetry.Cut && j.st.SampledRows == 0 {
		w.served = j.served(service)
	}
	if !w.believed(in.Before) {
		w.served = nil
	}
	for _, spans := range [][]metastability.Span{in.Before, in.Push, in.After} {
		for i := range spans {
			w.see(&spans[i])
		}
	}
}

// runtimes reports metrics of event loops and schedulers: waits of microseconds
// that no request stands for.
func runtimes(name string) bool {
	return strings.HasPrefix(name, "go.") || strings.HasPrefix(name, "nodejs.") || strings.HasPrefix(name, "jvm.")
}

// largest are the series of the name that was largest over a stretch of time;
// names that measure the same queue in two ways are not added up.
func (j *judge) largest(from, to int64, pick func(m *fold.Metric) bool) []*fold.Metric {
	byName := map[string][]*fold.Metric{}
	for _, m := range j.st.Telemetry.Of(func(m *fold.Metric) bool { return !m.Mine && pick(m) }) {
		byName[m.Name] = append(byName[m.Name], m)
	}
	var best []*fold.Metric
	most := math.Inf(-1)
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		if v, ok := covered(byName[name], from, to); ok && v > most {
			best, most = byName[name], v
		}
	}
	return best
}

// covered is the value of metrics over the part of a stretch that their exports
// cover.
func covered(metrics []*fold.Metric, from, to int64) (float64, bool) {
	for _, m := range metrics {
		if m.Form != queues.Level {
			from, to = max(from, m.Begins()), min(to, m.Ends())
		}
	}
	if from >= to {
		return 0, false
	}
	return fold.Value(metrics, from, to)
}

// see adds to a span what the witnesses say of it.
func (w *witnesses) see(s *metastability.Span) {
	value := func(metrics []*fold.Metric) *float64 {
		if v, ok := fold.Value(metrics, s.FromNS, s.ToNS); ok {
			return &v
		}
		return nil
	}
	s.Queue, s.QueueAgeS, s.PoolPending = value(w.queue), value(w.age), value(w.pool)
	if n, ok := w.answers(s.FromNS, s.ToNS); ok {
		n -= float64(s.Answered)
		s.Abandoned = &n
	}
}

// answers is how many requests the entry service answered in (from, to].
func (w *witnesses) answers(from, to int64) (n float64, ok bool) {
	for _, m := range w.served {
		c := requestsIn(m, from, to)
		if math.IsNaN(c) {
			if m.Begins() < to {
				return 0, false
			}
			continue // its first answer is yet to come
		}
		n += c
	}
	return n, len(w.served) > 0
}

// believed reports whether the service counted what the client was answered while
// all was well. Else others use it, or not all of it is seen.
func (w *witnesses) believed(before []metastability.Span) bool {
	var served, answered float64
	for i := range before {
		n, ok := w.answers(before[i].FromNS, before[i].ToNS)
		if !ok {
			return false
		}
		served += n
		answered += float64(before[i].Answered)
	}
	return answered >= fewestServed && math.Abs(served-answered) <= agrees*answered
}

// queued says what the server's own queue held at the end of the watch.
func queued(r *metastability.Result) string {
	at := func(name string) float64 {
		for _, s := range r.Signals {
			if s.Name == name {
				return s.Value
			}
		}
		return math.NaN()
	}
	var parts []string
	for _, w := range [...]struct{ now, before, what string }{
		{metastability.SignalQueue, metastability.SignalBaseQueue, "%s waited at the server"},
		{metastability.SignalPool, metastability.SignalBasePool, "%s waited for its pool"},
	} {
		now, before := at(w.now), at(w.before)
		if math.IsNaN(now) || r.State == metastability.Recovered && !(now > 1.5*before+3) {
			continue
		}
		text := fmt.Sprintf(w.what, count(&now))
		if !math.IsNaN(before) {
			text += fmt.Sprintf(" (at most %s before)", count(&before))
		}
		parts = append(parts, text)
	}
	if n := at(metastability.SignalAbandoned); n >= 1 {
		parts = append(parts, rate(n)+" were answered for clients that had gone")
	}
	if len(parts) == 0 {
		return ""
	}
	return "; at the end " + strings.Join(parts, " and ")
}
