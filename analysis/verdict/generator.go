package verdict

import (
	"maps"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/queues"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Constants of what generators say of themselves.
const (
	busyShare    = 0.8  // of the processors: above it a generator measures itself
	mostRatio    = 1.05 // a share that is higher is none
	surelyLost   = 0.2  // of the requests that the generator counted
	lossShare    = 0.01
	fewestLost   = 10
	serverShare  = 0.1 // of the rows: so many requests served make a source a server
	fewestServed = 100
)

// processors reports a generator whose own processors were busy in a step.
func (j *judge) processors(t *judged) {
	var worst float64
	var who string
	for source, all := range j.bySource(func(m *fold.Metric) bool {
		return m.Kind == queues.CPU || m.Own == fold.CPUState || m.Own == fold.CPUTime || m.Own == fold.Processors
	}) {
		if u := busy(all, t.From, t.To); u > worst && u <= mostRatio || u == worst && source < who {
			worst, who = u, source
		}
	}
	if worst >= busyShare {
		t.find("generator_cpu", wire.Warn, worst, "%s the processors of the generator %s were %s busy: late sends and slow answers may be its own.",
			t.at(), who, share(min(worst, 1)))
	}
}

// bySource groups metrics of the run's generators.
func (j *judge) bySource(pick func(m *fold.Metric) bool) map[string][]*fold.Metric {
	out := map[string][]*fold.Metric{}
	for _, m := range j.st.Telemetry.Of(func(m *fold.Metric) bool { return m.Mine && pick(m) }) {
		out[m.Series.Source] = append(out[m.Series.Source], m)
	}
	return out
}

// busy is the highest share of processor time in use that the metrics of one
// source show over [from, to); 0 where they show none.
func busy(all []*fold.Metric, from, to int64) float64 {
	levels := map[string]map[string]float64{} // by name and processor
	var used, processors float64
	for _, m := range all {
		switch m.Own {
		case fold.CPUTime:
			if v, ok := m.Growth(from, to); ok && !idle(m) {
				used += v
			}
			continue
		case fold.Processors:
			if v, n := m.Mean(from, to); n > 0 {
				processors = max(processors, v)
			}
			continue
		}
		v, n := m.Mean(from, to)
		if n < 2 || idle(m) {
			continue
		}
		if levels[m.Name] == nil {
			levels[m.Name] = map[string]float64{}
		}
		levels[m.Name][m.Attribute("cpu.logical_number")+m.Attribute("cpu")] += v // states of one processor add up
	}
	top := 0.0
	if processors > 0 {
		top = used / (float64(to-from) / 1e9) / processors
	}
	for _, name := range slices.Sorted(maps.Keys(levels)) {
		sum := 0.0
		for _, cpu := range slices.Sorted(maps.Keys(levels[name])) {
			sum += levels[name][cpu]
		}
		if u := sum / float64(len(levels[name])); u <= mostRatio { // else it is no share
			top = max(top, u)
		}
	}
	return top
}

// idle reports whether a series is about time in which a processor did nothing.
func idle(m *fold.Metric) bool {
	for _, key := range [...]string{"cpu.mode", "state", "system.cpu.state", "process.cpu.state"} {
		switch m.Attribute(key) {
		case "idle", "wait", "iowait":
			return true
		}
	}
	return false
}

// sentBy is how many attempts the rows of a source hold.
func (j *judge) sentBy(source string) float64 {
	if s := j.st.Totals.SourceSteps[source]; s != nil {
		return float64(s.Sent)
	}
	return 0
}

// ownCounts compares the rows with what the generator's SDK and instrumentation
// counted.
func (j *judge) ownCounts() {
	st := j.st
	if st.Rows == 0 || !st.Run.Finished || st.Narrowed || st.Totals.Counts != nil {
		return
	}
	var lost float64
	for _, m := range st.Telemetry.Of(func(m *fold.Metric) bool { return m.Mine && m.Own == fold.LostSpans }) {
		lost += m.Total()
	}
	if lost >= 1 && !j.thinned { // else it is the lesser of two losses
		r := lost / (lost + float64(st.Rows))
		j.find("telemetry_lost", severity(r > lossShare), r,
			"The generator's SDK counted %s spans that it could not deliver, beside the %s that came: a full queue, or exports that failed.",
			human(int64(lost)), human(st.Rows))
		return
	}
	answered := j.bySource(func(m *fold.Metric) bool { return m.Own == fold.Answered })
	var most, counted float64
	var who string
	for _, source := range slices.Sorted(maps.Keys(answered)) {
		n := j.mostAnswered(answered[source])
		if gone := n - j.sentBy(source); n > 0 && gone > max(lossShare*n, fewestLost) && gone/n > most {
			most, counted, who = gone/n, n, source
		}
	}
	if most > 0 {
		j.find("telemetry_lost", severity(most > surelyLost), most,
			"The instrumentation of %s counted %s requests, and %s came as spans: %s were sampled away or lost.",
			who, human(int64(counted)), human(int64(j.sentBy(who))), share(most))
	}
}

// mostAnswered is how many requests the instrumentation of a source counted: the
// most that one of its metrics did, as the layers of a client count the same ones.
func (j *judge) mostAnswered(all []*fold.Metric) float64 {
	counted, most := map[[2]string]float64{}, 0.0
	for _, m := range all {
		from, to, ok := m.Around(j.st.Span.From, j.st.Span.To)
		if !ok {
			continue
		}
		n, _ := m.Count(from, to)
		if m.Form == queues.Total {
			n, _ = m.Growth(from, to)
		}
		name := [2]string{m.Series.Scope, m.Series.Name}
		counted[name] += n
		most = max(most, counted[name])
	}
	return most
}

func severity(invalid bool) string {
	if invalid {
		return wire.Invalid
	}
	return wire.Warn
}

// atServer reports rows that were measured at a server: calls that a service
// made to others, by its own spans. A source that says when requests were due, or
// how it decides to send, is a load generator whatever else it does.
func (j *judge) atServer() {
	served := func(m *fold.Metric) bool { return m.Kind == queues.Duration }
	if of := j.st.Telemetry.Of(served); j.st.Rows == 0 && len(of) > 0 {
		j.find("measured_at_server", wire.Warn, float64(len(of)),
			"No request of a load generator has come, only what a server says of itself (%s). Send the spans of kind CLIENT of the generator.", of[0].Name)
		return
	}
	if j.st.Grade != fold.GradeS || j.st.Model != sample.UnknownModel {
		return
	}
	bySource := j.bySource(served)
	for _, source := range slices.Sorted(maps.Keys(bySource)) {
		var n float64
		for _, m := range bySource[source] {
			if from, to, ok := m.Exports(j.st.Span.From, j.st.Span.To); ok {
				c, _ := m.Count(from, to)
				n += c
			}
		}
		if sent := j.sentBy(source); sent > 0 && n >= max(fewestServed, serverShare*sent) {
			j.find("measured_at_server", wire.Invalid, n,
				"The source %s answered %s requests of others while it sent the %s of this run: these are the calls of a service, not the requests of its users. Measure at the load generator.",
				source, human(int64(n)), human(int64(sent)))
		}
	}
}

// tooShort says for how long a step would have had to last.
func (j *judge) tooShort(t *judged) {
	if need := t.wire.Stability.NeedS; need != nil && *need > t.wire.DurationS && t.wire.Class == wire.ClassInconclusive {
		t.find("too_short", wire.Info, *need, "%s %s do not decide whether the service keeps up: about %s would.",
			t.at(), lasting(t.wire.DurationS), lasting(*need))
	}
}
