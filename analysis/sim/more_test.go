package sim_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/sim"
)

// TestRoomLosesByErlang checks the share shed by M/M/1/K: ρᴷ(1 − ρ)/(1 − ρᴷ⁺¹).
func TestRoomLosesByErlang(t *testing.T) {
	t.Parallel()
	const rho, room = 1.2, 10
	s := sim.Queue(sim.Exponential(), 1)(100)
	s.Room = room
	shed, n := 0.0, 0.0
	for _, q := range run(sim.Config{Steps: []sim.Step{{RatePerS: 100 * rho, DurationS: 3000}}, Arrivals: sim.Poisson(), Server: s}) {
		n++
		if q.Outcome == sample.Shed {
			shed++
		}
	}
	want := math.Pow(rho, room) * (1 - rho) / (1 - math.Pow(rho, room+1))
	if got := shed / n; math.Abs(got-want) > 0.02*want {
		t.Errorf("%v shed, want %v", got, want)
	}
}

// TestMachineRepairman checks the throughput of a closed population before one
// exponential server with exponential think times.
func TestMachineRepairman(t *testing.T) {
	t.Parallel()
	const users, think, mu = 10, 0.1, 80.0
	p, idle, total := 1.0, 1.0, 1.0
	for n := range users {
		p *= float64(users-n) / think / mu
		total += p
	}
	want := mu * (1 - idle/total)
	q := run(sim.Config{
		Steps: []sim.Step{{DurationS: 2000}}, Server: sim.Queue(sim.Exponential(), 1)(mu),
		Client: sim.Client{Users: users, Think: sim.Exponential(), ThinkS: think},
	})
	if got := float64(len(q)) / 2000; math.Abs(got-want) > 0.01*want {
		t.Errorf("%v/s, want %v", got, want)
	}
}

// TestOneSlot: a sharing station with one slot is a queue.
func TestOneSlot(t *testing.T) {
	t.Parallel()
	s := sim.Sharing(sim.Fixed(), sim.One, 1)(100)
	s.Slots = 1
	got := meanTime(sim.Config{Steps: []sim.Step{{RatePerS: 70, DurationS: 4000}}, Arrivals: sim.Poisson(), Server: s}, 3)
	if want := 0.01 * (1 + 0.7/2/0.3); math.Abs(got-want) > 0.03*want {
		t.Errorf("mean time %v, want %v", got, want)
	}
}

// TestNewestFirstMeanTime: the order of service changes no mean, only the spread.
func TestNewestFirstMeanTime(t *testing.T) {
	t.Parallel()
	var sum float64
	a := sim.RunPersistent(sim.Persistent{
		Steps: []sim.Step{{RatePerS: 70, DurationS: 6000}}, Arrivals: sim.Poisson(), Server: sim.Queue(sim.Exponential(), 1)(100), LastIn: true,
	}, rand.New(rand.NewPCG(4, 4)))
	for _, x := range a.Exchanges {
		sum += float64(x.Done-x.Intended) / 1e9
	}
	if got, want := sum/float64(len(a.Exchanges)), 1/30.0; math.Abs(got-want) > 0.04*want {
		t.Errorf("mean time %v, want %v", got, want)
	}
}

func TestRamp(t *testing.T) {
	t.Parallel()
	for _, a := range []sim.Arrivals{sim.Constant(), sim.Poisson()} {
		at := sim.Schedule([]sim.Step{{RatePerS: 0, ToRate: 200, DurationS: 100}}, a, rand.New(rand.NewPCG(6, 6)))
		half := 0
		for _, v := range at {
			if v < 50 {
				half++
			}
		}
		if n := float64(len(at)); math.Abs(n-10_000) > 300 || math.Abs(float64(half)/n-0.25) > 0.02 {
			t.Errorf("%d arrivals, %d in the first half", len(at), half)
		}
	}
}

func TestFactor(t *testing.T) {
	t.Parallel()
	cfg := constant(10, 100)
	check := func(name string, f func(float64) float64, at, want float64) {
		t.Helper()
		cfg.Server.Factor = f
		q := run(cfg)[int(at*10)-1]
		if got := float64(q.Done-q.Sent) / 1e9; math.Abs(got-want) > 0.01*want {
			t.Errorf("%s: %v s at %v s, want %v", name, got, at, want)
		}
	}
	check("leak", sim.Leak(0.01), 50, 0.015)
	check("warm-up", sim.WarmUp(5, 10), 0.1, 0.05)
	check("warm-up", sim.WarmUp(5, 10), 100, 0.01)
}

// TestEndsOfAttempts: all but the last attempt failed, and none overlaps the next.
func TestEndsOfAttempts(t *testing.T) {
	t.Parallel()
	cfg := overload()
	cfg.Server.Room, cfg.Server.RefuseS = 150, 0.002
	cfg.Retry = sim.Retry{TimeoutS: 1, Attempts: 3, BackoffS: 0.1}
	kinds := map[sample.Outcome]int{}
	for _, x := range persist(cfg).Exchanges {
		if len(x.Ends) != len(x.Attempts) {
			t.Fatalf("%d attempts, %d ends", len(x.Attempts), len(x.Ends))
		}
		for i, e := range x.Ends {
			kinds[e.Outcome]++
			if i+1 < len(x.Ends) && (e.Outcome == sample.OK || x.Attempts[i+1] < e.At) || e.Outcome == sample.Shed && e.At-x.Attempts[i] != 2e6 {
				t.Fatalf("%+v", x)
			}
		}
		if last := x.Ends[len(x.Ends)-1]; last.At != x.Done || last.Outcome != x.Outcome {
			t.Fatalf("%+v", x)
		}
	}
	if kinds[sample.OK] == 0 || kinds[sample.Shed] == 0 || kinds[sample.Timeout] == 0 {
		t.Errorf("%v", kinds)
	}
}
