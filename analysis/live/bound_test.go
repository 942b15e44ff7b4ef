package live

import (
	"math/rand/v2"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/sim"
)

// TestBoundHolds computes windows of calm and overloaded systems, with the rate
// known and counted, and holds −Z against what it was said to come to at most.
func TestBoundHolds(t *testing.T) {
	t.Parallel()
	tries, spared := 0, 0
	for _, s := range sim.Grid() {
		for _, rho := range []float64{0.7, 0.95, 1.2} {
			for _, kind := range []Kind{Scheduled, Counted} {
				cfg := Config{Kind: kind, Rate: func(int64) float64 { return 100 }}
				if kind == Counted {
					cfg.Rate = nil
				}
				w := New(cfg)
				for _, q := range s.Run(100, rho, 100, rand.New(rand.NewPCG(7, 7))) {
					w.Due(q.Intended, 1)
					w.Ended(q.Intended, q.Done)
				}
				w.Advance(1 * second)
				w.alarm.raised = true // so that small scores matter too
				for sec := int64(35); sec < 100; sec += 3 {
					w.score(sec, w.line.inFlight(sec))
					if w.scratch == nil {
						continue
					}
					for i := range w.scratch.tries {
						y := &w.scratch.tries[i]
						z := y.whole.z(y.lambda, float64(y.w), y.phi()+y.noise*y.whole.busyS)
						tries++
						if y.most < barKnown {
							spared++
						}
						if -z > y.most+1e-9 {
							t.Errorf("%s rho %v at %d: window %d has −Z %v, over %v", s.Name, rho, sec, y.w, -z, y.most)
						}
					}
				}
			}
		}
	}
	if tries < 1000 || spared == 0 {
		t.Errorf("%d windows, %d spared: the test sees nothing", tries, spared)
	}
}
