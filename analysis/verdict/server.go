package verdict

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/littleslaw"
	"github.com/plimsoll/plimsoll/analysis/queues"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Constants of the comparison with what servers count.
const (
	hiddenShare  = 0.02 // of the attempts: so many more must a server count
	hiddenSigmas = 4.0  // of the count
	hiddenLeast  = 10
	quietS       = 10.0 // of telemetry before the run that show what others ask for
	reachNS      = 60e9 // from an export to the run that it encloses
	skewedShare  = 0.1  // of the requests: so many outside of the run betray a clock
	skewedFirst  = 0.01 // of the requests, that set the bound
	matchShare   = 0.02
)

// tally is what one metric of the entry service counts around the run.
type tally struct {
	requests   float64 // between the exports that enclose the run
	background float64 // of them, by the rate before the run
	early      float64 // counted before the first request was sent
	late       float64 // counted after the last one had ended
}

// servers compares the rows with what the generator and the service under test
// count.
func (j *judge) servers() {
	st := j.st
	j.lostTelemetry()
	if st.Telemetry == nil || st.Rows == 0 || st.SampledRows > 0 || st.Narrowed {
		return
	}
	service, one := j.entry()
	skewed := false
	if one && st.Run.Finished {
		if c, ok := j.tally(service); ok {
			skewed = j.skewed(service, c)
			if !skewed {
				j.hidden(service, c)
			}
		}
	}
	for _, t := range append(j.steps[:len(j.steps):len(j.steps)], j.total) {
		j.serverLevels(t, one && !skewed)
		if one && !skewed && t.Index >= 0 {
			j.outside(t, service)
		}
	}
}

// entry is the service that takes the requests of the run: the one whose
// telemetry counts requests. Where several do, which one cannot be told.
func (j *judge) entry() (service string, ok bool) {
	seen := map[string]bool{}
	for _, m := range j.st.Telemetry.Of(countsRequests) {
		seen[m.Series.Service] = true
	}
	for s := range seen {
		service = s
	}
	return service, len(seen) == 1
}

// countsRequests reports whether a metric of a server counts requests.
func countsRequests(m *fold.Metric) bool {
	calls := (m.Kind == queues.Started || m.Kind == queues.Ended) && !strings.HasPrefix(m.Pair, "messaging.")
	return !m.Mine && (m.Kind == queues.Duration || m.Kind == queues.ActiveRequests || calls)
}

// served are the metrics by which a service counts the requests that it has
// answered: those of HTTP, else those of the one name that there is.
func (j *judge) served(service string) []*fold.Metric {
	byName := map[string][]*fold.Metric{}
	for _, m := range j.st.Telemetry.Of(countsRequests) {
		if m.Series.Service == service && (m.Kind == queues.Duration && m.Form == queues.Spread || m.Kind == queues.Ended) {
			byName[m.Name] = append(byName[m.Name], m)
		}
	}
	for _, name := range [...]string{"http.server.request.duration", "http.server.duration", "http.server.requests"} {
		if all := byName[name]; len(all) > 0 {
			return all
		}
	}
	for _, all := range byName {
		if len(byName) == 1 {
			return all
		}
	}
	return nil // calls of several kinds: which of them the load is made of cannot be told
}

// requestsIn is how many requests a metric counts in (from, to]; NaN where its
// exports do not cover that.
func requestsIn(m *fold.Metric, from, to int64) float64 {
	n, ok := m.Count(from, to)
	if !ok && m.Kind == queues.Ended {
		n, ok = m.Growth(from, to)
	}
	if !ok {
		return math.NaN()
	}
	return n
}

// tally adds up the replicas of the entry service; ok is false where the exports
// of one of them do not enclose the run, or where series were left out.
func (j *judge) tally(service string) (c tally, ok bool) {
	span := j.st.Span
	all := j.served(service)
	if len(all) == 0 || j.st.Telemetry.Cut {
		return c, false
	}
	watched := map[string]int64{} // by replica, the last export before the run
	for _, m := range all {
		if from, _, ok := m.Around(span.From, span.From); ok && from >= span.From-reachNS {
			watched[m.Series.Source] = max(watched[m.Series.Source], from)
		}
	}
	for _, m := range all {
		before, ok := watched[m.Series.Source]
		if !ok {
			return c, false
		}
		if m.Begins() > span.From { // nothing to export yet before the run: it was 0
			value, n, last, ok := m.FromStart(span.To)
			if !ok {
				return c, false
			}
			if m.Kind == queues.Ended {
				n = value
			}
			c.requests += n
			c.late += max(0, requestsIn(m, last, m.Ends()))
			continue
		}
		from, to, ok := m.Around(span.From, span.To)
		if !ok {
			return c, false
		}
		c.requests += requestsIn(m, from, to)
		first := max(m.Begins(), span.From-reachNS)
		if quiet := float64(before-first) / 1e9; quiet >= quietS {
			c.background += requestsIn(m, first, before) / quiet * float64(to-from) / 1e9
		}
		c.early += requestsIn(m, first, from)
		c.late += requestsIn(m, to, m.Ends())
	}
	return c, true
}

// hidden reports requests that the service counted and that the client never
// made: retries that it does not show, or spans that were lost.
func (j *judge) hidden(service string, c tally) {
	attempts := float64(j.st.Rows)
	more := c.requests - c.background - attempts
	if more <= max(hiddenShare*attempts, hiddenSigmas*math.Sqrt(attempts), hiddenLeast) || j.has("telemetry_lost") {
		return
	}
	others := "others use it"
	if c.background > 0 {
		others = "others use it more than they did before the run"
	}
	j.find("hidden_retries", wire.Warn, more/attempts,
		"%s counted %s requests where the client made %s attempts, %s more: something between them tries again (a client library, a proxy, a mesh), spans are lost, or %s.",
		named(service), human(int64(math.Round(c.requests-c.background))), human(j.st.Rows), share(more/attempts), others)
}

func named(service string) string {
	if service == "" {
		return "The server"
	}
	return "The service " + service
}

// has reports whether a finding about the run was given.
func (j *judge) has(code string) bool {
	return slices.ContainsFunc(j.doc.Findings, func(f wire.Finding) bool { return f.Code == code })
}

// skewed reports a service that counted the requests of the run when none of them
// was under way, by its own clock. A request is counted after it was sent, and
// before it has ended unless its client gave up.
func (j *judge) skewed(service string, c tally) bool {
	all := c.early + c.requests + c.late
	if attempts := float64(j.st.Rows); math.Abs(all-attempts) > matchShare*attempts || all == 0 {
		return false // others use the service too: nothing can be told apart
	}
	span := j.st.Span
	gaveUp := j.st.Totals.Outcomes[sample.Timeout]+j.st.Totals.Outcomes[sample.Cancelled] > 0
	offset := 0.0
	switch metrics := j.served(service); {
	case c.early > skewedShare*all:
		offset = -float64(span.From-firstCounted(metrics, span.From, skewedFirst*all)) / 1e9
	case c.late > skewedShare*all && !gaveUp:
		offset = float64(lastCounted(metrics, span.To, skewedFirst*all)-span.To) / 1e9
	}
	if offset == 0 {
		return false
	}
	side := "ahead of"
	if offset < 0 {
		side = "behind"
	}
	j.find("clock_offset", wire.Warn, offset,
		"The clock of %s is at least %s %s the generator's: it counted requests when none was under way. What it reports over time is shifted by that, and is not compared step by step.",
		lowered(named(service)), lasting(math.Abs(offset)), side)
	return true
}

func lowered(s string) string { return "t" + s[1:] }

// firstCounted is the first export before the run by which so many requests were
// counted.
func firstCounted(metrics []*fold.Metric, run int64, n float64) int64 {
	best := run
	for _, m := range metrics {
		first := max(m.Begins(), run-reachNS)
		for _, at := range m.Times() {
			if at > first && at < best && requestsIn(m, first, at) >= n/float64(len(metrics)) {
				best = at
			}
		}
	}
	return best
}

// lastCounted is the last export after the run behind which so many requests were
// still counted.
func lastCounted(metrics []*fold.Metric, run int64, n float64) int64 {
	best := run
	for _, m := range metrics {
		for _, at := range m.Times() {
			if at > best && requestsIn(m, at, m.Ends()) >= n/float64(len(metrics)) {
				best = at
			}
		}
	}
	return best
}

// Constants of where the time goes.
const (
	outsideShare = 0.5 // of the mean time of an attempt
	outsideLeast = 0.005
	sameRequests = 0.05 // share by which the counts of both sides may differ
)

// outside says how much of the time of an attempt passed outside of the service:
// the mean from send to end against the mean of the service's own times, over the
// exports within a step that was carried and in which both count the same.
func (j *judge) outside(t *judged, service string) {
	if t.wire.Class != wire.ClassStable || j.st.Telemetry.Cut || t.Outcomes[sample.OK] != t.Rows {
		return
	}
	var requests, seconds float64
	from, to := t.From, t.To
	all := j.served(service)
	for _, m := range all {
		a, b, ok := m.Exports(t.From, t.To)
		if !ok || m.Kind != queues.Duration {
			return
		}
		from, to = max(from, a), min(to, b)
	}
	if from >= to {
		return
	}
	for _, m := range all {
		v, ok := m.Growth(from, to)
		if !ok || math.IsNaN(v) {
			return
		}
		seconds += v
		requests += requestsIn(m, from, to)
	}
	attempts := float64(t.Rows+t.Retries) * float64(to-from) / float64(t.To-t.From)
	if requests < fewestServed || math.Abs(requests-attempts) > sameRequests*attempts {
		return
	}
	server, client := seconds/requests, t.Service.Mean()
	if share, rest := 1-server/client, client-server; share >= outsideShare && rest >= outsideLeast {
		t.find("time_outside_server", wire.Info, share, "%s an attempt took %s on average and %s of it at %s: the other %s passed in the network, in connection or accept queues, or in the client.",
			t.at(), lasting(client), lasting(server), lowered(named(service)), lasting(rest))
	}
}

// serverLevels compares the requests that servers had with those of the rows.
// Only a level above the rows' is a contradiction, and only of the service that
// takes them: what waits on the way or in the client is with no server.
func (j *judge) serverLevels(t *judged, judged bool) {
	if t.Rows == 0 || t.Counts != nil {
		return
	}
	type key struct{ service, name string }
	parts := map[key][]*fold.Paired{}
	for _, p := range j.st.Paired {
		if !p.Mine {
			parts[key{p.Service, p.Name}] = append(parts[key{p.Service, p.Name}], p)
		}
	}
	keys := slices.SortedFunc(maps.Keys(parts), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.service, b.service), cmp.Compare(a.name, b.name))
	})
	for _, k := range keys {
		l, ok := replicas(parts[k], t)
		if !ok {
			continue
		}
		r, _ := l.Check()
		c := levelCheck(k.name, k.service, l, r)
		if !judged {
			c.OK = nil
		}
		t.wire.LittlesLaw.Checks = append(t.wire.LittlesLaw.Checks, c)
		if !judged || r.OK || t.Index < 0 {
			continue
		}
		why := "others use it, or records are missing"
		if t.Outcomes[sample.Timeout]+t.Outcomes[sample.Cancelled] > 0 {
			why = "it goes on with requests whose clients gave up"
		}
		t.find("server_in_flight", wire.Warn, r.Residual, "%s %s had %s requests at a time and the records account for %s: %s.",
			t.at(), lowered(named(k.service)), count(&l.Counted), count(&l.Records), why)
	}
}

// replicas adds up the level of the replicas of a service in a step.
func replicas(parts []*fold.Paired, t *judged) (littleslaw.Levels, bool) {
	l := littleslaw.Levels{SlackS: littleslaw.ServerSlackS, EventsS: 2 * float64(t.Rows+t.Retries) / t.Seconds(), Server: true}
	for _, p := range parts {
		m := means(p, t)
		if m.n == 0 {
			return l, false
		}
		if l.N == 0 || m.n < l.N {
			l.N = m.n
		}
		l.Counted += m.counted
		l.Records += m.records / float64(len(parts))
		if len(parts) > 1 {
			l.Spread = max(l.Spread, m.spread)
		}
	}
	return l, l.N >= littleslaw.LeastInstants
}
