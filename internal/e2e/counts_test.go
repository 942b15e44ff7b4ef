package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
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
	}{
		{"k6-a-constant-vus", "closed", wire.ClassInconclusive},
		{"k6-b-arrival-150", "capped", ""},
		{"k6-c-arrival-90", "", wire.ClassStable},
		{"k6-e2-stall-100-20vus", "capped", ""},
		{"k6-e3-stall-closed", "closed", wire.ClassInconclusive},
		{"k6-f-overload-return", "capped", ""},
		{"k6-g-grpc-default-interval", "", wire.ClassInconclusive},
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
			t.Logf("%s: %s (%s, %s) sent %d dropped %d errors %d", v.Outcome, v.Headline, v.Steps[0].Class, v.Audit.Loop, total.Sent, total.Dropped, total.Balance.Error)
		})
	}
}
