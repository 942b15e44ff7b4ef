package audit_test

import (
	"math"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/audit"
	"github.com/plimsoll/plimsoll/analysis/response"
	"github.com/plimsoll/plimsoll/analysis/sim"
)

func close3(a, b float64) bool { return math.Abs(a-b) <= 1e-3*max(1, math.Abs(b)) }

func TestArrivalsEdges(t *testing.T) {
	t.Parallel()
	check := func(name string, n int, gap func(i int) int64, want audit.Process) {
		t.Helper()
		var a audit.Arrivals
		at := int64(1_800_000_000e9)
		for i := range n {
			a.Add(at)
			at += gap(i)
		}
		if r := a.Result(); r.Process != want {
			t.Errorf("%s: %+v, want %s", name, r, want)
		}
	}
	even := func(int) int64 { return 1e7 }
	check("none", 0, even, audit.UnknownProcess)
	check("one", 1, even, audit.UnknownProcess)
	check("99 gaps", 100, even, audit.UnknownProcess)
	check("100 gaps", 101, even, audit.Paced)
	check("all at once", 1000, func(int) int64 { return 0 }, audit.UnknownProcess)
	check("pairs", 1000, func(i int) int64 { return int64(i%2) * 2e7 }, audit.Jittered)
	check("hundreds at once", 1000, func(i int) int64 { return int64(i%100/99) * 1e9 }, audit.Bursty)
	// Three paced streams with phases of their own, gaps 3, 4 and 5 tenths.
	check("paced streams together", 999, func(i int) int64 { return []int64{1e6, 2e6, 9e6}[i%3] }, audit.Jittered)
}

func TestLoopEdges(t *testing.T) {
	t.Parallel()
	var none audit.Loop
	if r := none.Result(); r.Kind != audit.UnknownLoop || !math.IsNaN(r.Feedback) {
		t.Errorf("nothing: %+v", r)
	}
	// One beat: paced sends whose answers take exactly one gap.
	var beat audit.Loop
	for i := range int64(500) {
		if i > 0 {
			beat.End(i * 1e7)
		}
		beat.Send(i*1e7, 0)
	}
	if r := beat.Result(); r.Kind != audit.UnknownLoop || !r.Beat {
		t.Errorf("one beat: %+v", r)
	}
	// The same against a schedule that was kept, by clocks with some noise.
	var kept audit.Loop
	for i := range int64(500) {
		if i > 0 {
			kept.End(1e9 + i*1e7)
		}
		kept.Send(1e9+i*1e7+10_000, 1e9+i*1e7)
	}
	if r := kept.Result(); r.Kind != audit.OpenLoop || r.Known != 1 {
		t.Errorf("a schedule that was kept: %+v", r)
	}
	// A closed loop that takes 20 µs to react is followed, however regular.
	var reacts audit.Loop
	at := int64(0)
	for range 500 {
		reacts.Send(at, 0)
		reacts.End(at + 1e7)
		at += 1e7 + 20_000
	}
	if r := reacts.Result(); r.Kind != audit.ClosedLoop {
		t.Errorf("a worker that reacts in 20 µs: %+v", r)
	}
}

func TestLaw(t *testing.T) {
	t.Parallel()
	r, ok := audit.Law{Users: 1000, ThinkS: 1, ResponseS: 0.06, PerS: 800}.Check()
	if !ok || math.Round(r.ExpectedPerS) != 943 || math.Abs(r.Shortfall-0.152) > 1e-3 || !close3(r.LostS, 0.19) || !close3(r.ActiveUsers, 848) {
		t.Errorf("1,000 threads: %+v", r)
	}
	for _, l := range []audit.Law{{}, {Users: 1, PerS: 1}, {Users: 1, ResponseS: 1}, {PerS: 1, ResponseS: 1}} {
		if _, ok := l.Check(); ok {
			t.Errorf("%+v says something", l)
		}
	}
	// A simulated closed loop obeys it.
	users, think := 40, 0.2
	q := sim.Run(sim.Config{
		Steps: []sim.Step{{DurationS: 100}}, Server: sim.Queue(sim.Exponential(), 1)(100),
		Client: sim.Client{Users: users, Think: sim.Exponential(), ThinkS: think},
	}, rng(1, 1))
	var sum float64
	for _, x := range q {
		sum += float64(x.Done-x.Sent) / 1e9
	}
	r, _ = audit.Law{Users: float64(users), ThinkS: think, ResponseS: sum / float64(len(q)), PerS: float64(len(q)) / 100}.Check()
	if math.Abs(r.Shortfall) > 0.02 {
		t.Errorf("simulated: %+v", r)
	}
}

func TestSlump(t *testing.T) {
	t.Parallel()
	var cells []audit.Stretch
	for i := range 60 {
		c := audit.Stretch{Seconds: 1, Sent: 200, ResponseS: 200 * 0.01}
		if i >= 30 && i < 50 {
			c = audit.Stretch{Seconds: 1, Sent: 70, ResponseS: 70 * 0.4}
		}
		cells = append(cells, c)
	}
	r, ok := audit.Slump(cells)
	if !ok || !close3(r.Fell, 0.65) || !close3(r.Rose, 40) || r.First != 30 {
		t.Errorf("load fell 65 %% while response time rose 40x: %+v", r)
	}
	if r, ok := audit.Slump(cells[:30]); ok {
		t.Errorf("a level run: %+v", r)
	}
	if _, ok := audit.Slump(make([]audit.Stretch, 20)); ok {
		t.Error("nothing was sent, and something said")
	}
}

func TestSaturated(t *testing.T) {
	t.Parallel()
	s, ok := audit.Saturated(6000, 60, 1)
	if !ok || s.PerS != 100 || !close3(s.Lo, 100-1.645*math.Sqrt(100.0/60)) {
		t.Errorf("%+v", s)
	}
	if _, ok := audit.Saturated(0, 60, 1); ok {
		t.Error("nothing completed")
	}
}

func TestCap(t *testing.T) {
	t.Parallel()
	r, ok := audit.Cap{Workers: 500, OfferedPerS: 600, PerS: 441, ServiceS: 1.13}.Predict()
	if !ok || math.Abs(r.HoldsBelowS-0.833) > 1e-3 || !close3(r.PlateauS, 500.0/441) || !r.Binds || !r.Bites || !close3(r.Needed, 678) {
		t.Errorf("500 workers at 600/s: %+v", r)
	}
	if _, ok := (audit.Cap{OfferedPerS: 1}).Predict(); ok {
		t.Error("no workers")
	}
	// A generator that runs into its cap: the plateau is M/X.
	q := sim.Run(sim.Config{
		Steps: []sim.Step{{RatePerS: 200, DurationS: 60}}, Arrivals: sim.Constant(),
		Server: sim.Queue(sim.Exponential(), 1)(100), Client: sim.Client{Workers: 50},
	}, rng(2, 2))
	l := loopOf(q, true)
	m, ok := l.Plateau()
	if l.Kind != audit.CappedLoop || !ok || m != 50 {
		t.Fatalf("plateau %d: %+v", m, l)
	}
	var sum, n float64
	for _, x := range q[2000:] {
		sum += float64(x.Done-x.Sent) / 1e9
		n++
	}
	r, _ = audit.Cap{Workers: float64(m), OfferedPerS: 200, PerS: 100, ServiceS: sum / n}.Predict()
	if !r.Binds || math.Abs(r.PlateauS-0.5) > 1e-9 {
		t.Errorf("simulated: %+v", r)
	}
}

// TestFlat has 200 workers meet a service of 100/s, which is saturated long before
// they run out, and one of any rate whose requests take a while, which is not.
func TestFlat(t *testing.T) {
	t.Parallel()
	for rate, servers := range map[float64]int{100: 1, 95: 200} {
		var flat int
		for seed := range 20 {
			q := sim.Run(sim.Config{
				Steps: []sim.Step{{RatePerS: 110, DurationS: 120}}, Arrivals: sim.Poisson(),
				Server: sim.Queue(sim.Exponential(), servers)(rate), Client: sim.Client{Workers: 200},
			}, rng(seed, 3))
			if l := loopOf(q, true); l.Flat() {
				flat++
			}
		}
		if servers == 1 && flat < 18 || servers > 1 && flat > 0 {
			t.Errorf("%d servers of %g/s in all: flat in %d of 20", servers, rate, flat)
		}
	}
}

func TestUsers(t *testing.T) {
	t.Parallel()
	check := func(name string, got, want float64) {
		t.Helper()
		if !close3(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	check("20 requests meet p95", audit.MeetsPerDay(0.95, 20), 0.6415)
	check("p99 at 100/s", audit.Slower(0.99, 100), 60)
	check("until p99 for half of users", audit.RequestsUntil(0.99, 0.5), 68.97)
	check("14 requests on a page", audit.Typical(14), 0.9517)
	check("never", audit.MeetsPerDay(1, 20), 0)
	check("no requests", audit.MeetsPerDay(0.95, 0), 0)
	check("no rate", audit.Slower(0.99, -1), 0)
	if !math.IsNaN(audit.RequestsUntil(1, 0.5)) || !math.IsNaN(audit.Typical(0)) {
		t.Error("a number where there is none")
	}
}

// stallsOf runs the accumulator over a simulated run.
func stallsOf(q []sim.Request, to int64) []audit.Stall {
	var s audit.Stalls
	s.Begin(0, 0)
	feed(q, s.End, func(at, _ int64) { s.Send(at) })
	out, _ := s.Result(to)
	return out
}

func TestStallFound(t *testing.T) {
	t.Parallel()
	for i, rate := range []float64{20, 100, 500} {
		server := sim.Queue(sim.Exponential(), 4)(rate / 0.6)
		server.StopAtS, server.StopS = 31, 2
		q := sim.Run(sim.Config{Steps: []sim.Step{{RatePerS: rate, DurationS: 60}}, Arrivals: sim.Poisson(), Server: server}, rng(i, 6))
		got := stallsOf(q, 60e9)
		if len(got) != 1 {
			t.Fatalf("at %v/s: %+v", rate, got)
		}
		s := got[0]
		if slack := 3 / rate; math.Abs(float64(s.From)/1e9-31) > slack+0.1 || math.Abs(s.Seconds()-2) > 2*slack+0.1 || math.Abs(float64(s.Hit)-2*rate) > 0.4*rate+10 {
			t.Errorf("at %v/s: %+v", rate, s)
		}
	}
}

func TestStallOfClosedLoop(t *testing.T) {
	t.Parallel()
	server := sim.Queue(sim.Exponential(), 4)(100)
	server.StopAtS, server.StopS = 10, 1
	q := sim.Run(sim.Config{Steps: []sim.Step{{DurationS: 30}}, Server: server, Client: sim.Client{Users: 4}}, rng(1, 6))
	got := stallsOf(q, 30e9)
	if len(got) != 1 || got[0].Hit != 4 || math.Abs(got[0].Seconds()-1) > 0.1 {
		t.Errorf("%+v", got)
	}
}

func TestStallAtTheEnd(t *testing.T) {
	t.Parallel()
	var s audit.Stalls
	for i := range int64(1000) {
		s.Send(i * 1e7)
		s.End(i*1e7 + 5e6)
	}
	for i := range int64(300) {
		s.Send(10e9 + i*1e7)
	}
	got, _ := s.Result(13e9)
	if len(got) != 1 || got[0].From != 10e9 || got[0].To != 13e9 || got[0].Hit != 300 {
		t.Errorf("%+v", got)
	}
}

// TestBarsStalls counts runs without a stall in which one is found, and regular
// pauses that are found.
func TestBarsStalls(t *testing.T) {
	t.Parallel()
	runs, found := 0, tally{}
	for i := range reps(1, 20) {
		for _, s := range append(append(sim.Grid(), sim.HeldOut()...), sim.Uneven()[0]) {
			for _, rho := range []float64{0.5, 0.9, 1.1} {
				runs++
				if got := stallsOf(s.Run(100, rho, 60, rng(i, 8)), 60e9); len(got) > 0 {
					found[s.Name]++
				}
			}
		}
	}
	t.Logf("%d runs without a stall, found in %v", runs, found)
	// Where long jobs hold all servers at times, nothing does end for a while.
	all := 0
	for name, n := range found {
		all += n
		if !strings.Contains(name, "cv") && name != "batches of 5" && float64(n) > 0.02*float64(reps(50, 60)) {
			t.Errorf("%s: stalls in %d runs", name, n)
		}
	}
	if float64(all) > 0.015*float64(runs)+1 {
		t.Errorf("stalls in %d of %d runs without any", all, runs)
	}
	got := stallsOf(sim.Uneven()[1].Run(100, 0.7, 60, rng(1, 8)), 60e9)
	t.Logf("12 stalls of 0.2 s at 100/s: %d found", len(got))
	if len(got) < 9 || len(got) > 12 {
		t.Errorf("%+v", got)
	}
}

func TestDisagree(t *testing.T) {
	t.Parallel()
	source := func(name string, n, failed int64, median, delay float64, seed int) audit.Source {
		s := audit.Source{Name: name, Requests: n, Errors: failed, Response: response.New(3), SendDelay: response.New(3)}
		r := rng(seed, 4)
		for range n {
			s.Response.Record(int64(median * (0.5 + r.ExpFloat64()) * 1e9))
			s.SendDelay.Record(int64(delay * r.ExpFloat64() * 1e9))
		}
		return s
	}
	check := func(name string, sources []audit.Source, want ...string) {
		t.Helper()
		var got []string
		for _, d := range audit.Disagree(sources) {
			got = append(got, d.Source+" "+d.What)
		}
		if len(got) != len(want) {
			t.Fatalf("%s: %v, want %v", name, got, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
	}
	a, b, c := source("a", 5000, 10, 0.1, 0.0005, 1), source("b", 5000, 12, 0.1, 0.0005, 2), source("c", 5000, 8, 0.1, 0.0005, 3)
	check("alike", []audit.Source{c, a, b})
	check("one", []audit.Source{a})
	check("none", nil)
	check("too small", []audit.Source{a, source("d", 40, 40, 9, 1, 4)})
	check("errors", []audit.Source{a, b, source("c", 5000, 300, 0.1, 0.0005, 5)}, "c errors")
	check("slow", []audit.Source{a, b, source("c", 5000, 8, 0.3, 0.0005, 6)}, "c median", "c p99")
	check("late", []audit.Source{a, b, source("c", 5000, 8, 0.1, 0.05, 7)}, "c send_delay")
	check("no histograms", []audit.Source{{Name: "a", Requests: 100}, {Name: "b", Requests: 100}})
}

func TestWidenIndependent(t *testing.T) {
	t.Parallel()
	for _, q := range []float64{0.5, 0.9, 0.99} {
		var mean float64
		const runs = 60
		for i := range runs {
			b := audit.NewBatches(0, 1000e9)
			r := rng(i, 9)
			for range 4000 {
				b.Record(r.Int64N(1000e9), int64(r.ExpFloat64()*1e8))
			}
			w, ok := b.Widen(q)
			if !ok {
				t.Fatal("no batches")
			}
			mean += w.Variance / runs
		}
		if mean < 0.85 || mean > 1.15 {
			t.Errorf("q %v: independent samples have a variance of %v", q, mean)
		}
	}
}

func TestWidenEdges(t *testing.T) {
	t.Parallel()
	b := audit.NewBatches(0, 20e9)
	if _, ok := b.Widen(0.5); ok {
		t.Error("empty batches say something")
	}
	for i := range int64(20_000) {
		b.Record(i*1e6, 5e6)
	}
	w, ok := b.Widen(0.99)
	if !ok || w.Factor != 1 || !w.Enough {
		t.Errorf("times all alike: %+v", w)
	}
	b.Record(-1, 1)
	b.Record(20e9, 1)
	if got := b.Median(); len(got) != 20 || math.Abs(got[0]-0.005) > 1e-4 || math.Abs(got[19]-0.005) > 1e-4 {
		t.Errorf("medians %v", got)
	}
	if _, ok := b.Widen(1); ok {
		t.Error("the quantile 1")
	}
	// One slow twentieth is all of the tail: nothing to be trusted.
	b = audit.NewBatches(0, 20e9)
	c := response.NewCohort(3)
	for i := range int64(20_000) {
		ns := int64(5e6) + i%997
		if i/1000 == 12 {
			ns *= 10
		}
		b.Record(i*1e6, ns)
		c.Exact.Record(ns)
	}
	w, _ = b.Widen(0.97)
	e := w.Interval(c, 0.97)
	if w.Factor < 20 || w.Enough || e.Hi != nil || e.Lo == nil || *e.Lo > 0.006 {
		t.Errorf("one slow twentieth: %+v %v %v", w, e.Lo, e.Hi)
	}
}

func TestIntervalCensored(t *testing.T) {
	t.Parallel()
	c := response.NewCohort(3)
	c.Exact.RecordN(1e9, 9_000)
	c.Censored.RecordN(2e9, 1_000)
	e := audit.Widening{Factor: 3}.Interval(c, 0.95)
	if e.Value != nil || e.Lo == nil || e.Hi != nil || !e.Censored {
		t.Errorf("%+v", e)
	}
	c.Never = 100_000
	if e := (audit.Widening{Factor: 3}).Interval(c, 0.95); e.Hi != nil || e.Lo == nil || *e.Lo != 2 {
		t.Errorf("%+v", e)
	}
}

func TestColdAndDrift(t *testing.T) {
	t.Parallel()
	record := func(at func(x, noise float64) float64) *audit.Batches {
		b := audit.NewBatches(0, 3600e9)
		r := rng(5, 5)
		for i := range 20_000 {
			x := float64(i) / 20_000
			b.Record(int64(x*3600e9), int64(at(x, r.ExpFloat64())*1e9))
		}
		return b
	}
	level := record(func(_, e float64) float64 { return 0.1 * e })
	if c, ok := level.Cold(); ok {
		t.Errorf("level: %+v", c)
	}
	if d, ok := level.Drifts(); ok {
		t.Errorf("level: %+v", d)
	}
	cold := record(func(x, e float64) float64 {
		if x < 0.1 {
			return 0.3 * e
		}
		return 0.1 * e
	})
	if c, ok := cold.Cold(); !ok || math.Abs(c.Ratio-3) > 0.3 {
		t.Errorf("cold start: %+v", c)
	}
	if d, ok := cold.Drifts(); ok {
		t.Errorf("cold start drifts: %+v", d)
	}
	leak := record(func(x, e float64) float64 { return 0.1 * (1 + x) * e })
	d, ok := leak.Drifts()
	if !ok || math.Abs(d.PerDay-0.1*math.Ln2*24) > 0.3 {
		t.Errorf("leak: %+v", d)
	}
	if c, ok := leak.Cold(); ok {
		t.Errorf("leak: %+v", c)
	}
	if _, ok := audit.NewBatches(0, 1e9).Drifts(); ok {
		t.Error("nothing drifts")
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	if _, ok := audit.Line([]float64{1, 2, 3}); ok {
		t.Error("three values")
	}
	l, ok := audit.Line([]float64{1, 2, 3, 4, 5, 6, 7, 8})
	if !ok || l.Slope != 1 || l.Change != 7 || l.T < 1e6 {
		t.Errorf("a straight line: %+v", l)
	}
	// Random walks are not lines: the correction holds most of them back.
	steep := 0
	for i := range 300 {
		r := rng(i, 6)
		y, at := make([]float64, 18), 0.0
		for j := range y {
			at += 0.5*r.NormFloat64() - 0.3*at
			y[j] = at
		}
		if l, _ := audit.Line(y); math.Abs(l.T) >= 4 {
			steep++
		}
	}
	if steep > 9 {
		t.Errorf("%d of 300 correlated series rise or fall", steep)
	}
}

// TestMergedBatches checks that batches do not depend on how rows were cut up.
func TestMergedBatches(t *testing.T) {
	t.Parallel()
	whole, a, b := audit.NewBatches(5, 10e9), audit.NewBatches(5, 10e9), audit.NewBatches(5, 10e9)
	r := rng(1, 2)
	for i := range 5000 {
		due, ns := r.Int64N(11e9), r.Int64N(1e9)
		whole.Record(due, ns)
		[]*audit.Batches{a, b}[i%2].Record(due, ns)
	}
	b.Merge(a)
	x, _ := whole.Widen(0.9)
	y, _ := b.Widen(0.9)
	if x != y {
		t.Errorf("%+v and %+v", x, y)
	}
	if whole.Size() > 200_000 {
		t.Errorf("%d bytes", whole.Size())
	}
}
