package interop

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// TestVegeta attacks below and above what the service can do. Vegeta numbers its
// requests, so when each was due is known (grade B).
func TestVegeta(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, rate string
		classes    []string
		outcome    string
	}{
		{"below", "70/1s", []string{wire.ClassStable, wire.ClassInconclusive}, ""},
		{"above", "150/1s", []string{wire.ClassUnstable}, wire.OutcomeFail},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			vegeta := tool(t, "vegeta", "bin/vegeta")
			svc, srv := newService(t), startServer(t)
			targets := write(t, srv.dir, "targets.txt", "POST "+svc.URL+"/orders\n")
			results := filepath.Join(srv.dir, "results.bin")
			(&command{args: []string{
				vegeta, "attack", "-name=orders", "-targets=" + targets, "-rate=" + c.rate, "-duration=10s", "-output=" + results,
			}}).run(t)
			srv.load("orders", results)
			v, _ := srv.verdict("orders", "p95<300ms")
			want := expect{
				generator: "vegeta", grade: "B", loop: "open", classes: c.classes, outcome: c.outcome, sent: svc.arrived.Load(),
			}
			want.check(t, v)
			var report struct {
				Latencies struct {
					P95 float64 `json:"95th"`
					Max float64 `json:"max"`
				} `json:"latencies"`
			}
			out := (&command{args: []string{vegeta, "report", "-type=json", results}}).run(t)
			if err := json.Unmarshal(out, &report); err != nil {
				t.Fatal(err)
			}
			near(t, "uncorrected p95", v.Totals.ServiceTime.P95, report.Latencies.P95/1e9, 0.05)
			if v.Totals.ServiceTime.Max == nil || *v.Totals.ServiceTime.Max < report.Latencies.Max/1e9*0.999 {
				t.Errorf("max %v, vegeta says %g s", text(v.Totals.ServiceTime.Max), report.Latencies.Max/1e9)
			}
		})
	}
}
