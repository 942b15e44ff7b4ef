package influx

import (
	"bytes"
	"testing"

	"github.com/plimsoll/plimsoll/collector/convention"
)

// lines returns a capture as one body.
func lines(t testing.TB, name string) (all []byte, n int) {
	t.Helper()
	for _, b := range capture(t, name) {
		all = append(all, b.lines...)
	}
	return all, bytes.Count(all, []byte{'\n'})
}

// TestAllocs keeps the decoder from allocating once it has warmed up.
func TestAllocs(t *testing.T) {
	for _, name := range []string{"k6-arrival-90", "jmeter"} {
		body, n := lines(t, name)
		d := NewDecoder(convention.Default())
		about := &About{Database: "x", Sender: "127.0.0.1", Unit: 1}
		if got := testing.AllocsPerRun(20, func() { d.Decode(body, about) }); got > 20+float64(n)/1000 {
			t.Errorf("%s: %v allocations for %d lines", name, got, n)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, name := range []string{"k6-arrival-90", "jmeter"} {
		b.Run(name, func(b *testing.B) {
			body, n := lines(b, name)
			d := NewDecoder(convention.Default())
			about := &About{Database: "x", Sender: "127.0.0.1", Unit: 1}
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				d.Decode(body, about)
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}
