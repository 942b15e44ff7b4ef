package stability_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/plimsoll/plimsoll/analysis/sim"
	"github.com/plimsoll/plimsoll/analysis/stability"
)

// TestPublishedHalves reads the published table of a language model server:
// 60 s at each rate, and the drain after it. X is arrivals over T + drain.
func TestPublishedHalves(t *testing.T) {
	t.Parallel()
	check := func(lambda, m1, m2, drain float64, state stability.State, z, tolerance float64) {
		t.Helper()
		r := stability.FromHalves(stability.Halves{
			First: m1, Second: m2, Offered: lambda, Ended: lambda * 60 / (60 + drain), WindowS: 60,
		})
		if r.State != state || math.Abs(r.GrowthZ-z) > tolerance {
			t.Errorf("%v/s: %s with z %.3f, want %s with %v", lambda, r.State, r.GrowthZ, state, z)
		}
		if (r.State == stability.Inconclusive) != (r.NeedS > 0) || r.Reason == "" {
			t.Errorf("%v/s: needs %v s, %q", lambda, r.NeedS, r.Reason)
		}
		if lambda == 8 && r.NeedS < 600 {
			t.Errorf("8/s would be decided in %v s", r.NeedS)
		}
	}
	check(0.5, 0.99, 0.57, 0, stability.Inconclusive, -0.1, 0.02)
	check(1, 1.78, 1.96, 0.3, stability.Inconclusive, 0.03, 0.01)
	check(2, 4.49, 4.61, 1.2, stability.Inconclusive, 0.01, 0.01)
	check(4, 7.32, 8.93, 1.8, stability.Inconclusive, 0.13, 0.01)
	check(8, 30.2, 41.0, 2.8, stability.Inconclusive, 0.6, 0.05)
	check(12, 94.2, 234.7, 15.6, stability.Unstable, 7, 0.5)
}

func TestHalvesNeverStable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		positive := rapid.Float64Range(0, 1e4)
		r := stability.FromHalves(stability.Halves{
			First: positive.Draw(t, "m1"), Second: positive.Draw(t, "m2"), Offered: positive.Draw(t, "lambda"),
			Ended: positive.Draw(t, "x"), WindowS: positive.Draw(t, "T"),
			IA: rapid.Float64Range(0, 5).Draw(t, "ia"), ID: rapid.Float64Range(0, 5).Draw(t, "id"),
		})
		if r.State == stability.Stable || math.IsNaN(r.GrowthZ) || math.IsInf(r.NeedS, 0) {
			t.Fatalf("%+v", r)
		}
	})
}

// path is a simulated step as sorted arrivals and departures.
func path(t *testing.T, rho, seconds float64) (arrivals, departures []int64, to int64) {
	t.Helper()
	requests := sim.Grid()[1].Run(100, rho, seconds, rand.New(rand.NewPCG(4, 4)))
	arrivals, departures = sim.Paths(requests)
	return arrivals, departures, int64(seconds * 1e9)
}

func judge(a, d []int64, from, to int64, rate stability.Rate) stability.Result {
	w := stability.FromPath(a, d, from, to)
	return stability.Judge(&w, rate)
}

func TestPlainCases(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rho   float64
		state stability.State
		words string
	}{
		{0.5, stability.Stable, "above the 100/s offered"},
		{1.25, stability.Unstable, "in flight grew from"},
		{1, stability.Inconclusive, "would decide"},
	} {
		a, d, to := path(t, c.rho, 60)
		r := judge(a, d, stability.Cut(0, to, 0), to, stability.Rate{PerS: 100, Known: true})
		if r.State != c.state || !strings.Contains(r.Reason, c.words) {
			t.Errorf("rho %v: %s, %q", c.rho, r.State, r.Reason)
		}
		if r.Arrivals == 0 || r.Mean <= 0 || math.Abs(r.WindowS-54) > 1e-6 {
			t.Errorf("rho %v: %+v", c.rho, r.Evidence)
		}
	}
}

func TestCountedRate(t *testing.T) {
	t.Parallel()
	a, d, to := path(t, 0.95, 120)
	known := judge(a, d, to/10, to, stability.Rate{PerS: 100, Known: true})
	counted := judge(a, d, to/10, to, stability.Rate{PerS: 5, Known: false})
	if math.Abs(counted.Offered-100) > 5 || counted.Dispersion <= known.Dispersion ||
		!slices.Contains(counted.Warnings, stability.WarnRateCounted) {
		t.Errorf("counted %+v, known %+v", counted, known)
	}
}

// TestDegenerate gives windows that hold nothing, or nonsense.
func TestDegenerate(t *testing.T) {
	t.Parallel()
	rate := stability.Rate{PerS: 100, Known: true}
	finite := func(name string, r stability.Result, state stability.State) {
		t.Helper()
		for _, v := range []float64{r.Z, r.ZAll, r.ZPlateau, r.ZLate, r.GrowthZ, r.NeedS, r.Dispersion, r.Utilisation.Value, r.Utilisation.Hi} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s: %+v", name, r)
				break
			}
		}
		if r.State != state || r.Reason == "" {
			t.Errorf("%s: %s, want %s (%q)", name, r.State, state, r.Reason)
		}
	}
	finite("nothing", judge(nil, nil, 0, 60e9, rate), stability.Inconclusive)
	finite("no window", stability.Judge(&stability.Window{}, rate), stability.Inconclusive)
	finite("no rate", judge(nil, nil, 0, 60e9, stability.Rate{}), stability.Inconclusive)

	var many []int64
	for i := range int64(6000) {
		many = append(many, i*10e6)
	}
	finite("a dead server", judge(many, nil, 0, 60e9, rate), stability.Unstable)
	finite("answers at once", judge(many, many, 0, 60e9, rate), stability.Inconclusive)
	var soon []int64
	for _, at := range many {
		soon = append(soon, at+1e6)
	}
	finite("a fast server", judge(many, soon, 0, 60e9, rate), stability.Stable)

	few := judge(many[:20], soon[:20], 0, 60e9, rate)
	finite("twenty arrivals", few, stability.Inconclusive)
	if !slices.Contains(few.Warnings, stability.WarnFewArrivals) || few.NeedS < 90 {
		t.Errorf("twenty arrivals: %+v", few)
	}

	broken := stability.FromPath(many, soon, 0, 60e9)
	broken.Spans[3].Occupancy.Add(0, 0, 5)
	if r := stability.Judge(&broken, rate); !slices.Contains(r.Warnings, stability.WarnPath) {
		t.Errorf("departures from an empty system go unnoticed: %+v", r.Warnings)
	}
}

// TestShiftInvariance: only differences of times matter.
func TestShiftInvariance(t *testing.T) {
	t.Parallel()
	a, d, to := path(t, 0.97, 60)
	rate := stability.Rate{PerS: 100, Known: true}
	want := judge(a, d, 0, to, rate)
	rapid.Check(t, func(t *rapid.T) {
		by := rapid.Int64Range(-1e15, 2e18).Draw(t, "shift")
		move := func(in []int64) []int64 {
			out := slices.Clone(in)
			for i := range out {
				out[i] += by
			}
			return out
		}
		got := judge(move(a), move(d), by, to+by, rate)
		if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(stability.Evidence{})); d != "" {
			t.Fatalf("shifted by %d:\n%s", by, d)
		}
	})
}

// TestScaleEquivariance: a run that is k times slower has the same verdict, and
// rates and times scale.
func TestScaleEquivariance(t *testing.T) {
	t.Parallel()
	for _, rho := range []float64{0.7, 0.98, 1.2} {
		a, d, to := path(t, rho, 60)
		one := judge(a, d, 0, to, stability.Rate{PerS: 100, Known: true})
		const k = 8
		slow := func(in []int64) []int64 {
			out := slices.Clone(in)
			for i := range out {
				out[i] *= k
			}
			return out
		}
		got := judge(slow(a), slow(d), 0, to*k, stability.Rate{PerS: 100.0 / k, Known: true})
		same := func(name string, a, b float64) {
			t.Helper()
			if math.Abs(a-b) > 1e-6*max(1, math.Abs(a)) {
				t.Errorf("rho %v: %s %v, then %v", rho, name, a, b)
			}
		}
		same("Z", one.Z, got.Z)
		same("late Z", one.ZLate, got.ZLate)
		same("growth", one.GrowthZ, got.GrowthZ)
		same("mean", one.Mean, got.Mean)
		same("capacity", one.Capacity.Value, got.Capacity.Value*k)
		same("need", one.NeedS*k, got.NeedS)
		if got.State != one.State {
			t.Errorf("rho %v: %s, then %s", rho, one.State, got.State)
		}
	}
}

// TestLateLeak: a server that loses capacity in the last half is unstable though
// the whole window looks carried. The rule is one of the last half alone, so a
// change far into it is seen only some of the time.
func TestLateLeak(t *testing.T) {
	t.Parallel()
	found := 0
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 77))
		arrivals := sim.Schedule([]sim.Step{{RatePerS: 100, DurationS: 120}}, sim.Poisson(), rng)
		var a, d []int64
		free := 0.0
		for _, at := range arrivals {
			mean := 1.0 / 180
			if at > 70 {
				mean = 1.0 / 70
			}
			free = max(free, at) + mean*rng.ExpFloat64()
			a, d = append(a, int64(at*1e9)), append(d, int64(free*1e9))
		}
		r := judge(a, d, 12e9, 120e9, stability.Rate{PerS: 100, Known: true})
		if r.State == stability.Unstable {
			found++
			if r.Z > -1.3 && !strings.Contains(r.Reason, "last half") {
				t.Errorf("z %v: %q", r.Z, r.Reason)
			}
		}
	}
	if found < 9 {
		t.Errorf("%d of 10 leaks found", found)
	}
}

func BenchmarkJudge(b *testing.B) {
	requests := sim.Grid()[0].Run(100, 1.1, 60, rand.New(rand.NewPCG(4, 4)))
	a, d := sim.Paths(requests)
	w := stability.FromPath(a, d, 6e9, 60e9)
	b.ReportAllocs()
	for b.Loop() {
		stability.Judge(&w, stability.Rate{PerS: 100, Known: true})
	}
}
