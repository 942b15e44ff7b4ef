package stability

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestLevels(t *testing.T) {
	t.Parallel()
	last := -1
	width := map[int]int{}
	for n := range 200_000 {
		l := LevelOf(n)
		if l < last || l > last+1 {
			t.Fatalf("level %d of %d after %d", l, n, last)
		}
		last = l
		width[l]++
		if v := Value(l); n <= 32 && v != float64(n) || math.Abs(v-float64(n)) > 0.016*float64(n) {
			t.Fatalf("%d in flight stands at %v", n, v)
		}
	}
	for l, w := range width {
		if l < last && float64(w) > max(1, 0.032*Value(l)) {
			t.Errorf("level %d pools %d around %v", l, w, Value(l))
		}
	}
	if LevelOf(-3) != 0 || Value(LevelOf(1<<40)) < 1<<40 {
		t.Error("extremes are wrong")
	}
}

func TestOccupancyIsOrderIndependent(t *testing.T) {
	t.Parallel()
	type add struct {
		Level          int
		NS, Departures int64
	}
	adds := rapid.SliceOf(rapid.Custom(func(t *rapid.T) add {
		return add{rapid.IntRange(0, 300).Draw(t, "level"), rapid.Int64Range(0, 1e12).Draw(t, "ns"), rapid.Int64Range(0, 9).Draw(t, "departures")}
	}))
	view := func(o *Occupancy) (out []add) {
		o.Each(func(l int, c Cell) { out = append(out, add{l, c.TimeNS, c.Departures}) })
		return out
	}
	rapid.Check(t, func(t *rapid.T) {
		list := adds.Draw(t, "adds")
		var a, b, c Occupancy
		var ns, departures int64
		for _, x := range list {
			a.Add(x.Level, x.NS, x.Departures)
			ns += x.NS
			departures += x.Departures
		}
		for i, x := range rapid.Permutation(list).Draw(t, "order") {
			[]*Occupancy{&b, &c}[i%2].Add(x.Level, x.NS, x.Departures)
		}
		b.Merge(&c)
		if d := cmp.Diff(view(&a), view(&b)); d != "" {
			t.Fatalf("order matters:\n%s", d)
		}
		if a.Time() != ns || a.Departures() != departures {
			t.Fatalf("totals %d %d, want %d %d", a.Time(), a.Departures(), ns, departures)
		}
		top := 0
		for _, x := range view(&a) {
			top = x.Level
		}
		if a.Top() != top {
			t.Fatalf("top %d, want %d", a.Top(), top)
		}
		a.Reset()
		if a.Top() != 0 || a.Time() != 0 || len(view(&a)) != 0 {
			t.Fatal("a reset occupancy says something")
		}
		a.Add(7, 1, 1)
		if d := cmp.Diff([]add{{7, 1, 1}}, view(&a)); d != "" {
			t.Fatalf("after a reset:\n%s", d)
		}
	})
}

// TestFromPathAgainstPoints counts in flight at every nanosecond of a short
// window, which no sweep can get wrong.
func TestFromPathAgainstPoints(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "n")
		var arrivals, departures []int64
		for range n {
			at := rapid.Int64Range(0, 300).Draw(t, "at")
			arrivals = append(arrivals, at)
			departures = append(departures, at+rapid.Int64Range(0, 200).Draw(t, "stay"))
		}
		slices.Sort(arrivals)
		slices.Sort(departures)
		from := rapid.Int64Range(0, 200).Draw(t, "from")
		to := from + rapid.Int64Range(20, 400).Draw(t, "length")
		w := FromPath(arrivals, departures, from, to)

		inFlight := func(at int64) (n int) { // just after at
			for i := range arrivals {
				if arrivals[i] <= at {
					n++
				}
				if departures[i] <= at {
					n--
				}
			}
			return n
		}
		for i := range w.Spans {
			lo, hi := Edge(from, to, i), Edge(from, to, i+1)
			var integral, in, out int64
			var o Occupancy
			for at := lo; at < hi; at++ {
				k := inFlight(at)
				integral += int64(k)
				o.Add(LevelOf(k), 1, 0)
			}
			for k := range arrivals {
				if arrivals[k] >= lo && arrivals[k] < hi {
					in++
				}
				if departures[k] >= lo && departures[k] < hi {
					out++
				}
			}
			s := &w.Spans[i]
			if s.DurationNS != hi-lo || s.IntegralNS != integral || s.Arrivals != in || s.Departures != out || s.Occupancy.Departures() != out {
				t.Fatalf("span %d: %+v, want %d ns, integral %d, %d in, %d out", i, s, hi-lo, integral, in, out)
			}
			o.Each(func(l int, c Cell) { s.Occupancy.Add(l, -c.TimeNS, 0) })
			s.Occupancy.Each(func(l int, c Cell) {
				if c.TimeNS != 0 || (l == 0 && c.Departures != 0) {
					t.Fatalf("span %d level %d is off by %+v", i, l, c)
				}
			})
		}
	})
}

func TestEdgesAndCut(t *testing.T) {
	t.Parallel()
	if Edge(5, 1005, 0) != 5 || Edge(5, 1005, Spans) != 1005 || Edge(0, math.MaxInt64, Spans) != math.MaxInt64 {
		t.Error("the spans do not cover the window")
	}
	if Cut(100, 1100, 0) != 200 || Cut(100, 1100, 50) != 150 || Cut(100, 1100, 5000) != 1100 {
		t.Error("the warm-up is cut wrongly")
	}
}
