package live_test

import (
	"fmt"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/live"
)

// BenchmarkLook is one second of event time in an overload of a minute: every
// window is computed.
func BenchmarkLook(b *testing.B) {
	for _, lambda := range []float64{100, 1000, 5000, 20_000} {
		b.Run(fmt.Sprintf("%v per s", lambda), func(b *testing.B) {
			parts := []stretch{{lambda, 1.2, 90}}
			rows := simulate(laws()[1], parts, seeded(1))
			w := live.New(config(live.Scheduled, parts))
			follow(w, rows, 80, nil)
			w.Advance(80e9)
			for _, r := range rows {
				if r.due >= 80e9 && r.due < 81e9 {
					w.Due(r.due, 1)
				}
				if r.done >= 80e9 && r.done < 81e9 {
					r.end(w)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				c := w.Clone()
				b.StartTimer()
				c.Advance(81e9)
			}
			b.ReportMetric(float64(w.Size())/1024, "KiB")
		})
	}
}

// BenchmarkClone is the cost of a snapshot.
func BenchmarkClone(b *testing.B) {
	parts := []stretch{{1000, 0.8, 90}}
	w := live.New(config(live.Scheduled, parts))
	follow(w, simulate(laws()[1], parts, seeded(1)), 90, nil)
	b.ReportAllocs()
	for b.Loop() {
		w.Clone()
	}
}

// BenchmarkEnded is the cost of a row.
func BenchmarkEnded(b *testing.B) {
	for name, kind := range kinds() {
		b.Run(name, func(b *testing.B) {
			w := live.New(live.Config{Kind: kind})
			at := int64(0)
			b.ReportAllocs()
			for b.Loop() {
				at += 50_000
				w.Due(at, 1)
				w.Ended(at-100e6, at)
				if at%1e9 == 0 {
					w.Advance(at)
				}
			}
		})
	}
}
