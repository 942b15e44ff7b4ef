package sim_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/sim"
)

// meanTime runs a configuration and returns the mean time in system of all but
// the first tenth of its requests, in seconds.
func meanTime(cfg sim.Config, seed uint64) float64 {
	requests := sim.Run(cfg, rand.New(rand.NewPCG(seed, 1)))
	requests = requests[len(requests)/10:]
	var sum float64
	for _, q := range requests {
		sum += float64(q.Done-q.Intended) / 1e9
	}
	return sum / float64(len(requests))
}

func TestClosedForms(t *testing.T) {
	t.Parallel()
	const lambda, n = 100.0, 400_000.0
	check := func(name string, s sim.Server, want, tolerance float64) {
		t.Helper()
		got := meanTime(sim.Config{
			Steps: []sim.Step{{RatePerS: lambda, DurationS: n / lambda}}, Arrivals: sim.Poisson(), Server: s,
		}, 42)
		if math.Abs(got-want) > tolerance*want {
			t.Errorf("%s: mean time %v, want %v", name, got, want)
		}
	}
	const rho = 0.7
	const capacity = lambda / rho
	khinchine := func(cv2 float64) float64 { return rho / lambda * (1 + rho*(1+cv2)/2/(1-rho)) }
	check("M/M/1", sim.Queue(sim.Exponential(), 1)(capacity), rho/lambda/(1-rho), 0.03)
	check("M/D/1", sim.Queue(sim.Fixed(), 1)(capacity), khinchine(0), 0.03)
	check("M/E4/1", sim.Queue(sim.Erlang(4), 1)(capacity), khinchine(0.25), 0.03)
	check("M/U/1", sim.Queue(sim.Uniform(), 1)(capacity), khinchine(1.0/3), 0.03)
	check("M/LN/1", sim.Queue(sim.Lognormal(2), 1)(capacity), khinchine(4), 0.08)
	check("M/H2/1", sim.Queue(sim.Hyperexponential(2), 1)(capacity), khinchine(4), 0.08)
	check("M/M/4", sim.Queue(sim.Exponential(), 4)(capacity), mmc(lambda, capacity/4, 4), 0.03)
	check("M/G/inf", sim.Server{Service: sim.Lognormal(1), MeanS: 0.2}, 0.2, 0.01)
	check("M/Pareto/inf", sim.Server{Service: sim.Pareto(2.5), MeanS: 0.2}, 0.2, 0.02)
	// Processor sharing does not see the law, only its mean.
	for _, law := range []sim.Law{sim.Exponential(), sim.Fixed(), sim.Lognormal(1)} {
		check("M/G/1-PS", sim.Sharing(law, sim.One, 1)(capacity), rho/lambda/(1-rho), 0.03)
	}
}

// mmc is the mean time in an M/M/c system (Erlang C).
func mmc(lambda, mu float64, c int) float64 {
	a := lambda / mu
	sum, term := 0.0, 1.0
	for k := range c {
		sum += term
		term *= a / float64(k+1)
	}
	wait := term / (1 - a/float64(c))
	wait /= sum + wait
	return wait/(float64(c)*mu-lambda) + 1/mu
}

// TestSharingSpeed checks the state-dependent station against the birth and
// death chain of Poisson arrivals and speed n/(1 + a(n−1)).
func TestSharingSpeed(t *testing.T) {
	t.Parallel()
	const lambda, capacity, a = 80.0, 100.0, 0.05
	s := sim.Sharing(sim.Exponential(), sim.Batching(a), 1/a)(capacity)
	p, total, mean := 1.0, 1.0, 0.0
	for n := 1; n < 4000; n++ {
		p *= lambda * s.MeanS / s.Speed(n)
		total += p
		mean += float64(n) * p
	}
	want := mean / total / lambda
	got := meanTime(sim.Config{
		Steps: []sim.Step{{RatePerS: lambda, DurationS: 5000}}, Arrivals: sim.Poisson(), Server: s,
	}, 7)
	if math.Abs(got-want) > 0.03*want {
		t.Errorf("mean time %v, want %v", got, want)
	}
}

func TestArrivals(t *testing.T) {
	t.Parallel()
	check := func(name string, a sim.Arrivals, cv, tolerance float64) {
		t.Helper()
		const rate, seconds = 50.0, 8000.0
		at := sim.Schedule([]sim.Step{{RatePerS: rate, DurationS: seconds}}, a, rand.New(rand.NewPCG(3, 3)))
		if got := float64(len(at)) / seconds; math.Abs(got-rate) > 0.04*rate {
			t.Errorf("%s: rate %v", name, got)
		}
		var sum, sq float64
		for i := 1; i < len(at); i++ {
			g := at[i] - at[i-1]
			if g < 0 {
				t.Fatalf("%s: arrivals out of order", name)
			}
			sum += g
			sq += g * g
		}
		k := float64(len(at) - 1)
		mean := sum / k
		if got := math.Sqrt(max(0, sq/k-mean*mean)) / mean; math.Abs(got-cv) > tolerance {
			t.Errorf("%s: gap cv %v, want %v", name, got, cv)
		}
	}
	check("constant", sim.Constant(), 0, 1e-4)
	check("poisson", sim.Poisson(), 1, 0.02)
	check("jittered", sim.Jittered(1), math.Sqrt(1.0/6), 0.02)
	check("batches", sim.Batches(5), 3, 0.1)
	check("bursts", sim.Bursts(3, 1, 4), 1.5, 0.2)
}

func TestScheduleOfSteps(t *testing.T) {
	t.Parallel()
	steps := []sim.Step{{RatePerS: 10, DurationS: 10}, {RatePerS: 0, DurationS: 5}, {RatePerS: 100, DurationS: 10}}
	var n [3]int
	for _, at := range sim.Schedule(steps, sim.Constant(), rand.New(rand.NewPCG(1, 1))) {
		switch {
		case at < 10:
			n[0]++
		case at < 15:
			n[1]++
		default:
			n[2]++
		}
	}
	if n[0] < 99 || n[0] > 100 || n[1] != 0 || n[2] < 998 || n[2] > 1000 {
		t.Errorf("arrivals per step %v", n)
	}
}

func TestSeedRepeats(t *testing.T) {
	t.Parallel()
	a := sim.Grid()[0].Run(100, 0.9, 10, rand.New(rand.NewPCG(5, 5)))
	b := sim.Grid()[0].Run(100, 0.9, 10, rand.New(rand.NewPCG(5, 5)))
	if len(a) != len(b) {
		t.Fatal("lengths differ")
	}
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("request %d differs", i)
		}
	}
	if a[0].Outcome != sample.OK {
		t.Error("an answer is not OK")
	}
}
