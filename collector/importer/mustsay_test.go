package importer_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// saying is what a correct analysis of a capture must say (analysis_must_say of its
// expect.json), as far as the file holds it: each part by words of the headline, a
// finding or a reason.
type saying struct {
	file  string
	words []string
	never []string
	// Numbers: mean in flight, attempts per request, requests that succeeded and failed.
	inFlight, attempts float64
	good, bad          int64
}

func sayings() []saying {
	return []saying{
		{
			// 97.8/s is an outcome of 10 VUs, who are 9.96 in flight: not what holds under open arrivals.
			file: "k6/a-constant-vus.json.zst", inFlight: 9.96, good: 2947,
			words: []string{
				"closed loop: in flight is fixed by the generator", "closed_loop: A closed loop sends less",
				"the 10 users counted by the generator waited for answers all the time", "the load is what the service let them send",
			},
			never: []string{"kept up", "dropped_arrivals"},
		},
		{
			// 4501 due, 1370 of them dropped; 97.8/s is capacity and 2.05 s is 200 VUs over it.
			file: "k6/b-arrival-150.json.zst", good: 3131,
			words: []string{
				"the generator dropped 1,370 of 4,501", "at least 30 % of arrivals", "never more than 200 requests were out at once",
				"2.05 s is cap over throughput (200 / 97.7/s)", "throughput was 97.5/s while 100 to 150 requests were in flight, and 97.8/s with all 200: the service had reached what it completes", "no number: 30 % dropped",
			},
		},
		{file: "k6/c-arrival-90.json.zst", good: 2701, words: []string{"At 90/s the service kept up", "longer than the p95 of 91.3 ms"}, never: []string{"dropped"}},
		{
			// Two stalls of 2 s and 1 s; 75 drops; percentiles that hide them are not shown.
			file: "k6/e-stall-100.json.zst", good: 5926,
			words: []string{
				"dropped 75 of 6,001", "nothing was answered for 2 s", "125 requests were hit", "nothing was answered for 994 ms", "100 requests were hit", "no number: 1.2 % dropped",
			},
		},
		{
			// 20 of the 200 arrivals of the stall were measured: no p95 of 4.6 ms.
			file: "k6/e2-stall-100-20vus.json.zst", good: 1821,
			words: []string{"dropped 180 of 2,001", "nothing was answered for 2 s", "20 requests were hit", "no number: 9 % dropped", "ran out of workers"},
		},
		{
			// Only 10 requests saw the stall, and some 200 iterations never happened.
			file: "k6/e3-stall-closed.json.zst", good: 1735,
			words: []string{
				"nothing was answered for 2 s", "10 requests were hit", "The load fell by 67 %", "the tool asked for less because the service was slow", "closed loop",
			},
			never: []string{"dropped_arrivals"},
		},
		{
			// Metastable: 2.14 attempts for each of 5923 orders, 2538 of them accepted.
			file: "k6/f-overload-return.json.zst", attempts: 2.143, good: 2538, bad: 3385,
			words: []string{
				"the service did not recover in 40 s: retries keep it overloaded", "179.9 attempts/s, 3 per request, are more than the 99/s that it can do",
				"96 % timed out; 0/s completed", "dropped 1,183 of 3,001", "dropped 93 of 2,399",
			},
		},
		{file: "k6/j-system-tags.json.zst", good: 901, words: []string{"the service kept up"}},
		{file: "k6/k-browser-traces.json.zst", good: 5, bad: 5, words: []string{"50 % failed", "does not show whether its executor is open or closed"}},
		{file: "vegeta/orders-90.bin.zst", good: 1795, words: []string{"At 90/s the service kept up", "the rate of 90/s is that of the first sends", "left more than 5 ms after they were due"}},
		{
			// 200 requests hit; p95 1.01 s, p99 1.81 s: the honest picture.
			file: "vegeta/stall-100.bin.zst", good: 2000,
			words: []string{"nothing was answered for 2 s", "200 requests were hit", "the p95 of 1 s", "the p99 of 1.8 s"},
		},
		{
			file: "wrk-stall.txt", good: 5131,
			words: []string{"what it prints was not measured", "by the rate that it achieved", "255.9/s is what the service let it send", "closed loop"},
		},
		{
			file: "wrk2-stall.txt", good: 4002,
			words: []string{"percentiles are of the 2980 of 4002 requests after that", "as wrk2 corrected them itself (grade X)", "not corrected again"},
		},
		{file: "h2load-orders.log.gz", good: 1452, words: []string{"no request that was under way when the run ended", "closed loop"}},
		{file: "hey-orders-summary.txt", good: 878, words: []string{"87.02/s is what the service let it send"}},
		{file: "hey-orders-90.csv.gz", good: 1278, words: []string{"a missed tick is lost: what was not sent is counted nowhere", "closed loop"}},
		{file: "ab-orders.tsv.gz", good: 1500, words: []string{"ab writes the second in which a request began", "95.78/s is what the service let it send"}},
		{file: "autocannon-orders.json", good: 1392, words: []string{"10 requests were sent and not answered", "92.42/s is what the service let it send"}},
		{
			file: "autocannon-stall.json", good: 1920,
			words: []string{"made up 90 % of its 19,978 latencies", "its percentiles say nothing", "99 requests were sent and not answered"},
		},
		{file: "autocannon-stall-plain.json", good: 2010, words: []string{"90 requests were sent and not answered", "whether the backlog grew cannot be seen"}},
		{file: "artillery-orders.json.gz", good: 750, words: []string{"for answers only"}},
		{
			file: "artillery-ramp.json.gz", good: 781, bad: 1319,
			words: []string{"63 % failed", "63 % of the requests are in none of the percentiles", "no number: 63 % of the requests are not in it"},
		},
		{
			file: "locust-orders_stats.csv", good: 1798,
			words: []string{"rounds its percentiles to two digits", "the last requests may be missing", "closed loop"},
		},
		{
			// 10 threads at 100/s; nothing counts the samples that were not sent.
			file: "jmeter/stall.jtl.zst", good: 1721,
			words: []string{"nothing was answered for 1.99 s", "10 requests were hit", "nothing counts what was not sent", "The load fell by 63 %"},
		},
		{
			// The intended times stand under a name of their own: without a mapping they are not known.
			file: "../../otlp/testdata/otelgen-stall/otlp.traces.pb.gz", good: 2000,
			words: []string{"nothing was answered for 2 s", "No row says when its request was due"},
		},
	}
}

// TestMustSay holds each capture's verdict against what a correct analysis must say.
func TestMustSay(t *testing.T) {
	t.Parallel()
	for _, c := range sayings() {
		t.Run(strings.ReplaceAll(c.file, "/", "_"), func(t *testing.T) {
			t.Parallel()
			v := bring(t, c.file, nil).verdict
			tot := &v.Totals
			said := v.Headline + "\n" + tot.ResponseTime.Reason + "\n" + tot.ServiceTime.Reason
			for _, f := range v.Findings {
				said += fmt.Sprintf("\n%s: %s", f.Code, f.Message)
			}
			for _, w := range c.words {
				if !strings.Contains(said, w) {
					t.Errorf("nothing says %q", w)
				}
			}
			for _, w := range c.never {
				if strings.Contains(said, w) {
					t.Errorf("something says %q", w)
				}
			}
			if ok, bad := tot.Counts.OK, tot.Counts.Error+tot.Counts.Timeout+tot.Counts.Shed+tot.Counts.Cancelled; ok != c.good || bad != c.bad {
				t.Errorf("%d succeeded, %d failed; want %d and %d", ok, bad, c.good, c.bad)
			}
			if l := v.Steps[0].LittlesLaw.LambdaW; c.inFlight > 0 && (l == nil || math.Abs(*l-c.inFlight) > 0.01*c.inFlight) {
				t.Errorf("in flight %+v, want %g", v.Steps[0].LittlesLaw, c.inFlight)
			}
			if a := tot.AttemptsPerReq; c.attempts > 0 && (a == nil || math.Abs(*a-c.attempts) > 0.001*c.attempts) {
				t.Errorf("attempts per request %v, want %g", a, c.attempts)
			}
			if t.Failed() {
				t.Log(said)
			}
		})
	}
}
