package batch

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// FuzzDecode checks that Decode takes anything, and that what it accepts is a
// batch that encodes and decodes to itself.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{})
	for _, b := range []*sample.Batch{
		gradeA(rand.New(rand.NewPCG(1, 1)), 40), inUnit(gradeA(rand.New(rand.NewPCG(1, 2)), 300), 1e6),
		extremes(), metrics(),
		{RunID: "x"},
	} {
		f.Add(Append(nil, b))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b := &sample.Batch{}
		if Decode(b, data) != nil {
			return
		}
		leaveOut(b)
		again := metrics() // not empty: reuse must not leak
		if err := Decode(again, Append(nil, b)); err != nil {
			t.Fatalf("decode what was encoded: %v", err)
		}
		if diff := cmp.Diff(b, again, same); diff != "" {
			t.Fatalf("round trip changed the batch (-want +got):\n%s", diff)
		}
	})
}

// leaveOut empties the optional columns that hold defaults alone, as Append does.
func leaveOut(b *sample.Batch) {
	var rows sample.Batch
	for i := range b.Len() {
		rows.Append(b.Row(i))
	}
	b.FirstByte, b.Index, b.Attempt = rows.FirstByte, rows.Index, rows.Attempt
	b.Key, b.Self, b.Flags, b.Tokens = rows.Key, rows.Self, rows.Flags, rows.Tokens
}

// TestDecodeAllocatesLittle claims the most rows, groups, series and points
// that a given number of bytes can.
func TestDecodeAllocatesLittle(t *testing.T) {
	const size = 1 << 20
	claim := func(prefix []byte, count uint64) []byte {
		data := append([]byte(nil), prefix...)
		for ; count >= 0x80; count >>= 7 {
			data = append(data, byte(count)|0x80)
		}
		data = append(data, byte(count))
		return append(data, make([]byte, size)...)
	}
	for name, data := range map[string][]byte{
		"rows":   claim([]byte{version, 0, 0, 0, 0}, size/rowBytes),
		"groups": claim([]byte{version, 0, 0, 0}, size/2),
		"series": claim([]byte{version, 0x80, hasMetrics >> 7, 0, 0, 0, 0}, size/2),
		"points": claim([]byte{version, 0x80, hasMetrics >> 7, 0, 0, 0, 0, 1, 0, 0}, size/4),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_ = Decode(&sample.Batch{}, data)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 80*size {
			t.Errorf("%s: %d bytes made Decode allocate %d", name, len(data), got)
		}
	}
}
