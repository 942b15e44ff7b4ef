package verdict_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

var closedLoop = sample.Group{Source: "gen", Generator: "test", Model: sample.Closed}

// loop is a closed population on a service without a limit: each user waits for
// an answer of the given mean, pauses, and sends again.
func loop(users int, serviceS, pauseS, seconds float64) []sample.Row {
	rng := rand.New(rand.NewPCG(7, uint64(users)))
	end := start + int64(seconds*1e9)
	var rows []sample.Row
	for range users {
		for at := start + int64(rng.Float64()*pauseS*1e9); at < end; {
			done := at + int64(serviceS*1e9*rng.ExpFloat64())
			rows = append(rows, foldtest.Row(0, at, done))
			at = done + int64(pauseS*1e9)
		}
	}
	slices.SortFunc(rows, func(a, b sample.Row) int { return int(a.Sent - b.Sent) })
	return rows
}

// TestLawOfTheClosedLoop is the published test: 1,000 threads that think for 1 s
// and wait 60 ms send 943/s by the law; 800/s were seen.
func TestLawOfTheClosedLoop(t *testing.T) {
	t.Parallel()
	users, think := 1000.0, 1.0
	d := &wire.Declaration{ID: "r", Users: &users, ThinkS: &think}
	for _, c := range []struct {
		name     string
		pause    float64
		declared *wire.Declaration
		code     string
		severity string
		value    float64
		within   float64
		says     []string
	}{
		{"short of the law", 1.19, d, "closed_loop_law", wire.Warn, 0.152, 0.01, []string{"943/s", "801/s", "15 %", "188 ms"}},
		{"as the law has it", 1, d, "closed_loop_law", wire.Info, 0, 0.01, []string{"943/s"}},
		{"more than the law", 0.5, d, "closed_loop_law", wire.Warn, -0.89, 0.02, []string{"more users"}},
		{"think time unknown", 1.19, &wire.Declaration{ID: "r", Users: &users}, "think_time", wire.Info, 1.19, 0.01, []string{"60", "1.19 s"}},
	} {
		v := judge(t, evidence(closedLoop, loop(1000, 0.06, c.pause, 20), c.declared), query.Options{})
		f := finding(v, c.code)
		if f == nil || f.Severity != c.severity {
			t.Fatalf("%s: %+v in %+v", c.name, f, v.Findings)
		}
		if got := *f.Value; got < c.value-c.within || got > c.value+c.within {
			t.Errorf("%s: value %g", c.name, got)
		}
		for _, s := range c.says {
			if !strings.Contains(f.Message, s) {
				t.Errorf("%s: %q does not say %q", c.name, f.Message, s)
			}
		}
	}
}

// TestUsersAreCounted takes the population from the generator's own gauge, and
// from the level at which in flight stood still.
func TestUsersAreCounted(t *testing.T) {
	t.Parallel()
	ev := evidence(closedLoop, loop(200, 0.1, 0.9, 20), nil)
	users := metric(sample.Series{Source: "gen", Name: "locust.users.count", Kind: sample.Gauge}, 0, map[int64]float64{5: 200, 10: 200, 15: 200})
	users.RunID = ""
	ev.Batches = append(ev.Batches, users)
	f := finding(judge(t, ev, query.Options{}), "think_time")
	if f == nil || *f.Value < 0.89 || *f.Value > 0.91 || !strings.Contains(f.Message, "200 users counted by the generator") {
		t.Errorf("counted: %+v", f)
	}
	f = finding(judge(t, evidence(closedLoop, loop(8, 0.1, 0, 60), nil), query.Options{}), "think_time")
	if f == nil || *f.Value > 0.001 || !strings.Contains(f.Message, "8 users seen") {
		t.Errorf("seen: %+v", f)
	}
	more := 1000.0
	ev.Of.Declaration = &wire.Declaration{ID: "r", Users: &more}
	if f = finding(judge(t, ev, query.Options{}), "think_time"); f == nil || !strings.Contains(f.Message, "200 users counted by the generator (of 1,000 declared)") {
		t.Errorf("counted and declared: %+v", f)
	}
	few := 100.0
	f = finding(judge(t, evidence(closedLoop, loop(400, 0.9, 0.1, 20), &wire.Declaration{ID: "r", Users: &few}), query.Options{}), "closed_loop_law")
	if f == nil || f.Severity != wire.Warn || !strings.Contains(f.Message, "more than the 100 declared users") {
		t.Errorf("too few declared: %+v", f)
	}
}
