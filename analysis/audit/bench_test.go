package audit_test

import (
	"testing"

	"github.com/plimsoll/plimsoll/analysis/audit"
	"github.com/plimsoll/plimsoll/analysis/sim"
)

// BenchmarkFeed is the cost of one request in all accumulators together.
func BenchmarkFeed(b *testing.B) {
	q := sim.Grid()[1].Run(1000, 0.8, 20, rng(1, 1))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		var l audit.Loop
		var s audit.Stalls
		var a audit.Arrivals
		t := audit.NewBatches(0, 20e9)
		feed(q, func(at int64) { l.End(at); s.End(at) }, func(at, due int64) {
			l.Send(at, due)
			s.Send(at)
			a.Add(due)
			t.Record(due, at%1e9)
		})
		n += len(q)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/request")
}
