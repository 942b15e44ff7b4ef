package advice_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll/plimsoll/analysis/advice"
	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

func some[T any](v T) *T { return &v }

// verdict is one about which nothing but the named things is wrong.
func verdict(generator, grade, loop string, findings ...wire.Finding) *wire.Verdict {
	return &wire.Verdict{
		Run: wire.Run{
			Generator: generator, Grade: some(grade), DeadlineS: some(2.0), OfferedSource: "configured", Queues: []wire.Queue{{Name: "q"}},
		},
		Audit: wire.Audit{Loop: loop}, Findings: findings,
		Totals: wire.Step{ServiceTime: wire.Response{Valid: true}},
	}
}

// TestFirst checks the one thing that each generator should be told.
func TestFirst(t *testing.T) {
	t.Parallel()
	finding := func(code, message string, value float64) wire.Finding {
		return wire.Finding{Code: code, Message: message, Value: some(value)}
	}
	for _, c := range []struct {
		name string
		v    *wire.Verdict
		want string // "" for nothing
	}{
		{"all is known", verdict("mine", "A", "open"), ""},
		{"k6 over OTLP", verdict("k6", "F", "unknown"), "-o influxdb=http://h:4319/k6"},
		{"k6 with a closed executor", verdict("k6", "F", "closed"), "executor: 'constant-arrival-rate'"},
		{"k6 that dropped", verdict("k6", "C", "capped", finding("dropped_arrivals", "", 0.3)), "maxVUs"},
		{"Locust with spans", verdict("locust", "S", "closed"), "OTEL_RESOURCE_ATTRIBUTES=loadtest.expected_interval=SECONDS"},
		{"Artillery, sampled", verdict("artillery", "S", "open", finding("telemetry_lost", "", 0.7)), "sampleRate: 1"},
		{"Artillery, metrics alone", verdict("artillery", "F", "open"), "traces: {sampleRate: 1}"},
		{"sampled by an SDK", verdict("mine", "A", "open", finding("sampled_spans", "", 9)), "OTEL_TRACES_SAMPLER=always_on"},
		{"spans lost by an SDK", verdict("mine", "A", "open", finding("telemetry_lost", "", 0.1)), "OTEL_BSP_MAX_QUEUE_SIZE=65536"},
		{"own spans without a schedule", verdict("mine", "S", "open", finding("no_intended_time", "", 1)), "loadtest.intended_time_unix_nano"},
		{"Vegeta without a rate", verdict("vegeta", "S", "open"), "--schedule 'constant:RATE/s x TIME'"},
		{"wrk", verdict("wrk", "F", "closed"), "wrk2 -R RATE -L"},
		{"hey", verdict("hey", "S", "closed"), "vegeta attack -rate=RATE"},
		{"oha", verdict("oha", "S", "open"), "-q RATE --latency-correction --db-url FILE"},
		{"wrk2", verdict("wrk2", "X", "open"), "the requests, not the summary"},
		{"NBomber", verdict("nbomber", "F", "unknown"), ""},
		{"too few", verdict("mine", "A", "open", finding("percentile_support", "P95 needs 73 requests; step 0 has 45.", 73)), "73 requests"},
		{"too short", verdict("mine", "A", "open", finding("too_short", "", 201.4)), "202 s"},
	} {
		got := advice.Of(c.v, "http://h:4319/")
		first := ""
		if len(got) > 0 {
			first = got[0].Set
		}
		if first != c.want {
			t.Errorf("%s: %q, want %q", c.name, first, c.want)
		}
		if best, ok := advice.First(c.v, "http://h:4319"); ok != (len(got) > 0) || best.Set != first {
			t.Errorf("%s: the first is %+v", c.name, best)
		}
		seen := map[string]bool{}
		for _, a := range got {
			if a.Set == "" || a.Gain == "" || seen[a.Set] || strings.HasSuffix(a.Gain, " ") {
				t.Errorf("%s: %+v", c.name, a)
			}
			seen[a.Set] = true
		}
	}
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	v := verdict("mine", "A", "open")
	v.Run.DeadlineS, v.Run.Queues = nil, nil
	sets := func() (out []string) {
		for _, a := range advice.Of(v, "") {
			out = append(out, a.Set)
		}
		return out
	}
	if diff := cmp.Diff([]string{"--deadline 2s", "OTEL_METRICS_EXPORTER=otlp"}, sets()); diff != "" {
		t.Error(diff)
	}
	if best, ok := advice.First(v, ""); ok {
		t.Errorf("a better question is no better evidence: %+v", best)
	}
	v.Findings = []wire.Finding{{Code: "percentile_support", Message: "P99.9 needs 3,688 requests; step 0 has 745.", Value: some(3688.0)}}
	if best, ok := advice.First(v, ""); ok || !slices.Contains(sets(), "3688 requests") {
		t.Errorf("what only p99.9 lacks: %+v, %q", best, sets())
	}
	v.Totals.TokensPerS = some(1.0)
	if got := sets(); got[0] != "--deadline ttft:500ms,e2e:5s" {
		t.Errorf("of a model server: %q", got)
	}

	v = verdict("k6", "F", "unknown", wire.Finding{Code: "evidence", Message: "Every value lies in one bucket: OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION=base2_exponential_bucket_histogram gives percentiles."},
		wire.Finding{Code: "evidence", Message: "K6_OTEL_EXPORT_INTERVAL=1s exports every second."})
	v.Run.OfferedSource = "counted"
	want := []string{
		"-o influxdb=http://h/k6", "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION=base2_exponential_bucket_histogram",
		"K6_OTEL_EXPORT_INTERVAL=1s", "--schedule 'constant:RATE/s x TIME'",
	}
	got := []string{}
	for _, a := range advice.Of(v, "http://h") {
		got = append(got, a.Set)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	v.Findings = []wire.Finding{{Code: "dropped_arrivals"}}
	v.Steps = []wire.Step{{Offered: some(150.0), ServiceTime: wire.Response{Max: some(2.05)}}}
	if got := advice.Of(v, ""); got[0].Set != "maxVUs: 462" {
		t.Errorf("%+v", got[0])
	}
	v.Findings = append(v.Findings, wire.Finding{Code: "throughput_flat"})
	v.Steps[0].Completed = some(97.7)
	v.Steps = append(v.Steps, wire.Step{Completed: some(60.0)})
	if got := advice.Of(v, ""); got[0].Set != "a rate below 97.7/s" {
		t.Errorf("saturated before its workers ran out: %+v", got[0])
	}
}
