package advice

import (
	"strings"

	"github.com/plimsoll/plimsoll/analysis/counts"
)

// grade is about how due times are known.
func (a *adviser) grade() {
	grade := ""
	if a.v.Run.Grade != nil {
		grade = *a.v.Run.Grade
	}
	switch grade {
	case "F":
		a.counted()
	case "S":
		if a.v.Audit.Loop != "closed" {
			a.sent()
		}
	case "X":
		a.add("the requests, not the summary", "a file with one line for each request: "+files(a.v.Run.Generator)+". What a tool corrected itself cannot be checked")
	}
}

// counted is about runs that are known by counts alone.
func (a *adviser) counted() {
	name := a.v.Run.Generator
	o := counts.OptionsOf(name)
	const gain = "every request with its own time, counted from when it was due: response times, in flight and stability from requests instead of counts (grade C)"
	switch name {
	case "k6":
		a.add("-o influxdb="+a.server+"/k6", gain+". After the run, --out json=FILE and plimsoll import FILE do the same")
	case "artillery":
		a.add("traces: {sampleRate: 1}", "in the open-telemetry reporter of publish-metrics: every request with its own time (grade S)")
	case "locust":
		a.add("HttpUser", "in place of FastHttpUser, which makes no spans: every request with its own time (grade S)")
	default:
		if o.Starts != "" {
			a.add(o.Starts, "so that times are known, not counts alone")
		}
	}
	var b strings.Builder
	for i := range a.v.Findings {
		if f := &a.v.Findings[i]; f.Code == "evidence" {
			b.WriteString(strings.ToLower(f.Message))
		}
	}
	said := b.String()
	coarse := strings.Contains(said, strings.ToLower(o.Histogram)) || !a.v.Totals.ServiceTime.Valid
	if set, why, ok := strings.Cut(o.Histogram, " "); ok && coarse {
		a.add(set, why)
	}
	if set, why, ok := strings.Cut(o.Interval, " "); ok && strings.Contains(said, strings.ToLower(o.Interval)) {
		a.add(set, why+": the same run decides sooner")
	}
	if a.v.Run.OfferedSource == "counted" && a.v.Audit.Loop != "closed" {
		a.add("--schedule 'constant:RATE/s x TIME'", "with plimsoll run declare, also after the run: counts can be held against what was due")
	}
}

// sent is about rows that stand in for their due time with their send.
func (a *adviser) sent() {
	const gain = "response times from when requests were due: what users feel, however late the generator was "
	switch a.v.Run.Generator {
	case "vegeta", "fortio", "jmeter", "gatling", "tsung", "ghz":
		if a.v.Run.OfferedSource != "declared" {
			a.add("--schedule 'constant:RATE/s x TIME'", "with plimsoll import: "+gain+"(grade B)")
		}
	case "oha":
		a.add("-q RATE --latency-correction --db-url FILE", gain+"(grade A)")
	case "k6":
		a.add("executor: 'constant-arrival-rate'", "its iterations start when they are due: "+gain+"(grade C)")
	case "hey", "ab", "h2load", "wrk", "autocannon":
		a.add("vegeta attack -rate=RATE", "in place of "+a.v.Run.Generator+", which does not say when a request was due: "+gain+"(grade B)")
	case "vllm-bench":
		a.add("--save-result --save-detailed --request-rate RATE", gain+"(grade A)")
	case "aiperf":
		a.add("--request-rate RATE without --concurrency", "credits are issued when requests are due: "+gain+"(grade A)")
	case "guidellm":
		a.add("a newer version", "that writes when each request was due: "+gain+"(grade A)")
	case "artillery":
		if a.v.Run.OfferedSource != "declared" {
			a.add("--schedule 'constant:RATE/s x TIME'", "with plimsoll run declare, also after the run: "+gain+"where a scenario has one request (grade B)")
		}
	case "locust":
		a.add("OTEL_RESOURCE_ATTRIBUTES=loadtest.expected_interval=SECONDS", "the pacing of one user: response times of grade E")
	default:
		a.add("loadtest.intended_time_unix_nano", "on each span, the time from the schedule and not from the clock: "+gain+"(grade A)")
		if a.says("no_intended_time") {
			a.add("loadtest.arrival.index", "on each span, with OTEL_RESOURCE_ATTRIBUTES=loadtest.arrival.rate=RATE: the same (grade B)")
			if a.v.Run.OfferedSource != "declared" {
				a.add("--schedule 'constant:RATE/s x TIME'", "with plimsoll run declare, also after the run, where the generator sends at a steady pace: the same (grade B)")
			}
		}
	}
}

// files names the form of a tool's results that has one line for each request.
func files(generator string) string {
	switch generator {
	case "wrk2", "wrk", "autocannon":
		return "Vegeta and oha write one"
	case "ycsb":
		return "measurementtype=raw"
	case "oha":
		return "--db-url FILE"
	case "fortio":
		return "-access-log-file FILE"
	}
	return "see the page of the generator"
}
