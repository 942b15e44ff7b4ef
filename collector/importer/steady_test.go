package importer

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Rates are found exactly, or not at all, whatever the resolution of times and
// the lateness of sends.
func TestSteadyFindsRates(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for _, unit := range []float64{1, 1e3, 1e6} {
		for _, late := range []float64{0, 2e5, 2e6} {
			for _, rate := range []float64{0.5, 7, 30, 90, 100, 133, 150, 777, 1000, 2500, 12_000} {
				n := int(max(60, min(6*rate, 30_000)))
				var sends []send
				for i := range n {
					at := 1.796046e18 + float64(i)*1e9/rate + rng.ExpFloat64()*late
					sends = append(sends, send{int64(i), int64(math.Floor(at/unit) * unit)})
				}
				var s steady
				got := s.find(sends)
				if got != 0 && math.Abs(got-rate) > 1e-9*rate {
					t.Errorf("unit %v, late %v: found %v, want %v", unit, late, got, rate)
				}
				if got == 0 && late < 2e6 && rate <= 1000 {
					t.Errorf("unit %v, late %v: %v is not found", unit, late, rate)
				}
			}
		}
	}
}
