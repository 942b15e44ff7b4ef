package counts

import (
	"slices"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// role is what a metric says about a run.
type role uint8

const (
	ended            role = iota + 1 // iterations or users that ended
	failed                           // of those, failed
	started                          // iterations or users that began
	dropped                          // arrivals that were never sent
	durations                        // histogram of how long ended ones took
	service                          // counter: durations together, or the integral of what is in flight
	meanOf                           // gauge: mean duration of what ended since the last export
	requests                         // requests sent
	failures                         // requests that failed
	badChecks                        // checks that failed
	answers                          // histogram of how long requests took
	inFlight                         // gauge
	limit                            // gauge: workers that exist
	corrected                        // histogram of times that the tool counted from when requests were due
	summary                          // histogram of how long requests took, over a stretch as a whole
	summaryCorrected                 // the same, as the tool counted it from when requests were due
)

// naming is one metric of a generator.
type naming struct {
	role  role
	unitS float64 // of a duration whose unit was not sent
	// when is an attribute "key=value" that a point must carry, "key=*" with any
	// value, "key=" when it must not carry the key; "" asks for nothing.
	when string
	sign float64 // -1 subtracts; 0 stands for 1
}

// generator is how one load generator names things, and what it can be told.
type generator struct {
	name     string
	scopes   []string
	services []string
	loop     Loop
	stream   string // attribute that names the stream
	prefixed bool   // users may put a prefix before all names
	metrics  map[string][]naming

	// endedFromDurations takes the number of durations for what ended, where no
	// counter says so.
	endedFromDurations bool
	scheduled          bool // starts count what was due, dropped ones too
	sendsMeans         bool // durations come as the mean of each period
	handsOver          bool // samples are handed over every flushS, the first ones before any instrument exists

	limit     string // the option that limits workers
	interval  string // how to export more often
	starts    string // how to get start times
	histogram string // how to get better buckets
}

const (
	ms          = 0.001
	exponential = "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION=base2_exponential_bucket_histogram gives percentiles"
)

// generators returns the tables, one for each generator.
func generators() []*generator {
	return append([]*generator{k6(), k6Seconds(), jmeter(), artillery(), locust(), gatling(), nbomber(), aiperf(), loadtest()}, tools()...)
}

// known returns the table of a generator by its name; an empty one when there is
// none.
func known(name string) *generator {
	for _, g := range generators() {
		if g.name == name {
			return g
		}
	}
	return &generator{}
}

func limitName(name string) string {
	if l := known(name).limit; l != "" {
		return l
	}
	return "the number of workers"
}

func k6() *generator {
	return &generator{
		name: "k6", scopes: []string{"k6"}, services: []string{"k6"}, stream: "scenario", prefixed: true, endedFromDurations: true, handsOver: true,
		metrics: map[string][]naming{
			"iterations":         {{role: ended}},
			"dropped_iterations": {{role: dropped}},
			"iteration_duration": {{role: durations, unitS: ms}},
			"http_reqs":          {{role: requests}},
			"http_req_duration":  {{role: answers, unitS: ms}},
			// Since 1.4 one counter by condition; before, a pair of counters.
			"http_req_failed.total":    {{role: failures, when: "condition=nonzero"}},
			"http_req_failed.occurred": {{role: failures}},
			// Of the browser module, which counts its requests nowhere else.
			"browser_http_req_duration":     {{role: requests}, {role: answers, unitS: ms}},
			"browser_http_req_failed.total": {{role: failures, when: "condition=nonzero"}},
			"checks.total":                  {{role: badChecks, when: "condition=zero"}, {role: badChecks, when: "condition="}},
			"checks.occurred":               {{role: badChecks, sign: -1}},
			"vus":                           {{role: inFlight}},
			"vus_max":                       {{role: limit}},
		},
		limit:     "maxVUs",
		interval:  "K6_OTEL_EXPORT_INTERVAL=1s exports every second",
		starts:    "-o json gives the start of every request",
		histogram: exponential,
	}
}

// k6Seconds is a file of k6 whose times are whole seconds: each second holds what
// was sampled in it, and nothing is handed over later.
func k6Seconds() *generator {
	g := k6()
	g.scopes, g.services, g.handsOver = []string{"k6/seconds"}, nil, false
	return g
}

// JMeter's standard backend listener sends counts of each period. Its mean and
// percentiles are those of the last samples, whichever period they were in, and
// are not kept.
func jmeter() *generator {
	return &generator{
		name: "jmeter", scopes: []string{"jmeter"},
		metrics: map[string][]naming{
			"jmeter.count":      {{role: ended}, {role: requests}},
			"jmeter.countError": {{role: failed}, {role: failures}},
			"jmeter.maxAT":      {{role: limit}}, // threads think too: not all are in flight
		},
		limit:    "the number of threads",
		interval: "the property backend_influxdb.send_interval=1 sends every second",
		starts:   "InfluxDBRawBackendListenerClient sends the start of every sample",
	}
}

// Artillery sends increments, and percentiles and means of each period as
// gauges. Only the mean is used, as mean times count is a sum: percentiles of
// periods cannot be merged.
func artillery() *generator {
	return &generator{
		name: "artillery", scopes: []string{"Artillery.io_metrics"}, loop: LoopOpen, sendsMeans: true,
		metrics: map[string][]naming{
			"vusers.created":             {{role: started}},
			"vusers.completed":           {{role: ended}},
			"vusers.failed":              {{role: ended}, {role: failed}},
			"vusers.skipped":             {{role: dropped}},
			"vusers.session_length.mean": {{role: meanOf, unitS: ms}},
			"http.requests":              {{role: requests}},
			// From a report file.
			"loadtest.requests.failed":      {{role: failures}},
			"loadtest.summary.service_time": {{role: summary, unitS: 1}},
		},
		limit:  "maxVusers",
		starts: "traces of publish-metrics give the start of every request",
	}
}

func locust() *generator {
	return &generator{
		name: "locust", scopes: []string{"locust"}, services: []string{"locust"}, loop: LoopClosed, endedFromDurations: true,
		metrics: map[string][]naming{
			"locust.client.duration": {{role: durations, unitS: 1}, {role: failed, when: "error.type=*"}},
			"locust.users.count":     {{role: limit}}, // users think too: not all are in flight
			// From the files of --csv.
			"loadtest.requests.ended":          {{role: ended}, {role: requests}},
			"loadtest.requests.failed":         {{role: failures}, {role: failed}},
			"loadtest.requests.in_flight_time": {{role: service}},
			"loadtest.summary.service_time":    {{role: summary, unitS: 1}},
		},
		starts:    "the module locust.contrib.csv_request_logger writes the start of every request",
		histogram: exponential,
	}
}

func gatling() *generator {
	return &generator{
		name: "gatling", scopes: []string{"io.gatling.enterprise"}, services: []string{"gatling.enterprise"}, stream: "scenario",
		metrics: map[string][]naming{
			"gatling_enterprise.user.start.count": {{role: started}},
			"gatling_enterprise.user.end.count":   {{role: ended}},
			"gatling_enterprise.user.concurrent":  {{role: inFlight}},
			"gatling_enterprise.request.count":    {{role: requests}},
			"gatling_enterprise.response.count":   {{role: failures, when: "status=ko"}},
			// In place of response.count, where histograms are sent.
			"gatling_enterprise.response.time": {{role: answers, unitS: ms}, {role: failures, when: "status=ko"}},
		},
		histogram: "gatling.enterprise.opentelemetry.metrics.deltaExponentialHistogramsSupported=true gives percentiles",
	}
}

// NBomber sends gauges only: running totals by scenario and step. A scenario as a
// whole is a step by the name of "global information"; the others are parts of it.
func nbomber() *generator {
	whole := func(roles ...role) (out []naming) {
		for _, r := range roles {
			out = append(out, naming{role: r, when: "step=global information"}, naming{role: r, when: "step="})
		}
		return out
	}
	return &generator{
		name: "nbomber", scopes: []string{"nbomber"}, services: []string{"nbomber"}, stream: "scenario",
		metrics: map[string][]naming{
			"all.request.count":  whole(ended, requests),
			"fail.request.count": whole(failed, failures),
		},
	}
}

func aiperf() *generator {
	return &generator{
		name: "aiperf", services: []string{"aiperf"}, scopes: []string{"aiperf"}, endedFromDurations: true,
		metrics: map[string][]naming{
			"gen_ai.client.operation.duration": {{role: durations, unitS: 1}, {role: failed, when: "error.type=*"}},
		},
		starts:    "profile_export.jsonl gives when every request was due",
		histogram: exponential,
	}
}

// loadtest is the table of generators that use this project's own names.
func loadtest() *generator {
	return &generator{
		name: "loadtest", loop: LoopOpen, scheduled: true, stream: "loadtest.scenario",
		metrics: map[string][]naming{
			"loadtest.arrivals.scheduled":      {{role: started}},
			"loadtest.arrivals.dropped":        {{role: dropped}},
			"loadtest.requests.in_flight":      {{role: inFlight}},
			"loadtest.requests.in_flight_time": {{role: service}},
		},
	}
}

// find returns the table that a scope or a service name gives away, nil when
// there is none.
func find(scope, service string) *generator {
	all := generators()
	for _, g := range all {
		for _, s := range g.scopes {
			if scope == s || strings.HasPrefix(scope, s+".") {
				return g
			}
		}
	}
	for _, g := range all {
		if slices.Contains(g.services, service) {
			return g
		}
	}
	return nil
}

// bare returns a metric's name without the prefix, and whether it is known.
func (g *generator) bare(name, prefix string) (string, bool) {
	name, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return "", false
	}
	_, ok = g.metrics[name]
	return name, ok
}

// prefix is what users put before all names: what most known names leave. A
// metric of a script may end like a known one, so single ones do not decide.
func (g *generator) prefix(names []string) string {
	if !g.prefixed {
		return ""
	}
	votes := map[string]int{"": 0}
	for _, name := range names {
		for k := range g.metrics {
			if p, ok := strings.CutSuffix(name, k); ok {
				votes[p]++
			}
		}
	}
	best := ""
	for p, n := range votes {
		if n > votes[best] || n == votes[best] && (len(p) < len(best) || len(p) == len(best) && p < best) {
			best = p
		}
	}
	return best
}

// matches says whether the attributes of a series meet the naming.
func (n *naming) matches(attributes string) bool {
	if n.when == "" {
		return true
	}
	key, want, _ := strings.Cut(n.when, "=")
	value, ok := attribute(attributes, key)
	switch want {
	case "":
		return !ok
	case "*":
		return ok
	}
	return ok && strings.EqualFold(value, want)
}

// attribute reads a value from attributes as sample.Series has them.
func attribute(attributes, key string) (string, bool) {
	for k, v := range sample.Pairs(attributes) {
		if k == key {
			return v, true
		}
	}
	return "", false
}
