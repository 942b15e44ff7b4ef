package importer_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// judged is what the verdict on a file of the further tools must say.
type judged struct {
	file       string
	grade      string
	sent       int64
	failed     int64
	loop       string
	saturation float64 // per second; 0 when there is none
	// Percentiles in seconds: the value, or the bucket that holds it.
	response, service map[string]float64
	width             float64 // of the buckets, over the value
	refused, leftOut  string  // begin the reasons why there are no response or service times
	findings          []string
	silent            []string
}

func furtherVerdicts() []judged {
	return []judged{
		{
			file: "wrk-stall.txt", grade: "F", sent: 5131, loop: "closed", saturation: 255.9, width: 0.01,
			refused: "closed loop", findings: []string{"closed_loop", "counts_only", "tool_corrected"},
		},
		{
			file: "wrk2-stall.txt", grade: "F", sent: 4002, width: 0.005,
			response: map[string]float64{"p50": 0.002349, "p95": 0.4595, "p99": 1.631}, service: map[string]float64{"p50": 0.0013915, "p99": 0.018},
		},
		{file: "autocannon-orders.json", grade: "F", sent: 1392, loop: "closed", saturation: 92.4, service: map[string]float64{"p50": 0.1165, "p99": 0.2585}, width: 0.02},
		{file: "autocannon-stall.json", grade: "F", sent: 1920, refused: "no number: the tool's own correction made up 90 %", findings: []string{"tool_corrected"}},
		{file: "autocannon-stall-plain.json", grade: "F", sent: 2010, service: map[string]float64{"p50": 0.0025, "p99": 0.0455}, width: 0.5},
		{
			file: "artillery-orders.json.gz", grade: "F", sent: 750, service: map[string]float64{"p50": 0.0417, "p95": 0.0674, "p99": 0.1025}, width: 0.03,
			loop: "open",
		},
		{file: "artillery-ramp.json.gz", grade: "F", sent: 2100, failed: 1319, loop: "open", leftOut: "no number: 63 % of the requests are not in it", findings: []string{"left_out", "lossy_step"}},
		{file: "locust-orders_stats.csv", grade: "F", sent: 1798, loop: "closed", saturation: 94.5, service: map[string]float64{"p50": 0.11, "p99": 0.15}, width: 0.1},
		{file: "locust-orders_stats_history.csv", grade: "F", sent: 943, loop: "closed"},
		{file: "hey-orders-summary.txt", grade: "F", sent: 878, loop: "closed", saturation: 87.0, service: map[string]float64{"p50": 0.1219, "p95": 0.1854, "p99": 0.2594}, width: 0.001},
		{file: "hey-orders-90.csv.gz", grade: "S", sent: 1278, loop: "closed", service: map[string]float64{"p50": 0.0922, "p95": 0.1653, "p99": 0.2532}, width: 0.001, findings: []string{"closed_loop"}},
		{file: "h2load-orders.log.gz", grade: "S", sent: 1452, loop: "closed", saturation: 96.9, findings: []string{"closed_loop"}},
		{file: "ab-orders.tsv.gz", grade: "F", sent: 1500, loop: "closed", saturation: 95.3, service: map[string]float64{"p95": 0.133, "p99": 0.150}, width: 0.02},
		{file: "fortio-stall.json", grade: "F", sent: 600},
		{file: "fortio-stall-access.json.gz", grade: "A", sent: 600, findings: []string{"stall"}},
		{file: "fortio-nocatchup-access.json.gz", grade: "A", sent: 551, findings: []string{"stall", "dropped_arrivals"}},
		{file: "fortio-max-access.json.gz", grade: "S", sent: 1200, failed: 12, loop: "closed"},
		{file: "ghz-stall.json.gz", grade: "S", sent: 501, failed: 1, findings: []string{"stall"}},
		{file: "oha-stall.db.gz", grade: "A", sent: 500, response: map[string]float64{"p95": 0.3052}, width: 0.05, findings: []string{"stall"}},
		{file: "oha-closed.csv.gz", grade: "S", sent: 300, failed: 15},
		{file: "locust-requests.csv", grade: "S", sent: 272, failed: 9, loop: "closed"},
		{file: "tsung.dump", grade: "S", sent: 4, failed: 2},
		// Whole seconds: 97.8/s, as k6 and its exact times have it.
		{file: "k6/a-constant-vus.csv.zst", grade: "F", sent: 2947, loop: "closed", saturation: 97.8, refused: "counts only", findings: []string{"closed_loop", "counts_only"}},
		// 120 users of two requests, the second of which fails; milliseconds as Gatling reports them.
		{
			file: "gatling/text-3.12.log.gz", grade: "C", sent: 240, failed: 120, loop: "open", service: map[string]float64{"p95": 0.044}, width: 0.001,
			findings: []string{"lossy_step"}, silent: []string{"arrivals_exceed"},
		},
		{
			file: "gatling/binary-3.13.log.gz", grade: "C", sent: 240, failed: 120, loop: "open", service: map[string]float64{"p95": 0.047}, width: 0.03,
			findings: []string{"lossy_step"}, silent: []string{"arrivals_exceed"},
		},
		// 600 sessions of one request, as Tsung and the server counted them.
		{file: "tsung-orders.dump.gz", grade: "S", sent: 600, service: map[string]float64{"p50": 0.041518, "p95": 0.065974, "p99": 0.079279}, width: 0.002},
		{
			file: "ghz-over.json.gz", grade: "S", sent: 900, loop: "open", service: map[string]float64{"p50": 0.8600, "p95": 1.6246, "p99": 1.6916}, width: 0.002,
			findings: []string{"unstable_step", "no_intended_time"},
		},
		{file: "ycsb-both.txt.gz", grade: "X", sent: 1000, loop: "open", response: map[string]float64{"p50": 0.038363, "p95": 0.1131, "p99": 0.2445}, width: 0.005, findings: []string{"tool_corrected"}},
		{file: "ycsb-read.hdr", grade: "F", sent: 1000, service: map[string]float64{"p95": 0.028079, "p99": 0.029087}, width: 0.005},
		{file: "ycsb-intended-read.hdr", grade: "F", sent: 1000, response: map[string]float64{"p95": 0.028175, "p99": 0.029215}, width: 0.005, findings: []string{"tool_corrected"}},
		{file: "ycsb-raw.txt", grade: "S", sent: 5, failed: 1, loop: "closed"},
		{file: "ycsb-intended.txt", grade: "X", sent: 4, loop: "open", leftOut: "the tool counted from when", findings: []string{"tool_corrected"}},
		{file: "ycsb.logV1.hlog", grade: "F", sent: 4492},
		{file: "vllm-bench.json", grade: "A", sent: 40, failed: 2, loop: "open"},
		{file: "aiperf.jsonl", grade: "S", sent: 25, failed: 3},
		{file: "aiperf-constant.jsonl.gz", grade: "A", sent: 60, response: map[string]float64{"p50": 1.2876}, width: 0.02},
		{file: "guidellm-constant.json.gz", grade: "A", sent: 37, failed: 4, loop: "open"},
		{file: "aiperf-poisson.jsonl.gz", grade: "A", sent: 117, service: map[string]float64{"p50": 0.2925}, width: 0.01},
		{file: "aiperf-closed.jsonl.gz", grade: "S", sent: 60, loop: "closed", saturation: 13.2, refused: "closed loop", findings: []string{"closed_loop"}},
		{file: "aiperf-capped.jsonl.gz", grade: "S", sent: 60, loop: "unknown", findings: []string{"no_intended_time"}},
		{file: "vllm-poisson.json.gz", grade: "A", sent: 100, loop: "open", service: map[string]float64{"p50": 0.292}, width: 0.005},
		{file: "vllm-capped.json.gz", grade: "A", sent: 80, loop: "open", response: map[string]float64{"p50": 1.41}, width: 0.01, findings: []string{"late_sends"}},
		{file: "guidellm-over.json.gz", grade: "A", sent: 101, failed: 33, loop: "open", findings: []string{"unstable_step"}},
		{file: "guidellm.json", grade: "S", failed: 2},
	}
}

// TestFurtherVerdicts imports the files of the further tools and judges them:
// sent and failed are exact, percentiles are those that the tool printed, none is
// corrected that was not measured, and none is corrected twice.
func TestFurtherVerdicts(t *testing.T) {
	t.Parallel()
	for _, c := range furtherVerdicts() {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			got := bring(t, c.file, nil)
			c.check(t, &got)
			if t.Failed() {
				t.Logf("%s; %+v; %v", got.verdict.Headline, got.verdict.Findings, got.report.Warnings)
			}
		})
	}
}

func (c *judged) check(t *testing.T, got *imported) {
	t.Helper()
	v, tot := got.verdict, got.verdict.Totals
	if v.Run.Grade == nil || *v.Run.Grade != c.grade {
		t.Errorf("grade %v, want %s", *v.Run.Grade, c.grade)
	}
	if failed := tot.Counts.Error + tot.Counts.Timeout + tot.Counts.Shed + tot.Counts.Cancelled; c.sent > 0 && (tot.Sent != c.sent || failed != c.failed) {
		t.Errorf("%d sent, %d failed; want %d, %d", tot.Sent, failed, c.sent, c.failed)
	}
	if c.loop != "" && v.Audit.Loop != c.loop {
		t.Errorf("loop %s, want %s", v.Audit.Loop, c.loop)
	}
	if s := v.SaturationThroughput; c.saturation > 0 && (s == nil || s.Value == nil || math.Abs(*s.Value-c.saturation) > 0.01*c.saturation) {
		t.Errorf("saturation throughput %+v, want %g", s, c.saturation)
	}
	if c.grade == "F" && (v.Outcome == wire.OutcomePass || v.Knee.Capacity != nil) {
		t.Errorf("outcome %s, capacity %v of counts at the end of a run", v.Outcome, v.Knee.Capacity)
	}
	c.distribution(t, "response", &tot.ResponseTime, c.response)
	c.distribution(t, "service", &tot.ServiceTime, c.service)
	if r := &tot.ResponseTime; c.grade == "F" && r.Valid != (len(c.response) > 0) {
		t.Errorf("response times of counts: %+v", r)
	} else if r.Valid && c.grade == "F" && (r.Grade == nil || *r.Grade != "X") {
		t.Errorf("grade of corrected times is %v", *r.Grade)
	}
	for begin, r := range map[string]*wire.Response{c.refused: &tot.ResponseTime, c.leftOut: &tot.ServiceTime} {
		if begin != "" && (r.Valid || !strings.HasPrefix(r.Reason, begin)) {
			t.Errorf("refused for %q, want %q", r.Reason, begin)
		}
	}
	for _, code := range c.findings {
		if !slices.ContainsFunc(v.Findings, func(f wire.Finding) bool { return f.Code == code }) {
			t.Errorf("no finding %s", code)
		}
	}
	for _, code := range c.silent {
		if slices.ContainsFunc(v.Findings, func(f wire.Finding) bool { return f.Code == code }) {
			t.Errorf("finding %s", code)
		}
	}
}

// distribution checks percentiles, points and buckets alike.
func (c *judged) distribution(t *testing.T, what string, r *wire.Response, want map[string]float64) {
	t.Helper()
	of := map[string]wire.Estimate{"p50": r.P50, "p90": r.P90, "p95": r.P95, "p99": r.P99}
	for name, w := range want {
		e := of[name]
		switch {
		case e.Value != nil && math.Abs(*e.Value-w) <= c.width*w:
		case e.Value == nil && e.Lo != nil && e.Hi != nil && *e.Lo <= w*1.0001 && *e.Hi >= w*0.9999 && *e.Hi-*e.Lo <= c.width*w*1.001:
		default:
			t.Errorf("%s %s is %v (%v to %v), want %g: %s", what, name, e.Value, e.Lo, e.Hi, w, r.Reason)
		}
	}
}
