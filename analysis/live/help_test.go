package live_test

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/live"
	"github.com/plimsoll/plimsoll/analysis/sim"
)

// laws are the systems that the procedure was measured on.
func laws() []sim.System {
	var s []sim.System
	for _, g := range sim.Grid() {
		if g.Name != "D/M/8" && g.Name != "Pareto 2.2 on 8" {
			s = append(s, g)
		}
	}
	return append(s, sim.Uneven()...)
}

// row is a request as its generator reports it.
type row struct {
	due, done int64
	gone      bool
}

func (r row) end(w *live.Watch) {
	if r.gone {
		w.Gone(r.due, r.done)
		return
	}
	w.Ended(r.due, r.done)
}

// timeout makes clients leave after s seconds; the server works on.
func timeout(rows []row, s float64) {
	for i := range rows {
		if limit := rows[i].due + int64(s*1e9); rows[i].done > limit {
			rows[i].done, rows[i].gone = limit, true
		}
	}
}

// stretch is a part of a run: load rho at an offered rate.
type stretch struct{ lambda, rho, seconds float64 }

// simulate runs stretches of one system. Lost capacity is simulated on the
// clock of the server, on which more load comes, and the clock of the run is had
// by stretching it: the same sequence of work, served more slowly.
func simulate(s sim.System, parts []stretch, rng *rand.Rand) []row {
	capacity := parts[0].lambda / parts[0].rho
	cfg := sim.Config{Server: s.Server(capacity), Arrivals: s.Arrivals}
	scale := make([]float64, len(parts))
	for i, p := range parts {
		scale[i] = capacity / (p.lambda / p.rho)
		cfg.Steps = append(cfg.Steps, sim.Step{RatePerS: p.lambda * scale[i], DurationS: p.seconds / scale[i]})
	}
	if s.Name == "MMPP 3x on 4" {
		cfg.Arrivals = burstsOf(cfg.Steps, scale)
	}
	clock := func(at int64) int64 {
		server, run := 0.0, 0.0
		for i, p := range parts {
			length := p.seconds / scale[i]
			if t := float64(at)/1e9 - server; t < length || i == len(parts)-1 {
				return int64((run + t*scale[i]) * 1e9)
			}
			server, run = server+length, run+p.seconds
		}
		return at
	}
	var rows []row
	for _, q := range sim.Run(cfg, rng) {
		rows = append(rows, row{due: clock(q.Intended), done: clock(q.Done)})
	}
	return rows
}

// burstsOf keeps bursts of 1 s every 5 s on the clock of the run.
func burstsOf(steps []sim.Step, scale []float64) sim.Arrivals {
	return func(rng *rand.Rand) func(float64) float64 {
		gaps := map[float64]func(float64) float64{}
		for i, s := range steps {
			gaps[s.RatePerS] = sim.Bursts(3, 1/scale[i], 4/scale[i])(rng)
		}
		return func(rate float64) float64 { return gaps[rate](rate) }
	}
}

// rates is the schedule of stretches.
func rates(parts []stretch) func(int64) float64 {
	return func(at int64) float64 {
		end := 0.0
		for _, p := range parts {
			if end += p.seconds; float64(at) < end*1e9 {
				return p.lambda
			}
		}
		return 0
	}
}

// follow feeds rows second by second, as a generator that exports every second
// would, until stop says so or the time is over.
func follow(w *live.Watch, rows []row, seconds int64, stop func(live.Event) bool) []live.Event {
	ended := slices.Clone(rows)
	slices.SortFunc(ended, func(a, b row) int { return cmp.Compare(a.done, b.done) })
	due := slices.Clone(rows)
	slices.SortFunc(due, func(a, b row) int { return cmp.Compare(a.due, b.due) })
	var events []live.Event
	d, e := 0, 0
	for t := int64(1); t <= seconds; t++ {
		for ; d < len(due) && due[d].due < t*1e9; d++ {
			w.Due(due[d].due, 1)
		}
		for ; e < len(ended) && ended[e].done < t*1e9; e++ {
			ended[e].end(w)
		}
		for _, v := range w.Advance(t * 1e9) {
			events = append(events, v)
			if stop != nil && stop(v) {
				return events
			}
		}
	}
	return events
}

func raised(e live.Event) bool { return e.Kind == live.Raise }

func only(events []live.Event, kind live.EventKind) []live.Event {
	var out []live.Event
	for _, e := range events {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

// config returns a watch of one kind over stretches.
func config(kind live.Kind, parts []stretch) live.Config {
	cfg := live.Config{Kind: kind}
	if kind == live.Scheduled {
		cfg.Rate = rates(parts)
	}
	return cfg
}

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 20261130)) }
