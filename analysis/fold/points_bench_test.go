package fold_test

import (
	"fmt"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// BenchmarkTelemetry reads exports of 500 series of which 20 mean something.
func BenchmarkTelemetry(b *testing.B) {
	ev := &foldtest.Evidence{Of: fold.Run{ID: "r", Finished: true}, Batches: steady()}
	for i := range 200 {
		batch := &sample.Batch{RunID: sample.Telemetry}
		for k := range 500 {
			s := sample.Series{Source: "s", Service: "shop", Scope: "io.example", Name: "jvm.memory.used", Attributes: fmt.Sprint("pool=", k), Kind: sample.UpDown}
			if k < 20 {
				s.Name = "http.server.active_requests"
			}
			batch.Series = append(batch.Series, s)
			batch.Points = append(batch.Points, sample.Point{Series: uint32(k), Time: epoch + int64(i)*50e6, Value: 1})
		}
		ev.Servers = append(ev.Servers, batch)
	}
	b.ResetTimer()
	for range b.N {
		if _, err := fold.Build(b.Context(), ev, query.Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/200/500, "ns/point")
}
