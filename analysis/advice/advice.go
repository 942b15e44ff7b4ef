package advice

import (
	"fmt"
	"math"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/counts"
)

// Advice is one thing to set.
type Advice struct {
	Set  string `json:"set"`  // the variable, flag or line, ready to copy
	Gain string `json:"gain"` // what the next run would prove with it
}

// Of lists what would improve the evidence of a run, the most useful first; it
// is empty when nothing would. Server is the address of the HTTP API, for what
// has to be sent there.
func Of(v *wire.Verdict, server string) []Advice {
	a := newAdviser(v, server)
	a.evidence()
	a.question()
	return a.out
}

// First is what would improve the evidence most; ok is false when only the
// question could be better.
func First(v *wire.Verdict, server string) (best Advice, ok bool) {
	a := newAdviser(v, server)
	if a.evidence(); len(a.out) == 0 {
		return Advice{}, false
	}
	return a.out[0], true
}

type adviser struct {
	v      *wire.Verdict
	codes  map[string]*wire.Finding
	server string
	out    []Advice
}

func newAdviser(v *wire.Verdict, server string) *adviser {
	a := &adviser{v: v, codes: map[string]*wire.Finding{}, server: strings.TrimSuffix(server, "/")}
	for i := range v.Findings {
		if f := &v.Findings[i]; a.codes[f.Code] == nil {
			a.codes[f.Code] = f
		}
	}
	return a
}

func (a *adviser) evidence() {
	a.missing()
	a.loop()
	a.grade()
	a.precision()
}

func (a *adviser) add(set, gain string) {
	for i := range a.out {
		if a.out[i].Set == set {
			return
		}
	}
	a.out = append(a.out, Advice{set, gain})
}

func (a *adviser) says(code string) bool { return a.codes[code] != nil }

// missing is about data that did not arrive.
func (a *adviser) missing() {
	artillery := a.v.Run.Generator == "artillery"
	switch {
	case (a.says("sampled_spans") || a.says("telemetry_lost")) && artillery:
		a.add("sampleRate: 1", "in the open-telemetry reporter of publish-metrics, and no smartSampling: all requests come, so that rates and in flight become known")
	case a.says("sampled_spans"):
		a.add("OTEL_TRACES_SAMPLER=always_on", "on the generator: all requests come, so that rates and in flight become known")
	case a.says("telemetry_lost"):
		a.add("OTEL_BSP_MAX_QUEUE_SIZE=65536", "on the generator: its exporter holds what it cannot send at once instead of losing it")
	}
	if f := a.codes["dropped_arrivals"]; f != nil || a.says("worker_cap") {
		if carried := a.carried(); carried > 0 {
			a.add(fmt.Sprintf("a rate below %.3g/s", carried), "at first: the service completed no more, and with more workers it would only have answered later")
		} else if limit := counts.OptionsOf(a.v.Run.Generator).Limit; limit != "" {
			a.add(a.workers(limit), "enough workers, all of them there before the start: what was due is sent, and the service is tested instead of the generator")
		} else {
			a.add("more workers", "in the generator, all of them there before the start: what was due is sent")
		}
	}
	if a.says("measured_at_server") {
		a.add("OTEL_TRACES_EXPORTER=none", "on the service under test, and traces from the load generator: what users wait for is only seen there")
	}
}

// carried is the most that the service completed, 1/s, where it could not have
// completed more with more workers; else 0.
func (a *adviser) carried() float64 {
	most, flat := 0.0, a.says("throughput_flat")
	for i := range a.v.Steps {
		s := &a.v.Steps[i]
		flat = flat || s.Class == wire.ClassUnstable
		if s.Completed != nil {
			most = max(most, *s.Completed)
		}
	}
	if !flat {
		return 0
	}
	return most
}

// workers is how many would do: those that the longest responses seen would keep
// busy at the offered rate, and half as many again.
func (a *adviser) workers(limit string) string {
	most := 0.0
	for i := range a.v.Steps {
		s := &a.v.Steps[i]
		if s.Offered != nil && s.ServiceTime.Max != nil {
			most = max(most, *s.Offered**s.ServiceTime.Max)
		}
	}
	if most == 0 {
		return limit
	}
	return fmt.Sprintf("%s: %.0f", limit, math.Ceil(1.5*most))
}

// loop is about generators that wait for answers.
func (a *adviser) loop() {
	if a.v.Audit.Loop != "closed" {
		return
	}
	const gain = "a rate that does not fall when the service is slow: only that shows how much it carries and what users feel"
	switch a.v.Run.Generator {
	case "k6":
		a.add("executor: 'constant-arrival-rate'", gain)
	case "jmeter":
		a.add("Open Model Thread Group", "in place of a Thread Group, with a pause at the end of its schedule: "+gain)
	case "gatling":
		a.add("injectOpen(constantUsersPerSec(RATE).during(TIME))", gain)
	case "wrk":
		a.add("wrk2 -R RATE -L", "in place of wrk: "+gain)
	case "hey", "ab", "autocannon", "h2load":
		a.add("vegeta attack -rate=RATE", "in place of "+a.v.Run.Generator+": "+gain)
	case "oha":
		a.add("-q RATE --latency-correction --db-url FILE", gain)
	case "locust":
		a.add("OTEL_RESOURCE_ATTRIBUTES=loadtest.expected_interval=SECONDS",
			"the pacing of one user, as in constant_pacing(SECONDS): response times of grade E. Locust cannot offer a rate; k6 and Vegeta can")
	case "vllm-bench":
		a.add("--request-rate RATE", "without --max-concurrency: "+gain)
	default:
		a.add("OTEL_RESOURCE_ATTRIBUTES=loadtest.arrival.model=open,loadtest.arrival.rate=RATE", "and arrivals at that rate, whatever the service does: "+gain)
	}
}

// precision is about how finely things are known.
func (a *adviser) precision() {
	a.support(false)
	if f := a.codes["too_short"]; f != nil && f.Value != nil {
		a.add(fmt.Sprintf("%.0f s", math.Ceil(*f.Value)), "or longer for a step: then it can be said whether the service keeps up")
	}
}

// support is about percentiles beyond p99, which few ask for, or about the others.
func (a *adviser) support(beyond bool) {
	f := a.codes["percentile_support"]
	if f == nil || f.Value == nil {
		return
	}
	if name := firstWord(f.Message); strings.Contains(name, ".") == beyond {
		a.add(fmt.Sprintf("%.0f requests", *f.Value), "or more in a step: "+name+" has an interval then")
	}
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return strings.ToLower(word)
}

// question is about what was not asked or not sent along.
func (a *adviser) question() {
	if a.v.Run.DeadlineS == nil && a.v.Run.FirstByteDeadlineS == nil {
		set := "--deadline 2s"
		if a.v.Totals.InterToken != nil || a.v.Totals.TokensPerS != nil {
			set = "--deadline ttft:500ms,e2e:5s"
		}
		a.add(set, "or how long your users wait: goodput, and how much work is done for clients that have gone. Nothing has to be run again")
	}
	if len(a.v.Run.Queues) == 0 {
		a.add("OTEL_METRICS_EXPORTER=otlp", "on the service under test, to the same endpoint: its queues show where requests wait, and Little's law gets a second witness")
	}
	a.support(true)
}
