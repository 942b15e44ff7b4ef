package pebble

import (
	"encoding/binary"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/journal"
)

// BenchmarkAppend appends entries of the size that 512 rows take, durably, four
// at a time on two cores.
func BenchmarkAppend(b *testing.B) {
	log, err := Open(b.TempDir(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	data := make([]byte, 5300)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	var n atomic.Uint64
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	b.SetParallelism(2)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			var id journal.ID
			binary.BigEndian.PutUint64(id[:], n.Add(1)*0x9e3779b97f4a7c15)
			r := journal.Record{Stream: "run/bench", Data: data, Meta: journal.Meta{Span: sample.Span{From: 1, To: 2}, Rows: 512}}
			if _, err := log.Append(b.Context(), id, []journal.Record{r}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
