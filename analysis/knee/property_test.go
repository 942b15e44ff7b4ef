package knee_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll/plimsoll/analysis/knee"
	"github.com/plimsoll/plimsoll/analysis/stability"
)

func levels() *rapid.Generator[[]knee.Level] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) knee.Level {
		l := knee.Level{
			Offered:    float64(rapid.IntRange(1, 12).Draw(t, "offered")) * 50,
			Seconds:    float64(rapid.SampledFrom([]int{10, 30, 60}).Draw(t, "seconds")),
			Dispersion: rapid.SampledFrom([]float64{0, 0.5, 1, 4}).Draw(t, "dispersion"),
			Stability:  rapid.SampledFrom([]stability.State{stability.Stable, stability.Inconclusive}).Draw(t, "state"),
			Meets:      true,
		}
		l.Completed = math.Round(l.Offered * rapid.Float64Range(0, 1.2).Draw(t, "share"))
		l.OK = int64(l.Completed * l.Seconds)
		if rapid.Bool().Draw(t, "drained") {
			drain := float64(rapid.IntRange(0, 20).Draw(t, "drain"))
			l.DrainS = &drain
		}
		return l
	}), 0, 8)
}

func TestOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := levels().Draw(t, "levels")
		other := append([]knee.Level(nil), in...)
		rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)).Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
		a, b := knee.Judge(in, knee.Options{}), knee.Judge(other, knee.Options{})
		if show(&a) != show(&b) {
			t.Fatalf("%s\n%s", show(&a), show(&b))
		}
	})
}

// TestUnitOfTime: the same counts read in another unit of time.
func TestUnitOfTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := levels().Draw(t, "levels")
		const k = 64 // exact in binary
		other := append([]knee.Level(nil), in...)
		for i := range other {
			l := &other[i]
			l.Offered, l.Completed, l.Seconds = l.Offered*k, l.Completed*k, l.Seconds/k
			if l.DrainS != nil {
				d := *l.DrainS / k
				l.DrainS = &d
			}
		}
		a, b := knee.Judge(in, knee.Options{}), knee.Judge(other, knee.Options{})
		if a.State != b.State || a.Shape != b.Shape || !reflect.DeepEqual(a.Warnings, b.Warnings) {
			t.Fatalf("%s\n%s", show(&a), show(&b))
		}
		for _, p := range [][2]*float64{{a.Offered, b.Offered}, {a.ServedInFull, b.ServedInFull}, {a.Recommended, b.Recommended}} {
			if math.Abs(value(p[0])*k-value(p[1])) > 1e-9*k {
				t.Fatalf("%v and %v", value(p[0]), value(p[1]))
			}
		}
		if a.Capacity != nil && math.Abs(a.Capacity.Hi*k-b.Capacity.Hi) > 1e-6*b.Capacity.Hi {
			t.Fatalf("%+v and %+v", *a.Capacity, *b.Capacity)
		}
	})
}

func TestResultHangsTogether(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := knee.Judge(levels().Draw(t, "levels"), knee.Options{CountsOnly: rapid.Bool().Draw(t, "counts")})
		if (r.State == knee.Found) != (r.Offered != nil) || (r.State == knee.Found) && r.Capacity == nil {
			t.Fatalf("%s", show(&r))
		}
		if c := r.Capacity; c != nil {
			if !(c.Lo <= c.Value && c.Value <= c.Hi) || c.Lo < 0 || r.Shape == knee.None {
				t.Fatalf("%s", show(&r))
			}
			if r.Recommended != nil && *r.Recommended > 0.9*c.Lo {
				t.Fatalf("%s", show(&r))
			}
		}
		if len(r.Bracket) == 2 && r.Bracket[0] >= r.Bracket[1] {
			t.Fatalf("%s", show(&r))
		}
		for _, n := range r.Next {
			if !(n.RatePerS > 0) || !(n.DurationS > 0) || math.IsInf(n.DurationS, 1) {
				t.Fatalf("next %+v", n)
			}
		}
	})
}

// TestNextHalves runs what is asked for against a server that does exactly its
// capacity and finds bracket and interval halved.
func TestNextHalves(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		// Not so close above or below a level that more time there changes its standing.
		capacity := rapid.SampledFrom([]float64{200, 300}).Draw(t, "above") + rapid.Float64Range(10, 90).Draw(t, "by")
		run := func(rate, seconds float64) knee.Level {
			return knee.Level{Offered: rate, Seconds: seconds, Completed: min(rate, capacity), Meets: true}
		}
		var in []knee.Level
		for rate := 100.0; rate <= 500; rate += 100 {
			in = append(in, run(rate, 120))
		}
		a := knee.Judge(in, knee.Options{})
		if a.State != knee.Found || len(a.Next) == 0 {
			t.Fatalf("%s", show(&a))
		}
		for _, n := range a.Next {
			in = append(in, run(n.RatePerS, n.DurationS))
		}
		b := knee.Judge(in, knee.Options{})
		if got, had := b.Bracket[1]-b.Bracket[0], a.Bracket[1]-a.Bracket[0]; got > 0.51*had {
			t.Fatalf("bracket %v, was %v, next %v", b.Bracket, a.Bracket, a.Next)
		}
		if got, had := b.Capacity.Hi-b.Capacity.Lo, a.Capacity.Hi-a.Capacity.Lo; got > 0.51*had {
			t.Fatalf("interval %+v, was %+v, next %v", *b.Capacity, *a.Capacity, a.Next)
		}
	})
}

func show(r *knee.Result) string {
	s := fmt.Sprintf("%s knee %v full %v recommended %v bracket %v shape %q warnings %v levels %+v next %+v", r.State, value(r.Offered),
		value(r.ServedInFull), value(r.Recommended), r.Bracket, r.Shape, r.Warnings, r.Levels, r.Next)
	if r.Capacity != nil {
		s += fmt.Sprintf(" capacity %+v", *r.Capacity)
	}
	return s
}
