package fold_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
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

// BenchmarkLook is one look a second at a run of 5,000 requests a second that
// goes on: decode aside, what following it costs.
func BenchmarkLook(b *testing.B) {
	const perS, seconds = 5000, 120
	rng := rand.New(rand.NewPCG(5, 6))
	rows := make([]sample.Row, perS*seconds)
	for i := range rows {
		due := start + int64(i)*(1e9/perS)
		rows[i] = foldtest.Row(due, due, due+int64(25e6*math.Exp(0.8*rng.NormFloat64())))
	}
	f := &follower{all: foldtest.Batches(sample.Group{Source: "gen", Model: sample.Open, Process: "constant"}, rows, perS)}
	f.ev.Of = fold.Run{ID: "r", Declaration: &wire.Declaration{
		Arrival: &wire.Arrival{Model: "open", Process: "constant"}, Steps: []wire.DeclareStep{{RatePerS: perS, DurationS: seconds}},
	}}
	looks := 0
	for b.Loop() {
		look := fold.NewLook(f.open)
		for i := range f.all {
			f.ev.Batches = f.all[:i+1]
			if _, err := look.Update(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		looks += len(f.all)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(looks)/1e6, "ms/look")
}
