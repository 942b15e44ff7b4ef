package response

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// show turns an estimate into comparable numbers; NaN stands for null.
func show(e Estimate) [3]float64 {
	out := [3]float64{math.NaN(), math.NaN(), math.NaN()}
	for i, p := range []*float64{e.Value, e.Lo, e.Hi} {
		if p != nil {
			out[i] = *p
		}
	}
	return out
}

func near(a, b float64) bool {
	return (math.IsNaN(a) && math.IsNaN(b)) || math.Abs(a-b) <= max(1e-6, 0.001*math.Abs(b))
}

func TestSupport(t *testing.T) {
	t.Parallel()
	check := func(q float64, want int64) {
		t.Helper()
		if got := need(q, 0.025); got != want {
			t.Errorf("quantile %v needs %d, want %d", q, got, want)
		}
		for _, n := range []int64{want - 1, want} {
			c := NewCohort(3)
			for i := range n {
				c.Exact.Record((i + 1) * 1e6)
			}
			e := c.Quantile(q, 0.95)
			if whole := n == want; (e.Value != nil) != whole || (e.Need == 0) != whole || (e.Hi != nil) != whole {
				t.Errorf("quantile %v of %d: %v, need %d", q, n, show(e), e.Need)
			}
			if e.Value == nil && (e.Need != want || e.Confidence != 0 || e.Lo != nil) {
				t.Errorf("quantile %v of %d: %+v", q, n, e)
			}
		}
	}
	check(0.5, 6)
	check(0.9, 36)
	check(0.95, 72)
	check(0.99, 368)
	check(0.999, 3688)
	check(0.1, 36)
}

// TestRanksAgainstSums compares the incomplete beta function with sums of
// binomial probabilities.
func TestRanksAgainstSums(t *testing.T) {
	t.Parallel()
	for _, q := range []float64{0.5, 0.9, 0.95, 0.99, 0.999} {
		for _, n := range []int{1, 2, 10, 36, 367, 368, 4000} {
			cdf := make([]float64, n+2) // cdf[k] = P(K < k)
			for k := range n + 1 {
				lc := lchoose(n, k) + float64(k)*math.Log(q) + float64(n-k)*math.Log1p(-q)
				cdf[k+1] = cdf[k] + math.Exp(lc)
			}
			l, u := 0, n+1
			for l+1 <= n && cdf[l+1] <= 0.025 {
				l++
			}
			for u-1 >= 1 && 1-cdf[u-1] <= 0.025 {
				u--
			}
			gl, gu := ranks(uint64(n), q, 0.025)
			if int(gl) != l || int(gu) != u {
				t.Errorf("q %v n %d: ranks %d to %d, want %d to %d", q, n, gl, gu, l, u)
			}
		}
	}
}

func lchoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// TestRanksOfMany compares large samples with the normal approximation.
func TestRanksOfMany(t *testing.T) {
	t.Parallel()
	for _, n := range []uint64{1e5, 1e7, 1e9} {
		l, u := ranks(n, 0.99, 0.025)
		sd := math.Sqrt(float64(n) * 0.99 * 0.01)
		for i, r := range []uint64{l, u} {
			z := (float64(r) - 0.99*float64(n)) / sd
			if want := []float64{-1.96, 1.96}[i]; math.Abs(z-want) > 0.05 {
				t.Errorf("n %d: rank at z %v, want %v", n, z, want)
			}
		}
	}
}

// TestCoverage draws independent samples: the interval must hold the truth at
// least as often as it says.
func TestCoverage(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 9))
	for _, q := range []float64{0.5, 0.9, 0.99} {
		truth := -math.Log1p(-q)
		held, runs := 0, 2000
		for range runs {
			c := NewCohort(3)
			for range 500 {
				c.Exact.Record(int64(rng.ExpFloat64() * 1e9))
			}
			if e := c.Quantile(q, 0.95); *e.Lo <= truth*1.0005 && truth <= *e.Hi*1.0005 {
				held++
			}
		}
		if float64(held) < 0.94*float64(runs) {
			t.Errorf("quantile %v: %d of %d intervals hold the truth", q, held, runs)
		}
	}
}

func TestCensored(t *testing.T) {
	t.Parallel()
	check := func(c *Cohort, q float64, want [3]float64, censored bool) {
		t.Helper()
		e := c.Quantile(q, 0.95)
		got := show(e)
		if !near(got[0], want[0]) || !near(got[1], want[1]) || !near(got[2], want[2]) || e.Censored != censored {
			t.Errorf("quantile %v: %v censored %v, want %v %v", q, got, e.Censored, want, censored)
		}
	}
	nan := math.NaN()

	// 63 % time out at 2 s: the 95th percentile is "longer than 2 s".
	c := NewCohort(3)
	c.Exact.RecordN(1e9, 370)
	c.Censored.RecordN(2e9, 630)
	check(c, 0.95, [3]float64{nan, 2, nan}, true)
	check(c, 0.2, [3]float64{1, 1, 1}, false)
	check(c, 0.37, [3]float64{1, 1, nan}, false)

	// Short waits that were cancelled could have become anything.
	c = NewCohort(3)
	c.Exact.RecordN(1e9, 900)
	c.Censored.RecordN(1e6, 100)
	check(c, 0.5, [3]float64{1, 1, 1}, false)
	check(c, 0.05, [3]float64{nan, 0.001, 1}, true)
	check(c, 0.95, [3]float64{nan, 1, nan}, true)

	// Never sent: longer than any.
	c = NewCohort(3)
	c.Exact.RecordN(3e9, 9_950)
	c.Never = 50
	check(c, 0.99, [3]float64{3, 3, 3}, false)
	check(c, 0.995, [3]float64{3, 3, nan}, false)
	check(c, 0.999, [3]float64{nan, 3, nan}, true)

	// Too few and censored: the lower bound stays.
	c = NewCohort(3)
	c.Censored.RecordN(2e9, 20)
	e := c.Quantile(0.99, 0.95)
	if e.Value != nil || e.Lo == nil || *e.Lo != 2 || e.Need != 368 || !e.Censored {
		t.Errorf("twenty time-outs: %v %+v", show(e), e)
	}
}

func TestCohortEdges(t *testing.T) {
	t.Parallel()
	c := NewCohort(3)
	if e := c.Quantile(0.99, 0.95); e.Value != nil || e.Lo != nil || e.Need != 368 || e.Censored {
		t.Errorf("an empty cohort: %+v", e)
	}
	if _, ok := c.Mean(); ok || c.Spectrum(5) != nil || c.Max() != 0 {
		t.Error("an empty cohort says something")
	}
	c.Exact.RecordN(1e9, 1000)
	for _, q := range []float64{0, 1, -1, 2, math.NaN()} {
		if e := c.Quantile(q, 0.95); e != (Estimate{}) {
			t.Errorf("quantile %v: %+v", q, e)
		}
	}
	if m, ok := c.Mean(); !ok || m != 1 {
		t.Errorf("mean %v %v", m, ok)
	}
	c.Never = 1
	if _, ok := c.Mean(); ok {
		t.Error("a mean of survivors")
	}
	if n := nearestRank(0.99, 100); n != 99 {
		t.Errorf("rank %d", n)
	}
	if n := nearestRank(0.07, 100); n != 7 {
		t.Errorf("rank %d", n)
	}
}

func TestAtLeast(t *testing.T) {
	t.Parallel()
	c := NewCohort(3)
	c.Exact.RecordN(2e9, 30)
	if v, ok := c.AtLeast(0.99, 0.95); !ok || !near(v, 2) {
		t.Errorf("thirty slow answers prove %v %v", v, ok)
	}
	if _, ok := NewCohort(3).AtLeast(0.99, 0.95); ok {
		t.Error("an empty cohort proves something")
	}
	one := NewCohort(3)
	one.Exact.Record(1e9)
	if _, ok := one.AtLeast(0.5, 0.95); ok {
		t.Error("one answer bounds the median")
	}
}

// TestQuantileProperties checks, for random cohorts, that quantiles rise, that
// intervals hold their value, that a value is the nearest rank of the sorted
// times and that merging in any order gives the same.
func TestQuantileProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		exact, censored := times(200).Draw(t, "exact"), times(60).Draw(t, "censored")
		if rapid.Bool().Draw(t, "all exact") {
			censored = nil
		}
		scale := rapid.SampledFrom([]uint64{1, 7, 100}).Draw(t, "scale")
		a, b := NewCohort(3), NewCohort(3)
		b.Never = rapid.Uint64Range(0, 5).Draw(t, "never")
		var all []int64
		for i, v := range exact {
			[]*Cohort{a, b}[i%2].Exact.RecordN(v, scale)
			for range scale {
				all = append(all, max(v, 0))
			}
		}
		for i, v := range censored {
			[]*Cohort{a, b}[i%2].Censored.Record(v)
		}
		ab, ba := a.Clone(), b.Clone()
		ab.Merge(b)
		ba.Merge(a)
		slices.Sort(all)
		last := [3]float64{}
		for _, q := range []float64{0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999} {
			e := ab.Quantile(q, 0.95)
			if d := cmp.Diff(e, ba.Quantile(q, 0.95)); d != "" {
				t.Fatalf("order of merging matters:\n%s", d)
			}
			got := show(e)
			for i, v := range got {
				if math.IsNaN(v) {
					continue
				}
				if v < last[i] {
					t.Fatalf("quantile %v falls from %v to %v", q, last, got)
				}
				last[i] = v
			}
			if e.Lo != nil && e.Hi != nil && *e.Lo > *e.Hi {
				t.Fatalf("quantile %v: %v", q, got)
			}
			if e.Value == nil {
				continue
			}
			if e.Lo == nil || *e.Lo > *e.Value || (e.Hi != nil && *e.Hi < *e.Value*(1-same)) || e.Confidence != 0.95 {
				t.Fatalf("quantile %v: %v confidence %v", q, got, e.Confidence)
			}
			if len(censored) == 0 && ab.Never == 0 {
				want := all[nearestRank(q, uint64(len(all)))-1]
				if want <= limit && math.Abs(*e.Value*1e9-float64(want)) > max(1000, 0.001*float64(want)) {
					t.Fatalf("quantile %v is %v, want %v", q, *e.Value, float64(want)/1e9)
				}
			}
		}
	})
}

func TestCohortSpectrum(t *testing.T) {
	t.Parallel()
	c := NewCohort(3)
	for i := range 900 {
		c.Exact.Record(int64(i+1) * 1e6)
	}
	c.Censored.RecordN(2e9, 100)
	points := c.Spectrum(5)
	var last Point
	for _, p := range points {
		if p.Quantile < last.Quantile || p.Value < last.Value || p.Count < last.Count {
			t.Fatalf("%+v after %+v", p, last)
		}
		if want := p.Count > 900; p.Censored != want {
			t.Errorf("point %+v, censored should be %v", p, want)
		}
		if p.Quantile < 1 && !near(p.Inverse, 1/(1-p.Quantile)) {
			t.Errorf("point %+v", p)
		}
		last = p
	}
	if last.Quantile != 1 || last.Inverse != 0 || last.Count != 1000 || last.Value != 2 {
		t.Errorf("last point %+v", last)
	}
	c.Never = 1000
	points = c.Spectrum(5)
	if q := points[len(points)-1].Quantile; q != 0.5 {
		t.Errorf("half were never sent, and the spectrum ends at %v", q)
	}
}

func BenchmarkQuantile(b *testing.B) {
	rng := rand.New(rand.NewPCG(7, 8))
	c := NewCohort(3)
	for range 1_000_000 {
		c.Exact.Record(int64(20e6 * math.Exp(rng.NormFloat64())))
	}
	for b.Loop() {
		c.Quantile(0.99, 0.95)
	}
}
