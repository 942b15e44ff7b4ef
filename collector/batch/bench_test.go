package batch

import (
	"math/rand/v2"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

const benchRows = 512

func perRow(b *testing.B, size int) {
	b.Helper()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
	b.ReportMetric(float64(size)/benchRows, "B/row")
}

func BenchmarkAppend(b *testing.B) {
	// Many batches, so that the processor cannot learn their rows by heart.
	batches := make([]*sample.Batch, 64)
	for i := range batches {
		batches[i] = gradeA(rand.New(rand.NewPCG(1, uint64(i))), benchRows)
	}
	data := Append(nil, batches[0])
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		data = Append(data[:0], batches[i%len(batches)])
	}
	perRow(b, len(data))
}

func BenchmarkDecode(b *testing.B) {
	data := Append(nil, gradeA(rand.New(rand.NewPCG(1, 2)), benchRows))
	into := &sample.Batch{}
	b.ReportAllocs()
	for b.Loop() {
		if err := Decode(into, data); err != nil {
			b.Fatal(err)
		}
	}
	perRow(b, len(data))
}
