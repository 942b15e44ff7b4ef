package importer

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestRanks: the bucket of a rank of the table holds its value, the buckets hold
// all values, and their bounds rise.
func TestRanks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		values := rapid.SliceOfN(rapid.Float64Range(0.001, 50), n, n).Draw(t, "values")
		slices.Sort(values)
		resolution := rapid.Float64Range(1e-6, 0.5).Draw(t, "resolution")
		var table []ranked
		for _, q := range rapid.SliceOfN(rapid.Float64Range(0, 1), 0, 10).Draw(t, "quantiles") {
			rank := rankOf(q, uint64(n))
			v := values[rank-1]
			table = append(table, ranked{rank, max(0, v-resolution/3), v + resolution/2})
		}
		d := ranks(uint64(n), table)
		if len(d.Buckets) != len(d.Bounds)+1 || !slices.IsSortedFunc(d.Bounds, func(a, b float64) int { return cmp.Compare(a, b) }) {
			t.Fatalf("bounds %v, buckets %v", d.Bounds, d.Buckets)
		}
		total := uint64(0)
		for _, c := range d.Buckets {
			total += c
		}
		if total != uint64(n) {
			t.Fatalf("buckets hold %d of %d", total, n)
		}
		for _, r := range table {
			seen, i := uint64(0), 0
			for ; seen+d.Buckets[i] < r.rank; i++ {
				seen += d.Buckets[i]
			}
			v := values[r.rank-1]
			if i == len(d.Bounds) || v > d.Bounds[i] || i > 0 && v < d.Bounds[i-1] {
				t.Fatalf("rank %d, %g, is in bucket %d of %v", r.rank, v, i, d.Bounds)
			}
		}
	})
}
