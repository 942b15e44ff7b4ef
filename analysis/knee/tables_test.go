package knee_test

import (
	"math"
	"slices"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/knee"
	"github.com/plimsoll/plimsoll/analysis/stability"
)

// table makes levels of equal length. A level is stable where it is carried.
func table(seconds float64, offered, completed []float64) []knee.Level {
	out := make([]knee.Level, len(offered))
	for i, at := range offered {
		out[i] = knee.Level{Offered: at, Seconds: seconds, Completed: completed[i], Meets: true, Stability: stability.Unstable}
		if completed[i] >= 0.99*at {
			out[i].Stability = stability.Stable
		}
	}
	return out
}

func value(p *float64) float64 {
	if p == nil {
		return math.NaN()
	}
	return *p
}

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

// beforeOffered are the rates of the published sweep of a service whose clients time out.
func beforeOffered() []float64 { return []float64{200, 300, 400, 450, 500, 550, 600} }

func TestTables(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for _, c := range []struct {
		name               string
		seconds            float64
		offered, completed []float64
		state              knee.State
		knee, full         float64
		bracket            []float64
		capacity, half     float64
		shape              knee.Shape
		recommended        float64
		warnings           []string
	}{
		{
			name: "before the fix", seconds: 360, offered: beforeOffered(), completed: []float64{200, 300, 400, 449, 462, 441, 337},
			state: knee.Found, knee: 500, full: 450, bracket: []float64{450, 500}, capacity: 462, half: 2.27, shape: knee.Collapse, recommended: 400,
		},
		{
			name: "goodput before the fix", seconds: 360, offered: beforeOffered(), completed: []float64{200, 300, 400, 449, 351, 88, 0},
			state: knee.Found, knee: 450, full: 450, bracket: []float64{450, 500}, capacity: 449, half: nan, shape: knee.Collapse, recommended: 400,
			warnings: []string{knee.WarnNoPlateau},
		},
		{
			name: "after the fix", seconds: 360, offered: []float64{500, 550, 600, 700}, completed: []float64{460, 461, 459, 458},
			state: knee.Found, knee: 500, full: nan, bracket: []float64{0, 500}, capacity: 459.5, half: 1.13, shape: knee.Saturation, recommended: nan,
			warnings: []string{knee.WarnNoneServed},
		},
		{
			name: "another", seconds: 30, offered: []float64{100, 300, 450, 480, 550, 700}, completed: []float64{100, 300, 450, 478, 470, 310},
			state: knee.Found, knee: 480, full: 480, bracket: []float64{480, 550}, capacity: 474, half: 5.62, shape: knee.Collapse, recommended: 300,
		},
		{
			name: "all served", seconds: 60, offered: []float64{100, 200, 300}, completed: []float64{100, 199, 300},
			state: knee.NotReached, knee: nan, full: 300, capacity: nan, recommended: 200,
		},
		{
			name: "one level", seconds: 60, offered: []float64{120}, completed: []float64{100},
			state: knee.NotTested, knee: nan, full: nan, capacity: 100, half: 2.58, shape: knee.Saturation, recommended: nan,
			warnings: []string{knee.WarnNoneServed},
		},
		{
			name: "equal rates", seconds: 60, offered: []float64{120, 120, 120, 120}, completed: []float64{99, 101, 102, 98},
			state: knee.NotTested, knee: nan, full: nan, capacity: 100, half: 1.29, shape: knee.Saturation, recommended: nan,
			warnings: []string{knee.WarnNoneServed},
		},
		{
			name: "nothing completed", seconds: 60, offered: []float64{100, 200, 300}, completed: []float64{0, 0, 0},
			state: knee.Found, knee: 100, full: nan, bracket: []float64{0, 100}, capacity: 0, half: 0, shape: knee.Saturation, recommended: nan,
			warnings: []string{knee.WarnNoneServed},
		},
		{
			name: "served out of order, and too short", seconds: 10, offered: []float64{80, 90, 100, 110}, completed: []float64{80, 75, 98, 98},
			state: knee.Found, knee: 100, full: 100, bracket: []float64{100, 110}, capacity: 98, half: 4.43, shape: knee.Saturation, recommended: 80,
			warnings: []string{knee.WarnShort, knee.WarnOrder},
		},
		{name: "no level", state: knee.NotTested, knee: nan, full: nan, capacity: nan, recommended: nan},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := knee.Judge(table(c.seconds, c.offered, c.completed), knee.Options{})
			if r.State != c.state || !same(value(r.Offered), c.knee) || !same(value(r.ServedInFull), c.full) || r.Shape != c.shape ||
				!same(value(r.Recommended), c.recommended) || !slices.Equal(r.Bracket, c.bracket) || !slices.Equal(r.Warnings, c.warnings) {
				t.Errorf("%s, knee %v, full %v, bracket %v, %q, recommended %v, warnings %v", r.State, value(r.Offered),
					value(r.ServedInFull), r.Bracket, r.Shape, value(r.Recommended), r.Warnings)
			}
			if (r.Capacity == nil) != math.IsNaN(c.capacity) {
				t.Fatalf("capacity %v", r.Capacity)
			}
			if r.Capacity == nil {
				return
			}
			if math.Abs(r.Capacity.Value-c.capacity) > 0.01 || r.Capacity.Lo > r.Capacity.Value || r.Capacity.Hi < r.Capacity.Value {
				t.Errorf("capacity %+v, want %v", *r.Capacity, c.capacity)
			}
			if !math.IsNaN(c.half) && (math.Abs(r.Capacity.Hi-c.capacity-c.half) > 0.02 || math.Abs(c.capacity-r.Capacity.Lo-c.half) > 0.02) {
				t.Errorf("interval %+v, want ± %v", *r.Capacity, c.half)
			}
		})
	}
}

// TestUnknownLimit: goodput falls off right after its last good level, so its
// limit lies anywhere between that and the next.
func TestUnknownLimit(t *testing.T) {
	t.Parallel()
	r := knee.Judge(table(360, beforeOffered(), []float64{200, 300, 400, 449, 351, 88, 0}), knee.Options{})
	if r.Capacity.Hi != 500 || r.Capacity.Lo > 447.5 || r.Capacity.Lo < 446 {
		t.Errorf("capacity %+v", *r.Capacity)
	}
	for _, n := range r.Next {
		if n.Why == knee.HalveInterval {
			t.Errorf("%+v cannot halve the interval", n)
		}
	}
}

func TestCountsWidenToBracket(t *testing.T) {
	t.Parallel()
	r := knee.Judge(table(360, beforeOffered(), []float64{200, 300, 400, 449, 462, 441, 337}), knee.Options{CountsOnly: true})
	if r.Capacity.Lo != 450 || r.Capacity.Hi != 500 || r.Capacity.Value != 462 {
		t.Errorf("capacity %+v", *r.Capacity)
	}
}

func TestRate(t *testing.T) {
	t.Parallel()
	drain := 15.6
	l := knee.Level{Offered: 12, Seconds: 60, Completed: 7.3, OK: 720, DrainS: &drain}
	if got := l.Rate(); math.Abs(got-9.52) > 0.01 {
		t.Errorf("rate %v", got) // the published overload of a sharing server
	}
	l.DrainS = nil
	if got := l.Rate(); got != 7.3 {
		t.Errorf("rate %v of a level that never drained", got)
	}
}

// TestArrivalsFellShort: a level of bursts to which fewer came than were offered
// has served them.
func TestArrivalsFellShort(t *testing.T) {
	t.Parallel()
	levels := table(60, []float64{20, 30, 40}, []float64{20, 27, 40})
	if r := knee.Judge(levels, knee.Options{}); r.State != knee.Found {
		t.Errorf("%+v", r)
	}
	levels[1].Due = 27 * 60
	if r := knee.Judge(levels, knee.Options{}); r.State != knee.NotReached || value(r.ServedInFull) != 40 {
		t.Errorf("%+v", r)
	}
}

func TestPromote(t *testing.T) {
	t.Parallel()
	levels := table(60, []float64{4, 6, 8, 12}, []float64{4, 6, 7.8, 7.3})
	if got := knee.Promote(levels); !slices.Equal(got, []bool{true, true, false, false}) {
		t.Errorf("%v", got)
	}
	// Its word is for levels that nothing else could decide.
	levels[0].Stability, levels[1].Stability = stability.Inconclusive, stability.Unstable
	r := knee.Judge(levels, knee.Options{})
	if !r.Levels[0].Stable || r.Levels[1].Stable {
		t.Errorf("%+v", r.Levels)
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	base := func() []knee.Level {
		return table(360, []float64{100, 200, 300, 400}, []float64{100, 200, 250, 250})
	}
	for _, c := range []struct {
		warning string
		edit    func(l []knee.Level) []knee.Level
	}{
		{knee.WarnPaced, func(l []knee.Level) []knee.Level { l[2].Paced = true; return l }},
		{knee.WarnDropped, func(l []knee.Level) []knee.Level { l[2].Dropped, l[3].Dropped = true, true; return l }},
		{knee.WarnBacklog, func(l []knee.Level) []knee.Level { l[1].Completed = 240; return l }},
		{knee.WarnIgnored, func(l []knee.Level) []knee.Level { return append(l, knee.Level{Offered: 5}) }},
	} {
		r := knee.Judge(c.edit(base()), knee.Options{})
		if !slices.Contains(r.Warnings, c.warning) || r.State != knee.Found || value(r.Offered) != 300 {
			t.Errorf("%s: %v, knee %v", c.warning, r.Warnings, value(r.Offered))
		}
	}
	if r := knee.Judge(base(), knee.Options{}); len(r.Warnings) > 0 {
		t.Errorf("%v", r.Warnings)
	}
	returned := knee.Level{Offered: 150, Seconds: 360, Completed: 90, Returned: true}
	if r := knee.Judge(append(base(), returned), knee.Options{}); len(r.Warnings) > 0 || r.Rates != 4 || r.Ignored != 0 {
		t.Errorf("a level on the way back counts: %+v", r)
	}
}

// TestNoLimitWidensAlone: a level that sets no limit to the capacity never makes
// its interval narrower.
func TestNoLimitWidensAlone(t *testing.T) {
	t.Parallel()
	hi := func(limit float64) float64 {
		levels := table(60, []float64{100, 200, 300}, []float64{100, 200, 275})
		levels[2].Stability, levels[2].Dispersion, levels[2].CapacityHi = stability.Inconclusive, 100, limit
		return knee.Judge(levels, knee.Options{}).Capacity.Hi
	}
	if with, without := hi(math.Inf(1)), hi(0); with < without || without < 300 {
		t.Errorf("up to %g without a limit, %g with the usual interval", with, without)
	}
}
