package sim_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/sim"
)

func persist(cfg sim.Persistent) sim.Aftermath {
	return sim.RunPersistent(cfg, rand.New(rand.NewPCG(5, 5)))
}

// overload is twice what one server does.
func overload() sim.Persistent {
	return sim.Persistent{
		Steps: []sim.Step{{RatePerS: 200, DurationS: 30}}, Arrivals: sim.Constant(), Server: sim.Queue(sim.Fixed(), 1)(100),
	}
}

func attempts(a sim.Aftermath) (n, most int) {
	for _, x := range a.Exchanges {
		n += len(x.Attempts)
		most = max(most, len(x.Attempts))
	}
	return n, most
}

// TestWithoutRetriesAsRun compares with the simulator that knows no retries.
func TestWithoutRetriesAsRun(t *testing.T) {
	t.Parallel()
	cfg := overload()
	cfg.Retry.TimeoutS = 1
	got := persist(cfg)
	want := sim.Run(sim.Config{Steps: cfg.Steps, Arrivals: cfg.Arrivals, Server: cfg.Server, Client: sim.Client{TimeoutS: 1}}, rand.New(rand.NewPCG(5, 5)))
	if len(got.Exchanges) != len(want) || len(got.Served) != len(want) {
		t.Fatalf("%d requests, %d served, want %d", len(got.Exchanges), len(got.Served), len(want))
	}
	for i := range want {
		if got.Exchanges[i].Request != want[i] {
			t.Fatalf("request %d: %+v, want %+v", i, got.Exchanges[i].Request, want[i])
		}
	}
}

func TestAttemptsBalance(t *testing.T) {
	t.Parallel()
	cfg := overload()
	cfg.Retry = sim.Retry{TimeoutS: 1, Attempts: 3, BackoffS: 0.1}
	a := persist(cfg)
	n, most := attempts(a)
	if most != 3 || n != len(a.Served)+len(a.Refused) {
		t.Errorf("%d attempts (up to %d), %d served, %d refused", n, most, len(a.Served), len(a.Refused))
	}
	good := 0
	for _, x := range a.Exchanges {
		if x.Outcome == sample.OK {
			good++
		}
	}
	if good != len(a.Served)-len(a.Abandoned) {
		t.Errorf("%d good answers, %d served, %d abandoned", good, len(a.Served), len(a.Abandoned))
	}
}

func TestBudgetBoundsRetries(t *testing.T) {
	t.Parallel()
	cfg := overload()
	cfg.Retry = sim.Retry{TimeoutS: 1, Attempts: 3, Budget: 0.1}
	a := persist(cfg)
	n, _ := attempts(a)
	if got := float64(n) / float64(len(a.Exchanges)); math.Abs(got-1.1) > 0.01 {
		t.Errorf("%v attempts per request", got)
	}
}

// TestNewestFirst: with twice the load and a time-out, half of it is served when
// the newest goes first or the stale is discarded, next to nothing in order.
func TestNewestFirst(t *testing.T) {
	t.Parallel()
	share := func(edit func(*sim.Persistent)) float64 {
		cfg := overload()
		cfg.Retry.TimeoutS = 1
		edit(&cfg)
		a := persist(cfg)
		good := 0
		for _, x := range a.Exchanges {
			if x.Outcome == sample.OK {
				good++
			}
		}
		return float64(good) / float64(len(a.Exchanges))
	}
	if got := share(func(*sim.Persistent) {}); got > 0.1 {
		t.Errorf("%v served in order", got)
	}
	if got := share(func(c *sim.Persistent) { c.LastIn = true }); got < 0.45 {
		t.Errorf("%v served newest first", got)
	}
	if got := share(func(c *sim.Persistent) { c.DropAfterS = 0.9 }); got < 0.45 {
		t.Errorf("%v served with the stale discarded", got)
	}
}

func TestRoomRefuses(t *testing.T) {
	t.Parallel()
	cfg := overload()
	cfg.Server.Room = 20
	cfg.Retry = sim.Retry{Attempts: 2, BackoffS: 0.05}
	a := persist(cfg)
	if n, _ := attempts(a); n != len(a.Served)+len(a.Refused) || len(a.Refused) < 3000 || len(a.Abandoned) > 0 {
		t.Errorf("%d attempts, %d served, %d refused, %d abandoned", n, len(a.Served), len(a.Refused), len(a.Abandoned))
	}
}
