package importer

import (
	"bytes"
	"testing"
)

// BenchmarkFurther imports files whose lines come again and again.
func BenchmarkFurther(b *testing.B) {
	for _, name := range []string{
		"h2load-orders.log.gz", "hey-orders-90.csv.gz", "oha-closed.csv.gz", "locust-requests.csv", "aiperf.jsonl", "fortio-stall-access.json.gz",
	} {
		b.Run(name, func(b *testing.B) { benchmarkFile(b, name) })
	}
}

func benchmarkFile(b *testing.B, name string) {
	b.Helper()
	whole := contents(b, name)
	head, body := []byte(nil), whole
	if whole[0] != '{' && whole[0] != '1' { // it has a header
		i := bytes.IndexByte(whole, '\n') + 1
		head, body = whole[:i], whole[i:]
	}
	times := 4<<20/len(body) + 1
	b.ReportAllocs()
	b.SetBytes(int64(len(head) + times*len(body)))
	var rows int64
	for b.Loop() {
		r, err := Import(b.Context(), Input{Name: name, Reader: repeated(head, body, times), Written: endOfRun}, discard)
		if err != nil {
			b.Fatal(err)
		}
		rows += r.Rows
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}
