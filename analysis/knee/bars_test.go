package knee_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/knee"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/sim"
	"github.com/plimsoll/plimsoll/analysis/stability"
	"github.com/plimsoll/plimsoll/internal/bars"
)

// The bars are what the reading of a sweep promises. The short form runs always,
// with few sweeps and room for their noise; the full form is
//
//	go test ./analysis/knee -run Bars -bars -v
var fullBars = flag.Bool("bars", false, "measure the bars of the sweep procedure in full")

// station is a kind of service with a true capacity.
type station struct {
	name     string
	system   sim.System
	room     float64 // seconds of work that it holds before it sheds; 0: no limit
	timeoutS float64
	shape    knee.Shape
}

// queues, shedding, collapse and gradual are the four kinds of the study.
func queues() []station {
	var out []station
	for _, s := range sim.Grid() {
		if s.Sharp && s.Name != uneven {
			out = append(out, station{name: s.Name, system: s, shape: knee.Saturation})
		}
	}
	return out
}

// uneven is the law of the grid whose departures have four times the variance of
// their mean, which doubles every error: it is measured on its own.
const uneven = "lognormal cv 2 on 8"

func unevenOnly() []station {
	all := sim.Grid()
	i := slices.IndexFunc(all, func(s sim.System) bool { return s.Name == uneven })
	return []station{{name: uneven, system: all[i], shape: knee.Saturation}}
}

func shedding() []station {
	out := queues()
	for i := range out {
		out[i].name += ", shedding"
		out[i].room = 0.5
	}
	return out
}

func collapse() []station {
	out := queues()[:4]
	for i := range out {
		out[i].name += ", clients leave"
		out[i].timeoutS, out[i].shape = 2, knee.Collapse
	}
	return out
}

func gradual() []station {
	var out []station
	for _, a := range []float64{0.02, 0.05, 0.1} {
		s := sim.NewSystem("gradual", false, sim.Poisson(), sim.Sharing(sim.Lognormal(1), sim.Batching(a), 1/a))
		out = append(out, station{name: "gradual", system: s, shape: knee.Saturation})
	}
	return out
}

// level runs one level from an empty station and reads it as a run would be read:
// counts after the warm-up, the cohort over the whole of it, stability by its path.
func (s *station) level(lambda, capacity, seconds float64, rng *rand.Rand) knee.Level {
	server := s.system.Server(capacity)
	if s.room > 0 {
		server.Room = int(s.room*capacity) + server.Servers
	}
	requests := sim.Run(sim.Config{
		Steps: []sim.Step{{RatePerS: lambda, DurationS: seconds}}, Arrivals: s.system.Arrivals,
		Server: server, Client: sim.Client{TimeoutS: s.timeoutS},
	}, rng)
	to := int64(seconds * 1e9)
	from := stability.Cut(0, to, 0)
	l := knee.Level{Offered: lambda, Seconds: float64(to-from) / 1e9, CohortS: seconds, Due: int64(len(requests)), Meets: true}
	ended := 0
	for _, q := range requests {
		if q.Outcome == sample.OK {
			l.OK++
			if q.Done >= from && q.Done < to {
				ended++
			}
		}
	}
	l.Completed = float64(ended) / l.Seconds
	arrivals, departures := sim.Paths(requests)
	drain := drained(arrivals, departures, lambda*server.MeanS, to)
	l.DrainS = &drain
	w := stability.FromPath(arrivals, departures, from, to)
	r := stability.Judge(&w, stability.Rate{PerS: lambda, Known: true})
	l.Stability, l.Dispersion = r.State, r.DispersionOut
	return l
}

// drained is the time from the end of the level until in flight is at its floor:
// twice what an unloaded station would hold, and one.
func drained(arrivals, departures []int64, unloaded float64, to int64) float64 {
	at := to
	done, _ := slices.BinarySearch(departures, to)
	for n := len(arrivals) - done; float64(n) > 1+2*unloaded && done < len(departures); n-- {
		at = departures[done]
		done++
	}
	return float64(at-to) / 1e9
}

// reading is one sweep and the truth behind it.
type reading struct {
	knee.Result
	capacity float64
	levels   []knee.Level
}

// read sweeps from 50/s to 150/s over a capacity drawn from 90 to 110/s.
func (s *station) read(step, length float64, seed uint64) reading {
	rng := rand.New(rand.NewPCG(seed, uint64(step*1000)<<20^uint64(length)))
	out := reading{capacity: 90 + 20*rng.Float64()}
	for lambda := 50.0; lambda < 150+50*step; lambda += 100 * step {
		out.levels = append(out.levels, s.level(lambda, out.capacity, length, rng))
	}
	out.Result = knee.Judge(out.levels, knee.Options{})
	return out
}

// errors90 sweeps many times: the 90th percentile of |error| of capacity in
// percent, the share of right shapes and of intervals that hold the truth.
func errors90(t *testing.T, kind []station, step, length float64, reps int) (p90, shapes, held float64) {
	t.Helper()
	var errs []float64
	for i := range kind {
		for k := range reps {
			r := kind[i].read(step, length, uint64(1000*i+k))
			if r.Capacity == nil {
				errs = append(errs, 100)
				continue
			}
			errs = append(errs, 100*math.Abs(r.Capacity.Value/r.capacity-1))
			if r.Shape == kind[i].shape {
				shapes++
			}
			if r.Capacity.Lo <= r.capacity && r.capacity <= r.Capacity.Hi {
				held++
			}
		}
	}
	n := float64(len(errs))
	slices.Sort(errs)
	return errs[int(0.9*n)], 100 * shapes / n, 100 * held / n
}

// TestBarsCapacity is bars 11 and 12.
func TestBarsCapacity(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		kind  []station
		limit float64 // percent at p90
		reps  int
	}{
		{"queue", queues(), 2, 40},
		{"shedding", shedding(), 2, 40},
		{"timeout collapse", collapse(), 8, 60},
		{"gradual", gradual(), 6, 60},
		{"cv 2 (no bar: limit 2·√φ + 1)", unevenOnly(), 5, 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			reps, slack, wrong := 2, 1.5, 8.0
			if *fullBars {
				reps, slack, wrong = c.reps, 0, 0
			}
			p90, shapes, held := errors90(t, c.kind, 0.1, 30, reps)
			t.Logf("%s: interval holds %.0f %%", c.name, held)
			of := fmt.Sprintf("%d sweeps of 30 s a level", reps*len(c.kind))
			bars.Bar{Number: "11", Text: "capacity, " + c.name + ": error at p90", Of: of, Slack: c.limit * slack}.AtMost(t, p90, c.limit)
			bars.Bar{Number: "12", Text: "collapse or saturation, " + c.name + ": right", Of: of, Slack: wrong}.AtLeast(t, shapes, 98)
			if !*fullBars {
				return
			}
			for _, o := range [][2]float64{{0.05, 30}, {0.1, 10}, {0.1, 60}, {0.25, 30}, {0.25, 10}} {
				p90, shapes, held := errors90(t, c.kind, o[0], o[1], max(1, reps/4))
				t.Logf("        %s, %v %% x %v s: %.2f %%, shape right %.1f %%, interval holds %.0f %%", c.name, 100*o[0], o[1], p90, shapes, held)
			}
		})
	}
}

// promotions counts the levels at most limit of capacity that end up stable, alone
// and with the rest of the sweep, and the levels past capacity that the rule raised.
func promotions(kind []station, length, limit float64, reps int) (alone, with, wrong float64) {
	n, past := 0.0, 0.0
	for i := range kind {
		for k := range reps {
			r := kind[i].read(0.1, length, uint64(1000*i+k)+500_000)
			for _, l := range r.levels {
				at := slices.IndexFunc(r.Levels, func(s knee.Standing) bool { return s.Offered == l.Offered })
				if l.Offered > r.capacity {
					past++
					if r.Levels[at].Stable && l.Stability != stability.Stable {
						wrong++
					}
				}
				if l.Offered > limit*r.capacity {
					continue
				}
				n++
				if l.Stability == stability.Stable {
					alone++
				}
				if r.Levels[at].Stable {
					with++
				}
			}
		}
	}
	return 100 * alone / n, 100 * with / n, 100 * wrong / past
}

func sharp() []station { return append(queues(), unevenOnly()...) }

// TestBarsSweepRule is bar 10.
func TestBarsSweepRule(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		kind          []station
		length, limit float64
		want          float64
		reps          int
	}{
		{"sharp 60 s", sharp(), 60, 0.95, 95, 30}, {"sharp 20 s", sharp(), 20, 0.95, 75, 30}, {"gradual 60 s", gradual(), 60, 0.9, 95, 40},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			reps, slack := 1, 8.0
			if *fullBars {
				reps, slack = c.reps, 0
			}
			alone, with, wrong := promotions(c.kind, c.length, c.limit, reps)
			of := fmt.Sprintf("%d sweeps, %.1f %% without the rest of the sweep", reps*len(c.kind), alone)
			bar := bars.Bar{Number: "10", Text: fmt.Sprintf("%s, levels up to %v of capacity: stable", c.name, c.limit), Of: of, Slack: slack}
			bar.AtLeast(t, with, c.want)
			bar.Text, bar.Slack = c.name+", levels past capacity that the sweep calls stable", 0
			bar.AtMost(t, wrong, 0.5)
		})
	}
}
