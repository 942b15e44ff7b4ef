package sim

import (
	"math"
	"math/rand/v2"
)

// Law draws positive numbers with mean 1.
type Law func(rng *rand.Rand) float64

// Exponential is the law of memoryless service, cv 1.
func Exponential() Law { return func(rng *rand.Rand) float64 { return rng.ExpFloat64() } }

// Fixed always draws 1.
func Fixed() Law { return func(*rand.Rand) float64 { return 1 } }

// Uniform draws from 0 to 2.
func Uniform() Law { return func(rng *rand.Rand) float64 { return 2 * rng.Float64() } }

// Lognormal has the given coefficient of variation.
func Lognormal(cv float64) Law {
	s2 := math.Log1p(cv * cv)
	s := math.Sqrt(s2)
	return func(rng *rand.Rand) float64 { return math.Exp(s*rng.NormFloat64() - s2/2) }
}

// Pareto has the given tail index, above 1.
func Pareto(alpha float64) Law {
	least := (alpha - 1) / alpha
	return func(rng *rand.Rand) float64 { return least * math.Pow(1-rng.Float64(), -1/alpha) }
}

// Erlang is the mean of k exponentials, cv 1/√k.
func Erlang(k int) Law {
	return func(rng *rand.Rand) float64 {
		var sum float64
		for range k {
			sum += rng.ExpFloat64()
		}
		return sum / float64(k)
	}
}

// Hyperexponential has two phases with balanced means and the given coefficient
// of variation, above 1.
func Hyperexponential(cv float64) Law {
	c2 := cv * cv
	p := (1 + math.Sqrt((c2-1)/(c2+1))) / 2
	return func(rng *rand.Rand) float64 {
		x := rng.ExpFloat64() / 2
		if rng.Float64() < p {
			return x / p
		}
		return x / (1 - p)
	}
}

// Arrivals starts an arrival process. The function that it returns draws the gap
// to the next arrival, in seconds, at the rate that holds now.
type Arrivals func(rng *rand.Rand) func(rate float64) float64

// Renewal draws independent gaps from a law: Fixed is a constant rate,
// Exponential is Poisson.
func Renewal(law Law) Arrivals {
	return func(rng *rand.Rand) func(float64) float64 {
		return func(rate float64) float64 { return law(rng) / rate }
	}
}

// Constant sends at equal gaps.
func Constant() Arrivals { return Renewal(Fixed()) }

// Poisson sends at random.
func Poisson() Arrivals { return Renewal(Exponential()) }

// Jittered sends on a grid of equal gaps, each arrival moved by up to half the
// given share of a gap either way.
func Jittered(share float64) Arrivals {
	return func(rng *rand.Rand) func(float64) float64 {
		last := 0.0
		return func(rate float64) float64 {
			next := share * (rng.Float64() - 0.5)
			gap := (1 + next - last) / rate
			last = next
			return max(gap, 0)
		}
	}
}

// Batches sends size arrivals at once, at random.
func Batches(size int) Arrivals {
	return func(rng *rand.Rand) func(float64) float64 {
		left := 0
		return func(rate float64) float64 {
			if left > 0 {
				left--
				return 0
			}
			left = size - 1
			return rng.ExpFloat64() * float64(size) / rate
		}
	}
}

// Bursts is a Markov-modulated Poisson process: for on seconds (in the mean,
// exponential) it sends at times times the rate, for off seconds at what keeps
// the mean.
func Bursts(times, on, off float64) Arrivals {
	calm := max(0, (on+off-times*on)/off)
	return func(rng *rand.Rand) func(float64) float64 {
		busy := rng.Float64() < on/(on+off)
		left := rng.ExpFloat64() * off
		if busy {
			left = rng.ExpFloat64() * on
		}
		return func(rate float64) float64 {
			waited, need := 0.0, rng.ExpFloat64()
			for {
				speed := rate * calm
				if busy {
					speed = rate * times
				}
				if need <= speed*left {
					left -= need / speed
					return waited + need/speed
				}
				need -= speed * left
				waited += left
				busy = !busy
				left = rng.ExpFloat64() * off
				if busy {
					left = rng.ExpFloat64() * on
				}
			}
		}
	}
}
