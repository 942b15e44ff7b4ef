package importer

import (
	"bytes"
	"io"
	"testing"
)

// BenchmarkFormats imports a file of each format of requests that is some 12 MB
// long.
func BenchmarkFormats(b *testing.B) {
	for _, l := range longFiles(b) {
		if l.name == "otlp.pb" {
			continue // its decoder is another package's
		}
		b.Run(l.name, func(b *testing.B) {
			times := 12_000_000/max(len(l.body), 250_000) + 1
			file, err := io.ReadAll(l.read(times))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.SetBytes(int64(len(file)))
			var rows int64
			for b.Loop() {
				r, err := Import(b.Context(), Input{Name: l.name, Reader: bytes.NewReader(file), Written: endOfRun, OTLP: &spans{}}, discard)
				if err != nil {
					b.Fatal(err)
				}
				rows += r.Rows
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
