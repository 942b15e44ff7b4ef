package importer

import (
	"cmp"
	"math"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// ranked is a value that a tool gives for a rank: 1 is the smallest of all. The
// true value lies in (lo, hi], as exactly as the tool writes or keeps it.
type ranked struct {
	rank   uint64
	lo, hi float64
}

// rankOf is the nearest rank of a quantile among n values.
func rankOf(q float64, n uint64) uint64 {
	return min(max(uint64(math.Ceil(q*float64(n)-1e-9)), 1), n)
}

// ranks turns a table of percentiles of n values into buckets: the bucket of a
// rank that the table has is as narrow as the tool's own resolution, and the one
// of a rank between lies between its neighbours. Values are in seconds.
func ranks(n uint64, table []ranked) *sample.Distribution {
	d := &sample.Distribution{Count: n, Min: math.NaN(), Max: math.NaN()}
	table = slices.DeleteFunc(slices.Clone(table), func(r ranked) bool {
		return r.rank < 1 || r.rank > n || !(r.lo >= 0 && r.hi > r.lo) || math.IsInf(r.hi, 1)
	})
	slices.SortFunc(table, func(a, b ranked) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.lo, b.lo)) })
	slices.Reverse(table) // of one rank the largest counts: tools round ranks in their own ways
	table = slices.CompactFunc(table, func(a, b ranked) bool { return a.rank == b.rank })
	slices.Reverse(table)
	var seen uint64
	add := func(bound float64, upto uint64) {
		if last := len(d.Bounds) - 1; last >= 0 && d.Bounds[last] == bound {
			d.Buckets[last] += upto - seen
		} else {
			d.Bounds, d.Buckets = append(d.Bounds, bound), append(d.Buckets, upto-seen)
		}
		seen = upto
	}
	for i := 0; i < len(table); {
		first, last, lo, hi := table[i].rank, table[i].rank, table[i].lo, table[i].hi
		for i++; i < len(table) && table[i].lo < hi; i++ { // not to be told apart
			last, lo, hi = table[i].rank, min(lo, table[i].lo), max(hi, table[i].hi)
		}
		if n := len(d.Bounds); n == 0 && lo > 0 || n > 0 && lo > d.Bounds[n-1] { // something may lie before
			add(lo, first-1)
		}
		add(hi, last)
	}
	d.Buckets = append(d.Buckets, n-seen)
	return d
}

// printed is how exactly a value is known that is written with a number of
// decimals: to half of the last one.
func printed(v float64, decimals int, unit float64) (lo, hi float64) {
	half := 0.5 * math.Pow10(-decimals)
	return max(0, (v-half)*unit), (v + half) * unit
}
