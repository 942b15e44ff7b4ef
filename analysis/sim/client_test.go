package sim_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/sim"
)

func run(cfg sim.Config) []sim.Request { return sim.Run(cfg, rand.New(rand.NewPCG(9, 9))) }

// constant is a steady schedule against one server that takes 10 ms each.
func constant(rate, seconds float64) sim.Config {
	return sim.Config{
		Steps: []sim.Step{{RatePerS: rate, DurationS: seconds}}, Arrivals: sim.Constant(),
		Server: sim.Queue(sim.Fixed(), 1)(100),
	}
}

func TestTimeoutLeavesWorkBehind(t *testing.T) {
	t.Parallel()
	cfg := constant(200, 60)
	cfg.Client.TimeoutS = 2
	var ok, late int
	for _, q := range run(cfg) {
		if q.Done-q.Intended > 2e9 {
			t.Fatalf("a client waited %d ns", q.Done-q.Intended)
		}
		if q.Outcome == sample.OK {
			ok++
			if q.Intended > 10e9 {
				late++
			}
		}
	}
	// Twice the capacity, first come first served: whoever is served after the
	// first seconds has left, though the server never idles.
	if ok < 300 || late != 0 {
		t.Errorf("%d answered, %d of them after 10 s", ok, late)
	}
}

func TestWorkerCap(t *testing.T) {
	t.Parallel()
	cfg := constant(200, 20)
	cfg.Client.Workers = 10
	var sentLate int
	requests := run(cfg)
	for _, q := range requests {
		if q.Sent > q.Intended+5e6 {
			sentLate++
		}
		if got := q.Done - q.Sent; got > 101e6 {
			t.Fatalf("%d ns of service behind nine others", got)
		}
	}
	if sentLate < 3*len(requests)/4 {
		t.Errorf("%d of %d sent late", sentLate, len(requests))
	}
	cfg.Client.Drop = true
	dropped := 0
	requests = run(cfg)
	for _, q := range requests {
		if q.Dropped {
			dropped++
		} else if q.Sent != q.Intended {
			t.Fatal("a request that was not dropped is late")
		}
	}
	if math.Abs(float64(dropped)/float64(len(requests))-0.5) > 0.02 {
		t.Errorf("%d of %d dropped", dropped, len(requests))
	}
}

func TestRoomSheds(t *testing.T) {
	t.Parallel()
	cfg := constant(150, 20)
	cfg.Server.Room = 20
	shed := 0
	requests := run(cfg)
	for _, q := range requests {
		if q.Outcome == sample.Shed {
			shed++
		} else if q.Done-q.Sent > 201e6 {
			t.Fatalf("%d ns behind 19 others", q.Done-q.Sent)
		}
	}
	if math.Abs(float64(shed)/float64(len(requests))-1.0/3) > 0.03 {
		t.Errorf("%d of %d shed", shed, len(requests))
	}
}

// TestClosedLoop checks N = X·(R + Z) and that no user overlaps himself.
func TestClosedLoop(t *testing.T) {
	t.Parallel()
	requests := run(sim.Config{
		Steps:  []sim.Step{{DurationS: 200}},
		Server: sim.Queue(sim.Exponential(), 1)(100),
		Client: sim.Client{Users: 50, Think: sim.Exponential(), ThinkS: 0.3},
	})
	last := map[int]int64{}
	var sum float64
	for _, q := range requests {
		if q.Sent < last[q.User] {
			t.Fatalf("user %d sends while waiting", q.User)
		}
		last[q.User] = q.Done
		sum += float64(q.Done-q.Sent) / 1e9
	}
	x, r := float64(len(requests))/200, sum/float64(len(requests))
	if n := x * (r + 0.3); math.Abs(n-50) > 1.5 {
		t.Errorf("X·(R + Z) is %v for 50 users", n)
	}
}

func TestStop(t *testing.T) {
	t.Parallel()
	cfg := constant(50, 30)
	cfg.Server.StopAtS, cfg.Server.StopS = 12, 2
	held := 0
	for _, q := range run(cfg) {
		if at := float64(q.Done) / 1e9; at > 12.011 && at < 13.999 {
			t.Fatalf("ended at %v, within the stop", at)
		}
		if q.Done-q.Intended > 1e9 {
			held++
		}
	}
	if held < 50 {
		t.Errorf("the stop held up %d requests for a second", held)
	}
}

func TestStalls(t *testing.T) {
	t.Parallel()
	cfg := constant(50, 30)
	cfg.Server.StallEveryS, cfg.Server.StallS = 5, 1
	for _, q := range run(cfg) {
		if at := math.Mod(float64(q.Done)/1e9, 5); at > 4.001 && at < 4.999 {
			t.Fatalf("ended at %v of a period, within a stall", at)
		}
	}
}

func TestPathsSkipDropped(t *testing.T) {
	t.Parallel()
	a, d := sim.Paths([]sim.Request{{Intended: 5, Done: 9}, {Intended: 6, Dropped: true}, {Intended: 1, Done: 30}})
	if len(a) != 2 || len(d) != 2 || a[0] != 1 || d[0] != 9 {
		t.Errorf("paths %v %v", a, d)
	}
}

// TestCapacityIsTrue overloads every system: once it is full, a station works at
// its capacity. Where work is shared over unfinished requests, the count of those
// that end can be far below or, when most are short, above it.
func TestCapacityIsTrue(t *testing.T) {
	t.Parallel()
	for _, s := range append(sim.Grid(), sim.HeldOut()...) {
		n := 0
		for _, q := range s.Run(200, 2, 100, rand.New(rand.NewPCG(1, 2))) {
			if q.Done >= 50e9 && q.Done < 100e9 {
				n++
			}
		}
		least, most := 85.0, 125.0
		if s.Name == "M/M/1-PS" || s.Name == "PS cv 2" || !s.Sharp {
			least, most = 55, 180
		}
		if got := float64(n) / 50; got > most || got < least {
			t.Errorf("%s completes %v/s at a capacity of 100/s", s.Name, got)
		}
	}
}
