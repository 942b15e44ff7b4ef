package e2e_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// TestK6Counts sends what k6 exported over OTLP, without any configuration. Its
// counts must come out exactly, and no response time may be made of them.
func TestK6Counts(t *testing.T) {
	t.Parallel()
	const folder = "../../analysis/counts/testdata"
	for _, c := range []struct {
		name, loop, class string
		offered           float64 // what was, 1/s; 0 where it was not one rate
		headline          string
		says              map[string]string // by code
	}{
		{"k6-a-constant-vus", "closed", wire.ClassInconclusive, 97.8, "97.8/s is what the service let it send", nil},
		{"k6-b-arrival-150", "capped", wire.ClassUnstable, 150, "30 % were never sent: with 200 workers all busy 97.6", map[string]string{
			"worker_cap":    "2.05 s is cap over throughput (200 / 97.",
			"unstable_step": "with any number at most 108",
		}},
		{"k6-c-arrival-90", "", wire.ClassStable, 90, "kept up", nil},
		{"k6-e-stall-100", "", "", 100, "75 of 6,001", nil},
		{"k6-e2-stall-100-20vus", "capped", "", 100, "180 of 2,001", nil},
		{"k6-e3-stall-closed", "closed", wire.ClassInconclusive, 86.5, "", nil},
		{"k6-f-overload-return", "capped", wire.ClassLossy, 0, "at least 47 % failed, 79 % of requests failed (2.14 an iteration)", map[string]string{
			"requests_per_iteration": "2.14 requests on average",
		}},
		{"k6-g-grpc-default-interval", "", wire.ClassInconclusive, 90, "", nil},
		{"k6-i-traces-output-http", "", wire.ClassInconclusive, 0, "", nil},
		{"k6-j-system-tags", "", "", 90, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var want struct {
				Requests   *float64 `json:"requests"`
				Iterations *float64 `json:"iterations"`
				Dropped    float64  `json:"dropped_iterations"`
				Failed     float64  `json:"failed_requests"`
			}
			data, err := os.ReadFile(filepath.Join(folder, c.name+".json"))
			must(t, err)
			must(t, json.Unmarshal(data, &want))
			s := serve(t, t.TempDir())
			to := httpSender{addr: s.http}
			for _, e := range framed(t, filepath.Join(folder, c.name+".pb.gz")) {
				must(t, to.send(t.Context(), export{metrics: true, body: e.body}))
			}
			s.run("run", "finish", "latest")
			v := s.verdict("latest")
			if v.Run.Grade == nil || *v.Run.Grade != "F" {
				t.Fatalf("grade %v: %s", v.Run.Grade, v.Headline)
			}
			total := v.Totals
			if b := total.Balance; b.Due+b.CarriedIn != b.Dropped+b.Good+b.Late+b.Error+b.Timeout+b.Shed+b.Cancelled+b.OpenAtEnd {
				t.Errorf("balance: %+v", b)
			}
			if float64(total.Dropped) != want.Dropped {
				t.Errorf("dropped %d, want %g", total.Dropped, want.Dropped)
			}
			if want.Iterations != nil && float64(total.Sent) != *want.Iterations {
				t.Errorf("sent %d, want %g", total.Sent, *want.Iterations)
			}
			if total.ResponseTime.Valid || total.ResponseTime.P99.Value != nil || total.ServiceTime.P99.Value != nil {
				t.Errorf("a percentile was made of counts: %+v", total.ResponseTime)
			}
			if c.loop != "" && v.Audit.Loop != c.loop {
				t.Errorf("loop %s, want %s", v.Audit.Loop, c.loop)
			}
			if c.class != "" && v.Steps[0].Class != c.class {
				t.Errorf("class %s, want %s", v.Steps[0].Class, c.class)
			}
			if v.Outcome == wire.OutcomePass && v.Steps[0].Class != wire.ClassStable {
				t.Errorf("passed: %s", v.Headline)
			}
			if got := *v.Steps[0].Offered; c.offered > 0 && math.Abs(got-c.offered) > 0.015*c.offered {
				t.Errorf("offered %g, was %g", got, c.offered)
			}
			if x := v.SaturationThroughput; c.loop == "closed" && (x == nil || math.Abs(*x.Value-c.offered) > 0.01*c.offered) {
				t.Errorf("saturated at %+v, was %g", x, c.offered)
			}
			if !strings.Contains(v.Headline, c.headline) {
				t.Errorf("headline %q, want %q", v.Headline, c.headline)
			}
			for code, words := range c.says {
				if !slices.ContainsFunc(v.Findings, func(f wire.Finding) bool { return f.Code == code && strings.Contains(f.Message, words) }) {
					t.Errorf("no %s says %q: %+v", code, words, v.Findings)
				}
			}
			if c.name == "k6-f-overload-return" && (total.Balance.Error != 3385 || total.Balance.Good != 2538 || *total.AttemptsPerReq < 2.14) {
				t.Errorf("balance %+v, %g attempts an iteration", total.Balance, *total.AttemptsPerReq)
			}
			t.Logf("%s: %s (%s, %s) sent %d dropped %d errors %d", v.Outcome, v.Headline, v.Steps[0].Class, v.Audit.Loop, total.Sent, total.Dropped, total.Balance.Error)
		})
	}
}
