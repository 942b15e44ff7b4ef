package fold_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// placed takes the due times from rows and gives them places instead.
func placed(rows []sample.Row, place func(i int) int) []sample.Row {
	out := slices.Clone(rows)
	for i := range out {
		out[i].Intended, out[i].Index = 0, int64(place(i))
	}
	return out
}

// TestPlacesOfHosts has hosts share a declared schedule: they number their
// requests by the whole of it or each by its own part.
func TestPlacesOfHosts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 13))
		hosts := 1 + rng.IntN(3)
		d := &wire.Declaration{Steps: []wire.DeclareStep{{RatePerS: 120, DurationS: 8}, {RatePerS: 60, DurationS: 3}}}
		evidence := func(rows func(h int, rows []sample.Row) []sample.Row) *foldtest.Evidence {
			rng := rand.New(rand.NewPCG(1, uint64(hosts)))
			var all [][]*sample.Batch
			for h := range hosts {
				all = append(all, foldtest.Batches(sample.Group{Source: string(rune('a' + h))}, rows(h, late(rng, d, hosts, h)), 50))
			}
			return declared(d, all...)
		}
		want := build(t, evidence(func(_ int, rows []sample.Row) []sample.Row { return rows }), query.Options{})
		for name, place := range map[string]func(h, i int) int{
			"whole": func(h, i int) int { return i*hosts + h },
			"part":  func(_, i int) int { return i },
		} {
			got := build(t, evidence(func(h int, rows []sample.Row) []sample.Row {
				return placed(rows, func(i int) int { return place(h, i) })
			}), query.Options{})
			if got.Grade != fold.GradeB {
				rt.Fatalf("%s: grade %v", name, got.Grade)
			}
			if name == "whole" || hosts == 1 {
				sameTimes(rt, got, want)
			} else if x, y := at(got.Totals, 0.99), at(want.Totals, 0.99); x < y-20e6 || x > y+20e6 {
				rt.Fatalf("%s: p99 %v, want %v", name, x, y) // hosts begin up to a gap apart
			}
		}
	})
}

// TestPlacesOfUnequalParts has hosts number unequal parts, which nobody knows.
func TestPlacesOfUnequalParts(t *testing.T) {
	t.Parallel()
	d := &wire.Declaration{Steps: []wire.DeclareStep{{RatePerS: 100, DurationS: 10}}}
	rows := late(rand.New(rand.NewPCG(3, 1)), d, 1, 0)
	for _, of := range []int{10, 25, 40, 46} {
		var a, b []sample.Row
		for i, r := range rows {
			if i*of%100 < of {
				a = append(a, r)
			} else {
				b = append(b, r)
			}
		}
		own := func(i int) int { return i }
		st := build(t, declared(d, foldtest.Batches(sample.Group{Source: "a"}, placed(a, own), 50),
			foldtest.Batches(sample.Group{Source: "b"}, placed(b, own), 50)), query.Options{})
		if st.Grade != fold.GradeS {
			t.Errorf("%d of 100: grade %v", of, st.Grade)
		}
	}
}

// TestPlacesOfAStray has two hosts with halves of the plan go on a little too
// long, and a third with a few requests.
func TestPlacesOfAStray(t *testing.T) {
	t.Parallel()
	d := &wire.Declaration{Steps: []wire.DeclareStep{{RatePerS: 100, DurationS: 60}}}
	rng := rand.New(rand.NewPCG(3, 2))
	own := func(i int) int { return i }
	host := func(name string, rows []sample.Row) []*sample.Batch {
		return foldtest.Batches(sample.Group{Source: name}, placed(rows, own), 500)
	}
	st := build(t, declared(d, host("a", ticks(rng, start, 50, 3050, 50e3)), host("b", ticks(rng, start+5e6, 50, 3050, 50e3)),
		host("c", ticks(rng, start+20e9, 50, 3, 50e3))), query.Options{})
	if st.Grade != fold.GradeB || st.Totals.LateSends > 0 {
		t.Errorf("grade %v, %d late", st.Grade, st.Totals.LateSends)
	}
}
