package sim

import "math/rand/v2"

// System is a named kind of arrivals and service, for grids of tests.
type System struct {
	Name     string
	Sharp    bool // its speed does not depend on how many it holds, beyond its servers
	Arrivals Arrivals
	server   func(capacity float64) Server
}

// NewSystem names arrivals and a kind of station, made for a true capacity.
func NewSystem(name string, sharp bool, arrivals Arrivals, station func(capacity float64) Server) System {
	return System{name, sharp, arrivals, station}
}

// Server returns the station with the given true capacity, in requests per second.
func (s System) Server(capacity float64) Server { return s.server(capacity) }

// Run simulates one step at lambda from an empty station that is rho loaded.
func (s System) Run(lambda, rho, durationS float64, rng *rand.Rand) []Request {
	return Run(Config{
		Steps:    []Step{{RatePerS: lambda, DurationS: durationS}},
		Arrivals: s.Arrivals,
		Server:   s.Server(lambda / rho),
	}, rng)
}

// Queue is the server of a system: c servers first come first served.
func Queue(law Law, c int) func(capacity float64) Server {
	return func(capacity float64) Server {
		return Server{Service: law, MeanS: float64(c) / capacity, Servers: c}
	}
}

// Sharing is the server of a system that shares speed, whose limit is top.
func Sharing(law Law, speed func(int) float64, top float64) func(capacity float64) Server {
	return func(capacity float64) Server {
		return Server{Service: law, MeanS: top / capacity, Speed: speed}
	}
}

// Grid returns the eight systems on which the stability procedure was tuned.
func Grid() []System {
	return []System{
		{"M/M/1", true, Poisson(), Queue(Exponential(), 1)},
		{"M/M/16", true, Poisson(), Queue(Exponential(), 16)},
		{"M/D/8", true, Poisson(), Queue(Fixed(), 8)},
		{"D/M/8", true, Constant(), Queue(Exponential(), 8)},
		{"lognormal cv 2 on 8", true, Poisson(), Queue(Lognormal(2), 8)},
		{"Pareto 2.2 on 8", true, Poisson(), Queue(Pareto(2.2), 8)},
		{"M/M/1-PS", true, Poisson(), Sharing(Exponential(), One, 1)},
		{"LLM-like 0.05", false, Poisson(), Sharing(Lognormal(1), Batching(0.05), 20)},
	}
}

// HeldOut returns systems that were not used to set any constant.
func HeldOut() []System {
	return []System{
		{"hyperexponential cv 1.5", true, Poisson(), Queue(Hyperexponential(1.5), 4)},
		{"hyperexponential cv 3", true, Poisson(), Queue(Hyperexponential(3), 8)},
		{"Erlang-4 on 32", true, Poisson(), Queue(Erlang(4), 32)},
		{"uniform on 2", true, Poisson(), Queue(Uniform(), 2)},
		{"M/M/64", true, Poisson(), Queue(Exponential(), 64)},
		{"PS cv 2", true, Poisson(), Sharing(Lognormal(2), One, 1)},
		{"batches of 5", true, Batches(5), Queue(Exponential(), 8)},
		{"jittered", true, Jittered(1), Queue(Exponential(), 8)},
		{"LLM-like 0.02", false, Poisson(), Sharing(Lognormal(1), Batching(0.02), 50)},
	}
}

// Uneven returns systems whose arrivals come in bursts or whose server stalls at
// regular times. Their capacity counts the time lost.
func Uneven() []System {
	return []System{
		{"MMPP 3x on 4", true, Bursts(3, 1, 4), Queue(Exponential(), 4)},
		{"stalls 0.2 s in 5 s on 8", true, Poisson(), func(capacity float64) Server {
			s := Queue(Exponential(), 8)(capacity / (1 - 0.2/5))
			s.StallEveryS, s.StallS = 5, 0.2
			return s
		}},
	}
}
