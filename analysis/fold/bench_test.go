package fold_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// million is a million grade A rows at 20,000/s in the order of their ends.
func million() *foldtest.Evidence {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([]sample.Row, 1_000_000)
	for i := range rows {
		due := start + int64(i)*50e3
		sent := due + int64(rng.ExpFloat64()*50e3)
		rows[i] = foldtest.Row(due, sent, sent+int64(25e6*math.Exp(0.8*rng.NormFloat64())))
	}
	return finished(rows)
}

func BenchmarkFold(b *testing.B) {
	ev := million()
	b.ReportAllocs()
	for b.Loop() {
		build(b, ev, query.Options{})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e6, "ns/row")
}

func BenchmarkFoldTightBudget(b *testing.B) {
	ev := million()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := fold.Within(b.Context(), ev, query.Options{}, 1<<20); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e6, "ns/row")
}
