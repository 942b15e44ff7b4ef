package counts_test

import (
	"hash/crc32"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/counts"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/sim"
)

// exporter plays a generator that samples its gauge once a second, hands
// samples over once a second and exports every intervalS.
type exporter struct {
	intervalS float64
	limit     int  // workers; 0 for no limit that bites
	racing    bool // exports meet flushes in turn before and after
}

// bounds are the SDK's default bounds, in ms.
func bounds() []float64 {
	return []float64{0, 5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10000}
}

// export returns the batches of a run of the given length, as k6 would send them.
func (x exporter) export(requests []sim.Request, seconds float64, rng *rand.Rand) []*sample.Batch {
	type ending struct{ at, took float64 }
	var (
		ends             []ending
		starts, drops    []float64
		flushAt, gaugeAt = rng.Float64(), rng.Float64()
	)
	for _, q := range requests {
		if q.Dropped {
			drops = append(drops, float64(q.Intended)/1e9)
			continue
		}
		ends = append(ends, ending{float64(q.Done) / 1e9, float64(q.Done-q.Sent) / 1e9})
		starts = append(starts, float64(q.Sent)/1e9)
	}
	slices.SortFunc(ends, func(a, b ending) int { return int(math.Copysign(1, a.at-b.at)) })
	slices.Sort(drops)
	slices.Sort(starts)
	s := sample.Series{Source: "k6", Service: "k6", Scope: "k6"}
	series := func(name, unit string, kind sample.Kind) sample.Series {
		s.Name, s.Unit, s.Kind = name, unit, kind
		return s
	}
	limit := x.limit
	if limit == 0 {
		limit = 1 << 20
	}
	var (
		out       []*sample.Batch
		done, cut int
		sum       float64
		begun     int
		buckets   = make([]uint64, len(bounds())+1)
	)
	for t := x.intervalS; t <= seconds+1e-9; t += x.intervalS {
		seen := math.Floor(t-flushAt) + flushAt // the newest flush
		if x.racing {
			seen = t - float64(rng.IntN(2))*rng.Float64()
			if rng.IntN(2) == 0 {
				seen = t - 1
			}
		}
		for ; done < len(ends) && ends[done].at <= seen; done++ {
			i, _ := slices.BinarySearch(bounds(), ends[done].took*1e3)
			buckets[i]++
			sum += ends[done].took * 1e3
		}
		for ; cut < len(drops) && drops[cut] <= seen; cut++ {
		}
		sampled := math.Floor(seen-gaugeAt) + gaugeAt
		begun, _ = slices.BinarySearch(starts, sampled)
		left, _ := slices.BinarySearchFunc(ends, sampled, func(e ending, at float64) int { return int(math.Copysign(1, e.at-at)) })
		start, at := int64(1e9), int64(1e9)+int64(t*1e9)
		b := &sample.Batch{
			Series: []sample.Series{
				series("iterations", "", sample.Counter), series("dropped_iterations", "", sample.Counter),
				series("iteration_duration", "ms", sample.Histogram), series("vus", "", sample.Gauge), series("vus_max", "", sample.Gauge),
			},
			Points: []sample.Point{
				{Series: 0, Start: start, Time: at, Value: float64(done)},
				{Series: 2, Start: start, Time: at, Value: sum, Histogram: &sample.Distribution{
					Count: uint64(done), Min: math.NaN(), Max: math.NaN(), Bounds: bounds(), Buckets: slices.Clone(buckets),
				}},
				{Series: 3, Start: start, Time: at, Value: float64(begun - left)},
				{Series: 4, Start: start, Time: at, Value: float64(limit)},
			},
		}
		if cut > 0 {
			b.Points = append(b.Points, sample.Point{Series: 1, Start: start, Time: at, Value: float64(cut)})
		}
		out = append(out, b)
	}
	return out
}

// law is a kind of server, with its own concurrency and unloaded duration.
type law struct {
	name    string
	sharp   bool
	own     int // requests that it works on at once
	server  func(capacity float64) sim.Server
	aloneOf float64 // duration of one request alone, times capacity
}

// laws are the seven that the bars are published for.
func laws() []law {
	stalls := func(capacity float64) sim.Server {
		s := sim.Queue(sim.Exponential(), 8)(capacity / (1 - 0.3/5))
		s.StallEveryS, s.StallS = 5, 0.3
		return s
	}
	return []law{
		{"M/M/1", true, 1, sim.Queue(sim.Exponential(), 1), 1},
		{"M/M/16", true, 16, sim.Queue(sim.Exponential(), 16), 16},
		{"M/D/8", true, 8, sim.Queue(sim.Fixed(), 8), 8},
		{"LN8", true, 8, sim.Queue(sim.Lognormal(2), 8), 8},
		{"LLM", false, 40, sim.Sharing(sim.Lognormal(1), sim.Batching(0.05), 20), 20},
		{"PS", true, 1, sim.Sharing(sim.Exponential(), sim.One, 1), 1},
		{"GC", true, 8, stalls, 8},
	}
}

// set is one row of the table of bars.
type set struct {
	name     string
	lambda   float64
	seconds  float64
	exports  exporter
	arrivals sim.Arrivals
	rate     counts.Rate
	room     float64 // seconds of arrivals beyond the server's own concurrency; 0 for no limit
	unloaded bool    // W0 is known
}

// crc keeps the runs of one law apart from those of another.
func crc(name string) uint64 { return uint64(crc32.ChecksumIEEE([]byte(name))) << 20 }

// judge simulates one run and judges it from its exports.
func (s set) judge(l law, rho float64, seed uint64) counts.Result {
	rng := rand.New(rand.NewPCG(seed, math.Float64bits(s.lambda)^math.Float64bits(rho)<<1^crc(l.name)))
	cfg := sim.Config{
		Steps: []sim.Step{{RatePerS: s.lambda, DurationS: s.seconds}}, Arrivals: s.arrivals, Server: l.server(s.lambda / rho),
	}
	x := s.exports
	if s.room > 0 {
		x.limit = l.own + int(math.Ceil(s.room*s.lambda))
		cfg.Client = sim.Client{Workers: x.limit, Drop: true}
	}
	in := counts.Recognise(x.export(sim.Run(cfg, rng), s.seconds, rng)...)[0]
	in.Rate = s.rate
	if s.unloaded {
		in.UnloadedS = l.aloneOf / (s.lambda / rho)
	}
	return counts.Judge(in)
}
