package audit_test

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/audit"
	"github.com/plimsoll/plimsoll/analysis/response"
	"github.com/plimsoll/plimsoll/analysis/sim"
	"github.com/plimsoll/plimsoll/internal/bars"
)

// The short form of the bars runs always; the full form is
//
//	go test ./analysis/audit -run Bars -bars -v
var fullBars = flag.Bool("bars", false, "measure the bars of the generator audit in full")

// firstSeed moves to runs on which nothing was set: -bars -seed 1000.
var firstSeed = flag.Int("seed", 0, "first seed of the runs that are simulated for bars")

func reps(short, full int) int {
	if *fullBars {
		return full
	}
	return short
}

// feed hands a run to the accumulators in order of time, completions first.
func feed(requests []sim.Request, end func(at int64), send func(at, due int64)) {
	sends := slices.Clone(requests)
	sends = slices.DeleteFunc(sends, func(q sim.Request) bool { return q.Dropped })
	slices.SortStableFunc(sends, func(a, b sim.Request) int { return cmp.Compare(a.Sent, b.Sent) })
	var ends []int64
	for _, q := range sends {
		ends = append(ends, q.Done)
	}
	slices.Sort(ends)
	j := 0
	for _, q := range sends {
		for j < len(ends) && ends[j] <= q.Sent {
			end(ends[j])
			j++
		}
		send(q.Sent, q.Intended)
	}
}

func loopOf(requests []sim.Request, scheduled bool) audit.LoopResult {
	var l audit.Loop
	feed(requests, l.End, func(at, due int64) {
		if !scheduled {
			due = 0
		}
		l.Send(at, due)
	})
	for _, q := range requests {
		if q.Dropped {
			l.Drop(1)
		}
	}
	return l.Result()
}

// tally counts results by name.
type tally map[string]int

func (t tally) share(name string) float64 {
	n := 0
	for _, v := range t {
		n += v
	}
	return float64(t[name]) / float64(max(1, n))
}

func rng(seed int, salt uint64) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(*firstSeed+seed), salt))
}

// TestBarsClosed measures bar 16, its first half: a closed loop without think
// time or a worker cap is recognised in 100 % of runs from 300 requests on.
func TestBarsClosed(t *testing.T) {
	t.Parallel()
	laws := []sim.Law{sim.Exponential(), sim.Lognormal(2), sim.Uniform(), sim.Pareto(2.2)}
	all := tally{}
	for i := range reps(1, 15) {
		for k, law := range laws {
			for _, servers := range []int{1, 8} {
				for _, users := range []int{1, 4, 16, 64} {
					for _, seconds := range []float64{4, 60} {
						r := loopOf(sim.Run(sim.Config{
							Steps: []sim.Step{{DurationS: seconds}}, Server: sim.Queue(law, servers)(100), Client: sim.Client{Users: users},
						}, rng(i, uint64(k))), false)
						if r.Sends >= 300 {
							all[r.Kind.String()]++
							if r.Kind != audit.ClosedLoop {
								t.Errorf("law %d on %d, %d users, %v s: %+v", k, servers, users, seconds, r)
							}
						}
					}
				}
			}
		}
	}
	t.Logf("closed: %v", all)
	bars.Bar{Number: "16", Text: "closed loops without think time, 300 requests and more: seen", Of: fmt.Sprintf("%v", all)}.
		AtLeast(t, 100*all.share("closed"), 100)
}

// TestBarsCapped is the same for worker caps, with and without a known schedule.
func TestBarsCapped(t *testing.T) {
	t.Parallel()
	known, unknown := tally{}, tally{}
	for i := range reps(1, 15) {
		for _, a := range []sim.Arrivals{sim.Constant(), sim.Poisson()} {
			for _, workers := range []int{5, 50} {
				for _, drop := range []bool{false, true} {
					for _, rho := range []float64{1.25, 2} {
						q := sim.Run(sim.Config{
							Steps: []sim.Step{{RatePerS: 100, DurationS: 20}}, Arrivals: a, Server: sim.Queue(sim.Exponential(), 4)(100 / rho),
							Client: sim.Client{Workers: workers, Drop: drop},
						}, rng(i, 77))
						r := loopOf(q, true)
						known[r.Kind.String()]++
						if r.Kind != audit.CappedLoop {
							t.Errorf("%d workers drop %v rho %v: %+v", workers, drop, rho, r)
						}
						for j := range q {
							if q[j].Dropped {
								q[j].Dropped, q[j].Sent = true, 0
							}
						}
						var l audit.Loop
						feed(q, l.End, func(at, _ int64) { l.Send(at, 0) })
						kind := l.Result().Kind
						unknown[fmt.Sprintf("drop %v %s", drop, kind)]++
					}
				}
			}
		}
	}
	t.Logf("capped, schedule known: %v; unknown: %v", known, unknown)
	bars.Bar{Number: "16", Text: "worker caps, schedule known: seen", Of: fmt.Sprintf("%v", known)}.
		AtLeast(t, 100*known.share(audit.CappedLoop.String()), 100)
}

// TestBarsOpen is the other half of bar 16: open load is called closed in at
// most 0.5 % of runs, no schedule being known.
func TestBarsOpen(t *testing.T) {
	t.Parallel()
	all := tally{}
	systems := append(append(sim.Grid(), sim.HeldOut()...), sim.Uneven()...)
	for i := range reps(1, 10) {
		for _, s := range systems {
			for _, rho := range []float64{0.5, 0.9, 1.2} {
				for _, seconds := range []float64{10, 60} {
					if seconds > 10 && i%5 > 0 {
						continue
					}
					r := loopOf(s.Run(100, rho, seconds, rng(i, 5)), false)
					all[r.Kind.String()]++
					if r.Kind == audit.ClosedLoop {
						t.Logf("%s rho %v %v s called closed: %+v", s.Name, rho, seconds, r)
					}
				}
			}
		}
	}
	t.Logf("open: %v", all)
	bar := bars.Bar{Number: "16", Text: "open load called closed", Of: fmt.Sprintf("%v", all)}
	if !*fullBars {
		bar.Slack = 2
	}
	bar.AtMost(t, 100*all.share("closed"), 0.5)
}

// TestBarsThinking shows where a closed loop cannot be seen from totals.
func TestBarsThinking(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		users, seconds float64
		think, service float64
	}{
		{"saturated, 10 s", 50, 10, 0.3, 0.01},
		{"saturated, 60 s", 50, 60, 0.3, 0.01},
		{"rho about 0.9, 60 s", 50, 60, 0.5, 0.01},
		{"rho 0.5, 60 s", 50, 60, 1, 0.01},
		{"500 users, 5 s, 60 s", 500, 60, 5, 0.005},
	} {
		got := tally{}
		for i := range reps(2, 40) {
			got[loopOf(sim.Run(sim.Config{
				Steps: []sim.Step{{DurationS: c.seconds}}, Server: sim.Queue(sim.Exponential(), 1)(1 / c.service),
				Client: sim.Client{Users: int(c.users), Think: sim.Exponential(), ThinkS: c.think},
			}, rng(i, 3)), false).Kind.String()]++
		}
		t.Logf("%-24s %v", c.name, got)
	}
}

// TestBarsArrivals measures the arrival process from 100 gaps on.
func TestBarsArrivals(t *testing.T) {
	t.Parallel()
	check := func(name string, a sim.Arrivals, want audit.Process, seconds float64, least float64) {
		t.Helper()
		got := tally{}
		n := reps(40, 1000)
		for i := range n {
			var acc audit.Arrivals
			for _, at := range sim.Schedule([]sim.Step{{RatePerS: 100, DurationS: seconds}}, a, rng(i, 11)) {
				acc.Add(int64(at * 1e9))
			}
			got[acc.Result().Process.String()]++
		}
		t.Logf("%-28s %4v s %v", name, seconds, got)
		if got.share(want.String()) < least {
			t.Errorf("%s over %v s: %v, want %s", name, seconds, got, want)
		}
	}
	for _, seconds := range []float64{2.5, 10, 60} {
		if seconds > 10 && !*fullBars {
			continue
		}
		check("constant", sim.Constant(), audit.Paced, seconds, 1)
		check("jittered by half a gap", sim.Jittered(1), audit.Jittered, seconds, 0.975)
		check("Poisson", sim.Poisson(), audit.Poisson, seconds, 0.97)
		check("batches of 5", sim.Batches(5), audit.Bursty, seconds, 0.97)
	}
	check("MMPP 3x, cycle 5 s", sim.Bursts(3, 1, 4), audit.Bursty, 60, 1)
	check("MMPP 3x, cycle 5 s", sim.Bursts(3, 1, 4), audit.Bursty, 10, 0.6)
}

// TestBarsCoverage measures how often the widened interval holds the truth on
// the M/M/1 queue, whose response time is exponential with mean 1/(μ − λ).
func TestBarsCoverage(t *testing.T) {
	t.Parallel()
	n := reps(4, 200)
	for _, rho := range []float64{0.3, 0.7, 0.9} {
		for _, q := range []float64{0.5, 0.99} {
			plain, wide, enough, trusted := 0, 0, 0, 0
			for i := range n {
				b, c := audit.NewBatches(0, 60e9), response.NewCohort(3)
				// 100 s of warm-up: the queue is in its steady state.
				for _, r := range sim.Grid()[0].Run(100, rho, 160, rng(i, 21)) {
					if due := r.Intended - 100e9; due >= 0 {
						b.Record(due, r.Done-r.Intended)
						c.Exact.Record(r.Done - r.Intended)
					}
				}
				w, ok := b.Widen(q)
				if !ok {
					t.Fatal("no batches")
				}
				truth := quantileMM1(100, rho, q)
				if holds(c.Quantile(q, 0.95), truth) {
					plain++
				}
				in := holds(w.Interval(c, q), truth)
				if in {
					wide++
				}
				if w.Enough {
					enough++
					if in {
						trusted++
					}
				}
			}
			t.Logf("rho %v p%v: plain %d, widened %d of %d; said to be enough %d, of which %d hold", rho, q*100, plain, wide, n, enough, trusted)
			if wide < plain {
				t.Error("a wider interval covers less")
			}
			if rho <= 0.3 && float64(wide) < 0.85*float64(n)-1 {
				t.Errorf("rho %v q %v: %d of %d", rho, q, wide, n)
			}
		}
	}
}
