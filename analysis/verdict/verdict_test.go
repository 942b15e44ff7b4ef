package verdict_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/verdict"
)

const start = int64(1_796_000_000_000_000_000)

var openLoop = sample.Group{Source: "gen", Generator: "test", Scenario: "orders", Model: sample.Open}

func evidence(g sample.Group, rows []sample.Row, d *wire.Declaration) *foldtest.Evidence {
	return &foldtest.Evidence{
		Of:      fold.Run{ID: "r", Name: "r", Finished: true, Declaration: d},
		Batches: foldtest.Batches(g, rows, 512),
	}
}

// counters adds metric points of the generator: name, value at the start of the
// run and at to.
func counters(ev *foldtest.Evidence, values map[string]float64, to int64) {
	b := &sample.Batch{}
	for name, v := range values {
		i := uint32(len(b.Series))
		b.Series = append(b.Series, sample.Series{Source: "gen", Name: name, Kind: sample.Counter})
		b.Points = append(b.Points, sample.Point{Series: i, Start: start - 1, Time: to, Value: v},
			sample.Point{Series: i, Start: start - 1, Time: start, Value: 0})
	}
	ev.Batches = append(ev.Batches, b)
}

func judge(t testing.TB, ev fold.Evidence, opt query.Options) *wire.Verdict {
	t.Helper()
	v, err := verdict.Analysis{}.Judge(t.Context(), ev, opt)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(v); err != nil {
		t.Fatal(err)
	}
	for _, s := range append(slices.Clone(v.Steps), v.Totals) {
		b := s.Balance
		if out := b.Dropped + b.Good + b.Late + b.Error + b.Timeout + b.Shed + b.Cancelled + b.OpenAtEnd; b.Due+b.CarriedIn != out {
			t.Errorf("step %d: %d due + %d carried in, but %d out: %+v", s.Index, b.Due, b.CarriedIn, out, b)
		}
	}
	return v
}

func near(t testing.TB, what string, got *float64, want, tolerance float64) {
	t.Helper()
	if got == nil {
		t.Errorf("%s: null, want %g", what, want)
	} else if math.Abs(*got-want) > tolerance*math.Abs(want) {
		t.Errorf("%s: %g, want %g within %g", what, *got, want, tolerance)
	}
}

// exact is the nearest-rank quantile of times in ns, in seconds.
func exact(times []int64, q float64) float64 {
	s := slices.Sorted(slices.Values(times))
	return float64(s[int(math.Ceil(q*float64(len(s))-1e-9))-1]) / 1e9
}

func finding(v *wire.Verdict, code string) *wire.Finding {
	for i := range v.Findings {
		if v.Findings[i].Code == code {
			return &v.Findings[i]
		}
	}
	return nil
}

// stall is 100/s for 200 s: perfect for 100 s, then a full stop of 100 s.
func stall() (due, done []int64) {
	for i := range int64(20_000) {
		d := start + i*10e6
		due = append(due, d)
		if i < 10_000 {
			done = append(done, d+1e6)
		} else {
			done = append(done, start+200e9)
		}
	}
	return due, done
}

func TestStallCorrected(t *testing.T) {
	t.Parallel()
	due, done := stall()
	var took []int64
	var a, b []sample.Row
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range due {
		took = append(took, done[i]-due[i])
		a = append(a, foldtest.Row(due[i], due[i], done[i]))
		r := sample.Row{Index: int64(i), Sent: due[i] + rng.Int64N(3e5), Done: done[i]}
		if i == 777 {
			r.Sent = due[i] // one request left on time
		}
		b = append(b, r)
	}
	check := func(name string, v *wire.Verdict, grade string) {
		r := v.Totals.ResponseTime
		if r.N != 20_000 || r.Grade == nil || *r.Grade != grade || !r.Valid {
			t.Fatalf("%s: %+v", name, r)
		}
		for _, q := range []struct {
			e wire.Estimate
			q float64
		}{{r.P50, 0.5}, {r.P90, 0.9}, {r.P99, 0.99}} {
			near(t, name, q.e.Value, exact(took, q.q), 0.002)
		}
		near(t, name+" p50", r.P50.Value, 0.001, 0.002)
		near(t, name+" p90", r.P90.Value, 80, 0.002)
		near(t, name+" p99", r.P99.Value, 98, 0.002)
	}
	check("grade A", judge(t, evidence(openLoop, a, nil), query.Options{}), "A")
	g := openLoop
	g.Rate = 100
	check("grade B", judge(t, evidence(g, b, nil), query.Options{}), "B")

	// What a closed loop of one worker paced at 10 ms records of the same server.
	closed := append(slices.Clone(a[:10_000]), foldtest.Row(0, start+100e9, start+200e9))
	for i := range closed {
		closed[i].Intended = 0
	}
	g = openLoop
	g.Model, g.ExpectedInterval = sample.Closed, 10e6
	v := judge(t, evidence(g, closed, nil), query.Options{})
	check("grade E", v, "E")
	if n := v.Totals.ServiceTime.N; n != 10_001 {
		t.Errorf("closed loop: %d samples", n)
	}
	near(t, "closed p99", v.Totals.ServiceTime.P99.Value, 0.001, 0.002)
	if v.Totals.Balance.Due != 10_001 {
		t.Errorf("the balance counts back-filled rows: %+v", v.Totals.Balance)
	}
}

// stalledServer is a FIFO server with a service time of about 1.1 ms (p99
// 1.4 ms) that stops for 2 s at 15 s and for 1 s at 40 s.
type stalledServer struct {
	rng  *rand.Rand
	free int64
}

func (s *stalledServer) serve(at int64) int64 {
	begin := max(at, s.free)
	for _, stop := range [][2]int64{{15e9, 17e9}, {40e9, 41e9}} {
		if begin >= start+stop[0] && begin < start+stop[1] {
			begin = start + stop[1]
		}
	}
	s.free = begin + int64(1.1e6*math.Exp(0.104*s.rng.NormFloat64()-0.0054))
	return s.free
}

func TestTwoStallsTwoCorrections(t *testing.T) {
	t.Parallel()
	server := &stalledServer{rng: rand.New(rand.NewPCG(4, 4))}
	var open, closed []sample.Row
	slow := 0
	for i := range int64(6000) {
		due := start + i*10e6
		done := server.serve(due)
		if done-due > 100e6 {
			slow++
		}
		open = append(open, foldtest.Row(due, due, done))
	}
	server = &stalledServer{rng: rand.New(rand.NewPCG(4, 4))}
	for at := start; at < start+60e9; {
		done := server.serve(at)
		closed = append(closed, foldtest.Row(0, at, done))
		for at += 10e6; at < done; at += 10e6 { // a tick that found the worker busy is lost
		}
	}
	v := judge(t, evidence(openLoop, open, nil), query.Options{})
	if v.Totals.ResponseTime.N != 6000 || slow < 305 || slow > 317 {
		t.Errorf("open: n %d, %d over 100 ms", v.Totals.ResponseTime.N, slow)
	}
	near(t, "open p99", v.Totals.ResponseTime.P99.Value, 1.47, 0.01)
	g := openLoop
	g.Model, g.ExpectedInterval = sample.Closed, 10e6
	v = judge(t, evidence(g, closed, nil), query.Options{})
	if n := v.Totals.ServiceTime.N; n < 5690 || n > 5710 {
		t.Errorf("closed: %d samples", n)
	}
	near(t, "closed p99", v.Totals.ServiceTime.P99.Value, 0.0014, 0.02)
	near(t, "back-filled p99", v.Totals.ResponseTime.P99.Value, 1.41, 0.01)
	if finding(v, "back_filled") == nil {
		t.Error("back-fill is not named")
	}
}

func TestTimeoutsAreCensored(t *testing.T) {
	t.Parallel()
	var rows []sample.Row
	for i := range int64(3000) {
		due := start + i*20e6
		r := foldtest.Row(due, due, due+300e6)
		if i%100 < 63 {
			r.Done, r.Outcome = due+2e9, sample.Timeout
		}
		rows = append(rows, r)
	}
	v := judge(t, evidence(openLoop, rows, nil), query.Options{})
	p := v.Steps[0].ResponseTime.P95
	if p.Value != nil || p.Lo == nil || math.Abs(*p.Lo-2) > 0.002 || p.Hi != nil {
		t.Errorf("p95: %+v", p)
	}
	if v.Steps[0].Class != wire.ClassLossy || v.Outcome != wire.OutcomeFail {
		t.Errorf("class %s, outcome %s (%s)", v.Steps[0].Class, v.Outcome, v.Headline)
	}
}

func TestMostlyDropped(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(6, 6))
	var rows []sample.Row
	for i := range int64(10_000) {
		if i%100 < 61 {
			continue
		}
		due := start + i*5e6
		rows = append(rows, foldtest.Row(due, due, due+int64(320e6*rng.Float64())))
	}
	ev := evidence(openLoop, rows, nil)
	counters(ev, map[string]float64{"loadtest.arrivals.dropped": 6100, "loadtest.arrivals.scheduled": 10_000}, start+50e9)
	v := judge(t, ev, query.Options{})
	s := v.Steps[0]
	if v.Outcome != wire.OutcomeInvalid || s.Class != wire.ClassInvalid || v.Audit.Valid {
		t.Fatalf("outcome %s, class %s: %s", v.Outcome, s.Class, v.Headline)
	}
	for _, r := range []wire.Response{s.ResponseTime, s.ServiceTime, v.Totals.ResponseTime} {
		if r.Valid || r.P50.Value != nil || r.P99.Value != nil || r.P99.Lo != nil || !strings.Contains(r.Reason, "61 % dropped") {
			t.Errorf("%+v", r)
		}
	}
}

func TestLittlesLawFindsWrongCount(t *testing.T) {
	t.Parallel()
	var rows []sample.Row
	for i := range int64(6000) {
		due := start + i*10e6
		rows = append(rows, foldtest.Row(due, due, due+150e6)) // 15 in flight
	}
	ev := evidence(openLoop, rows, nil)
	counters(ev, map[string]float64{"loadtest.requests.in_flight_time": 40 * 59}, start+59e9)
	v := judge(t, ev, query.Options{})
	l := v.Steps[0].LittlesLaw
	if l.OK == nil || *l.OK || !l.Independent {
		t.Fatalf("%+v", l)
	}
	near(t, "counted", l.Counted, 40, 1e-9)
	near(t, "corrected", l.Corrected, 15, 0.01)
	if v.Outcome != wire.OutcomeInvalid || finding(v, "littles_law_mismatch") == nil {
		t.Errorf("outcome %s: %s", v.Outcome, v.Headline)
	}
}

// overload is 120/s for 60 s onto a server of 100/s.
func overload() *foldtest.Evidence {
	var rows []sample.Row
	for i := range int64(7200) {
		due := start + i*1e9/120
		rows = append(rows, foldtest.Row(due, due, start+(i+1)*10e6))
	}
	deadline := 2.0
	d := &wire.Declaration{
		ID: "r", DeadlineS: &deadline, Steps: []wire.DeclareStep{{RatePerS: 120, DurationS: 60}},
		Arrival: &wire.Arrival{Model: "open", Process: "constant"},
	}
	return evidence(openLoop, rows, d)
}

func TestOverload(t *testing.T) {
	t.Parallel()
	v := judge(t, overload(), query.Options{})
	s := v.Steps[0]
	if v.Outcome != wire.OutcomeFail || s.Class != wire.ClassUnstable {
		t.Fatalf("outcome %s, class %s, %+v", v.Outcome, s.Class, s.Stability)
	}
	near(t, "completed", s.Completed, 100, 0.001)
	near(t, "goodput", s.Goodput, 20, 0.01)
	near(t, "in flight", s.InFlight.Mean, 600, 0.01)
	near(t, "drain", s.DrainS, 12, 0.001)
	near(t, "capacity", v.Knee.Capacity.Value, 100, 0.001)
	near(t, "utilisation", s.Stability.Utilisation.Value, 1.2, 0.01)
	near(t, "p50", s.ResponseTime.P50.Value, 6, 0.01)
	if s.Due != 7200 || s.Balance.OpenAtEnd != 1200 || s.ResponseTime.Steady {
		t.Errorf("%+v", s.Balance)
	}
	t.Log(v.Headline)
}

func TestHealthy(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 9))
	var rows []sample.Row
	for i := range int64(6000) {
		due := start + i*10e6
		rows = append(rows, foldtest.Row(due, due, due+int64(30e6*rng.ExpFloat64())))
	}
	v := judge(t, evidence(openLoop, rows, nil), query.Options{})
	if v.Outcome != wire.OutcomePass || v.Steps[0].Class != wire.ClassStable {
		t.Fatalf("outcome %s, class %s: %s", v.Outcome, v.Steps[0].Class, v.Headline)
	}
	near(t, "p99", v.Steps[0].ResponseTime.P99.Value, 0.138, 0.1)
	t.Log(v.Headline)
}
