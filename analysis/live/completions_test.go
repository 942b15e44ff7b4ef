package live_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll/plimsoll/analysis/live"
)

func TestShort(t *testing.T) {
	t.Parallel()
	check := func(name string, c live.Completions, want bool) {
		t.Helper()
		if s, got := c.Short(); got != want {
			t.Errorf("%s: %v, %+v", name, got, s)
		}
	}
	base := live.Completions{OfferedPerS: 100, WindowS: 11, Ended: 1100, AgeS: 0.05, UsualAgeS: 0.05}
	with := func(change func(c *live.Completions)) live.Completions {
		c := base
		change(&c)
		return c
	}
	check("all that was offered ends", base, false)
	check("a quarter is missing, and what ends is old", with(func(c *live.Completions) { c.Ended, c.AgeS = 825, 1 }), true)
	check("a quarter is missing, but what ends is young", with(func(c *live.Completions) { c.Ended = 825 }), false)
	check("a quarter is missing where that is usual noise", with(func(c *live.Completions) { c.Ended, c.AgeS, c.Dispersion = 825, 1, 20 }), false)
	check("nothing ends", with(func(c *live.Completions) { c.Ended, c.AgeS = 0, 0 }), true)
	check("nothing usual is known", with(func(c *live.Completions) { c.Ended, c.UsualAgeS = 825, 0 }), true)
	check("2 % short of a high rate", live.Completions{OfferedPerS: 1e5, WindowS: 11, Ended: 1_078_000, AgeS: 1, UsualAgeS: 0.1}, false)
	check("nothing offered", live.Completions{WindowS: 11, Ended: 5, AgeS: 1, UsualAgeS: 0.1}, false)
	check("no number", live.Completions{OfferedPerS: math.NaN(), WindowS: 11}, false)
	s, _ := with(func(c *live.Completions) { c.Ended, c.AgeS = 825, 0.2 }).Short()
	if s.Missing != 275 || math.Abs(s.Z+275/math.Sqrt(2200)) > 1e-12 || s.Older != 4 {
		t.Errorf("%+v", s)
	}
}

// TestShortIsMonotone: the fewer end, the more is missing, and a suspicion stays one.
func TestShortIsMonotone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := live.Completions{
			OfferedPerS: rapid.Float64Range(0.1, 1e5).Draw(t, "rate"), WindowS: 11, Ended: rapid.Int64Range(0, 1e6).Draw(t, "ended"),
			Dispersion: rapid.Float64Range(0, 50).Draw(t, "dispersion"), AgeS: rapid.Float64Range(0, 10).Draw(t, "age"),
			UsualAgeS: rapid.Float64Range(0, 10).Draw(t, "usual"),
		}
		a, short := c.Short()
		c.Ended -= rapid.Int64Range(0, c.Ended).Draw(t, "less")
		b, still := c.Short()
		if b.Z > a.Z || b.Missing < a.Missing || short && !still || math.IsNaN(a.Z) {
			t.Fatalf("%+v, then %+v", a, b)
		}
	})
}
