package response

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// view is what a histogram says, without how its memory is laid out.
type view struct {
	Count, Over, Negative, SumHi, SumLo uint64
	Min, Max                            int64
	Buckets                             [][3]int64
}

func viewOf(h *Histogram) view {
	v := view{Count: h.Count(), Over: h.Over(), Negative: h.Negative(), Min: h.Min(), Max: h.Max()}
	v.SumHi, v.SumLo = h.Sum()
	h.Buckets(func(lo, hi int64, n uint64) bool {
		v.Buckets = append(v.Buckets, [3]int64{lo, hi, int64(n)})
		return true
	})
	return v
}

// times draws times over the whole range, some of them outside it.
func times(n int) *rapid.Generator[[]int64] {
	one := rapid.Custom(func(t *rapid.T) int64 {
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0:
			return rapid.Int64Range(-1000, 3000).Draw(t, "ns")
		case 1:
			return rapid.Int64Range(limit-1e9, 3*limit).Draw(t, "ns")
		default:
			return int64(math.Exp(rapid.Float64Range(0, math.Log(float64(limit))).Draw(t, "log")))
		}
	})
	return rapid.SliceOfN(one, 1, n)
}

func TestHistogramExactParts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := times(300).Draw(t, "values")
		h := New(3)
		sum := new(big.Int)
		for i, v := range values {
			h.Record(v)
			values[i] = max(v, 0)
			sum.Add(sum, big.NewInt(values[i]))
		}
		slices.Sort(values)
		hi, lo := h.Sum()
		got := new(big.Int).Or(new(big.Int).Lsh(new(big.Int).SetUint64(hi), 64), new(big.Int).SetUint64(lo))
		if got.Cmp(sum) != 0 {
			t.Fatalf("sum %v, want %v", got, sum)
		}
		if h.Count() != uint64(len(values)) || h.Min() != values[0] || h.Max() != values[len(values)-1] {
			t.Fatalf("count %d min %d max %d of %v", h.Count(), h.Min(), h.Max(), values)
		}
		want, _ := new(big.Float).Quo(new(big.Float).SetInt(sum), big.NewFloat(float64(len(values))*1e9)).Float64()
		if math.Abs(h.Mean()-want) > 1e-14*want {
			t.Fatalf("mean %v, want %v", h.Mean(), want)
		}
	})
}

func TestHistogramRanksAgainstSorting(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := times(300).Draw(t, "values")
		digits := rapid.SampledFrom([]int{2, 3}).Draw(t, "digits")
		h := New(digits)
		for i, v := range values {
			h.Record(v)
			values[i] = max(v, 0)
		}
		slices.Sort(values)
		tolerance := map[int]float64{3: 0.001, 2: 0.01}[digits]
		last := int64(0)
		for r := 1; r <= len(values); r++ {
			got, want := h.ValueAtRank(uint64(r)), values[r-1]
			if got < last {
				t.Fatalf("rank %d gives %d after %d", r, got, last)
			}
			last = got
			if want > limit && r < len(values) {
				want = limit
			}
			if d := math.Abs(float64(got - want)); d > max(1000, tolerance*float64(want)) {
				t.Fatalf("rank %d is %d, want %d", r, got, want)
			}
		}
		for _, at := range []int64{0, 1e6, 1e9, limit, 4 * limit, values[len(values)/2]} {
			got := h.CountAtOrBelow(at)
			low, _ := slices.BinarySearch(values, at+1)
			high, _ := slices.BinarySearch(values, at+max(1000, int64(2*tolerance*float64(at)))+1)
			if got < uint64(low) || got > uint64(high) {
				t.Fatalf("%d at or below %d, want %d to %d", got, at, low, high)
			}
		}
	})
}

func TestHistogramAgainstHdr(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, digits := range []int{2, 3} {
		oracle, h := hdr.New(1, limit/unit, digits), New(digits)
		for range 50_000 {
			us := 1 + int64(20_000*math.Exp(rng.NormFloat64()))
			interval := int64(rng.IntN(30_000))
			if rng.IntN(3) == 0 {
				interval = 0
			}
			if err := oracle.RecordCorrectedValue(us, interval); err != nil {
				t.Fatal(err)
			}
			h.RecordCorrected(us*unit, interval*unit)
		}
		if h.Count() != uint64(oracle.TotalCount()) {
			t.Fatalf("count %d, want %d", h.Count(), oracle.TotalCount())
		}
		var got, want [][3]int64
		h.Buckets(func(lo, hi int64, n uint64) bool {
			got = append(got, [3]int64{lo / unit, hi/unit - 1, int64(n)})
			return true
		})
		for _, b := range oracle.Distribution() {
			if b.Count > 0 {
				want = append(want, [3]int64{b.From, b.To, b.Count})
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("%d digits: buckets (-hdr +ours):\n%s", digits, d)
		}
		for q := 0.001; q < 1; q += 0.0137 {
			r := nearestRank(q, h.Count())
			us := oracle.ValueAtPercentile(100 * q)
			if v := h.ValueAtRank(r); !oracle.ValuesAreEquivalent(us, v/unit) && r < h.Count() {
				t.Errorf("quantile %v is %d, hdr %d", q, v/unit, us)
			}
		}
	}
}

func TestSpectrumAgainstHdr(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 2, 37, 20_000} {
		oracle, h := hdr.New(1, limit/unit, 3), New(3)
		for range n {
			us := 1 + int64(1000*rng.ExpFloat64())
			_ = oracle.RecordValue(us)
			h.Record(us * unit)
		}
		want := oracle.CumulativeDistributionWithTicks(5)
		got := h.Spectrum(5)
		if len(got) != len(want) {
			t.Fatalf("n %d: %d points, hdr %d", n, len(got), len(want))
		}
		for i, p := range got {
			w := want[i]
			if math.Abs(100*p.Quantile-w.Quantile) > 1e-9 || p.Count != uint64(w.Count) ||
				!oracle.ValuesAreEquivalent(w.ValueAt, int64(math.Round(p.Value*1e9))/unit) {
				t.Errorf("n %d point %d is %+v, hdr %+v", n, i, p, w)
			}
		}
	}
}

func TestRecordCorrectedAgainstLoop(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ns := rapid.Int64Range(0, 2*limit).Draw(t, "ns")
		if rapid.Bool().Draw(t, "small") {
			ns = rapid.Int64Range(0, 1e7).Draw(t, "ns")
		}
		interval := rapid.Int64Range(max(1, ns/3000), ns+1000).Draw(t, "interval")
		got, want := New(3), New(3)
		got.RecordCorrected(ns, interval)
		want.Record(ns)
		for v := ns - interval; v >= interval; v -= interval {
			want.Record(v)
		}
		if d := cmp.Diff(viewOf(want), viewOf(got)); d != "" {
			t.Fatalf("(-loop +closed form):\n%s", d)
		}
	})
	h := New(3)
	h.RecordCorrected(math.MaxInt64, 1) // the cost is bounded, whatever the interval
	if h.Max() != math.MaxInt64 || h.Min() != 1 {
		t.Fatalf("min %d max %d", h.Min(), h.Max())
	}
}

func TestMergeIsOrderIndependent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := times(200).Draw(t, "values")
		parts := rapid.SliceOfN(rapid.IntRange(0, 3), len(values), len(values)).Draw(t, "parts")
		coarse := rapid.Bool().Draw(t, "coarse")
		var hs [4]*Histogram
		for i := range hs {
			hs[i] = New(3)
		}
		whole := New(3)
		if coarse {
			hs[2], whole = New(2), New(2)
		}
		for i, v := range values {
			hs[parts[i]].Record(v)
			whole.Record(v)
		}
		if coarse {
			hs[2].Record(1)
			whole.Record(1)
		}
		perm := rapid.Permutation([]int{0, 1, 2, 3}).Draw(t, "order")
		sum := New(3)
		for _, i := range perm {
			before := viewOf(hs[i])
			sum.Merge(hs[i])
			if d := cmp.Diff(before, viewOf(hs[i])); d != "" {
				t.Fatalf("merge changed its argument:\n%s", d)
			}
		}
		if d := cmp.Diff(viewOf(whole), viewOf(sum)); d != "" {
			t.Fatalf("(-whole +merged):\n%s", d)
		}
		c := sum.Clone()
		sum.Reset()
		if d := cmp.Diff(viewOf(whole), viewOf(c)); d != "" || sum.Count() != 0 {
			t.Fatalf("clone shares memory:\n%s", d)
		}
	})
}

func TestHistogramEdges(t *testing.T) {
	t.Parallel()
	h := New(3)
	if h.Count() != 0 || h.Mean() != 0 || h.ValueAtRank(1) != 0 || h.CountAtOrBelow(5) != 0 || h.Spectrum(5) != nil {
		t.Error("an empty histogram says something")
	}
	if s := h.Size(); s > 150 {
		t.Errorf("an empty histogram takes %d bytes", s)
	}
	h.RecordN(5, 0)
	h.Record(-7)
	h.RecordN(2*limit, 3)
	if h.Count() != 4 || h.Negative() != 1 || h.Over() != 3 || h.Min() != 0 || h.Max() != 2*limit {
		t.Errorf("got %+v", viewOf(h))
	}
	if got := h.ValueAtRank(2); got != limit {
		t.Errorf("a rank above the range gives %d", got)
	}
	if got := h.ValueAtRank(99); got != 2*limit {
		t.Errorf("the last rank gives %d", got)
	}
	if h.Digits() != 3 || New(2).Digits() != 2 || New(0).Digits() != 3 {
		t.Error("digits are wrong")
	}
}

// TestHistogramMemory pins what a realistic histogram takes: 10 s of a service
// with a median of 20 ms.
func TestHistogramMemory(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	fine, coarse := New(3), New(2)
	for range 5000 {
		ns := int64(20e6 * math.Exp(0.5*rng.NormFloat64()))
		fine.Record(ns)
		coarse.Record(ns)
	}
	if fine.Size() > 48<<10 || coarse.Size() > 8<<10 {
		t.Errorf("%d bytes at 3 digits, %d at 2", fine.Size(), coarse.Size())
	}
}

func BenchmarkRecord(b *testing.B) {
	rng := rand.New(rand.NewPCG(7, 8))
	values := make([]int64, 1<<14)
	for i := range values {
		values[i] = int64(20e6 * math.Exp(rng.NormFloat64()))
	}
	h := New(3)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		h.Record(values[i&(len(values)-1)])
		i++
	}
}
