package littleslaw_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/littleslaw"
	"github.com/plimsoll/plimsoll/analysis/sim"
)

func TestLevels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		l     littleslaw.Levels
		ok    bool
		tol   float64
		words string
	}{
		// 100/s, six exports: 4·√(200·0.005/6) = 1.63 of 50.
		{littleslaw.Levels{Counted: 50, Records: 49, N: 6, EventsS: 200, SlackS: 0.005}, true, 1.633 / 50, "same instants"},
		{littleslaw.Levels{Counted: 50, Records: 35, N: 6, EventsS: 200, SlackS: 0.005}, false, 1.633 / 50, "records are missing"},
		{littleslaw.Levels{Counted: 35, Records: 50, N: 6, EventsS: 200, SlackS: 0.005}, false, 1.633 / 50, "counted twice"},
		{littleslaw.Levels{Counted: 1000, Records: 985, N: 100, EventsS: 200, SlackS: 0.005}, true, 0.02, ""},
		{littleslaw.Levels{Counted: 20, Records: 50, N: 6, EventsS: 200, SlackS: 0.1, Server: true}, true, 7.303 / 50, "at the server"},
		{littleslaw.Levels{Counted: 80, Records: 50, N: 6, EventsS: 200, SlackS: 0.1, Server: true}, false, 7.303 / 80, "the records account for 50"},
		{littleslaw.Levels{N: 6}, true, 0.02, "nothing"},
	} {
		r, ok := c.l.Check()
		if !ok || r.OK != c.ok || math.Abs(r.Tolerance-c.tol) > 1e-3 || !strings.Contains(r.Note, c.words) {
			t.Errorf("%+v: %+v", c.l, r)
		}
	}
	if _, ok := (littleslaw.Levels{Counted: 1, Records: 5, N: 2}).Check(); ok {
		t.Error("two instants are compared")
	}
}

// TestLevelsAreHonest reads a simulated server at instants whose stamps are off by
// up to the slack: the comparison must hold, and must find a tenth of the records
// missing where that is more than the tolerance.
func TestLevelsAreHonest(t *testing.T) {
	t.Parallel()
	wrong, missed, runs := 0, 0, 0
	for _, system := range sim.Grid()[1:5] {
		for seed := range uint64(20) {
			rng := rand.New(rand.NewPCG(seed, 21))
			requests := system.Run(200, 0.8, 60, rng)
			var full, lost littleslaw.Levels
			full.EventsS, full.SlackS = 400, littleslaw.OwnSlackS
			for i := range 12 {
				at := int64(i)*5e9 + 2e9
				seen := at + int64((2*rng.Float64()-1)*littleslaw.OwnSlackS*1e9)
				for k, q := range requests {
					if q.Sent <= at && at < q.Done {
						full.Counted++
					}
					if q.Sent <= seen && seen < q.Done {
						full.Records++
						if k%10 > 0 {
							lost.Records++
						}
					}
				}
				full.N++
			}
			full.Counted, full.Records, lost.Records = full.Counted/12, full.Records/12, lost.Records/12
			lost.Counted, lost.N, lost.EventsS, lost.SlackS = full.Counted, 12, 360, littleslaw.OwnSlackS
			runs++
			if r, _ := full.Check(); !r.OK {
				wrong++
			}
			if r, _ := lost.Check(); r.OK && r.Tolerance < 0.05 {
				missed++
			}
		}
	}
	t.Logf("of %d: %d wrongly refused, %d losses of a tenth not seen though the tolerance was below 5 %%", runs, wrong, missed)
	if wrong > 1 || missed > runs/20 {
		t.Errorf("of %d: %d wrongly refused, %d losses of a tenth not seen", runs, wrong, missed)
	}
}
