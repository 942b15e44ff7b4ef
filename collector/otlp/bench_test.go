package otlp

import (
	"fmt"
	"math"
	"testing"

	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/plimsoll/plimsoll/collector/convention"
)

func f64(v float64) uint64 { return math.Float64bits(v) }

// TestAllocs keeps the decoder from allocating once it has warmed up.
func TestAllocs(t *testing.T) {
	d := NewDecoder(convention.Default())
	body := sdkRequest(512, 1)
	n := testing.AllocsPerRun(50, func() {
		if _, err := d.Traces(body); err != nil {
			t.Fatal(err)
		}
	})
	if d.Report().Rows != 512 {
		t.Fatalf("%d rows", d.Report().Rows)
	}
	if n > 512/50 {
		t.Errorf("%v allocations for 512 spans, want at most %d", n, 512/50)
	}
	t.Logf("%v allocations for 512 spans", n)
}

func BenchmarkTraces(b *testing.B) {
	for _, n := range []int{512, 8192} {
		b.Run(fmt.Sprintf("sdk-%d", n), func(b *testing.B) {
			d := NewDecoder(convention.Default())
			var bodies [][]byte
			for i := range 32 {
				bodies = append(bodies, sdkRequest(n, uint64(i)))
			}
			b.SetBytes(int64(len(bodies[0])))
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if _, err := d.Traces(bodies[i%len(bodies)]); err != nil {
					b.Fatal(err)
				}
				i++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/span")
		})
	}
}

// BenchmarkOracle is the full decoder that the tests compare with, for scale.
func BenchmarkOracle(b *testing.B) {
	body := sdkRequest(512, 1)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		req := ptraceotlp.NewExportRequest()
		if err := req.UnmarshalProto(body); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/512, "ns/span")
}
