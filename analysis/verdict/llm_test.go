package verdict_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/sim"
)

// llm is a server that answers in batches: n requests share the speed
// n/(1 + 0.141·(n − 1)), and one alone takes 0.648 s. Its limit is 10.9/s.
func llm() sim.Server {
	return sim.Server{Service: sim.Erlang(1000), MeanS: 0.648, Speed: sim.Batching(0.141)}
}

// rowsOf are the rows that a generator sends of a simulated run. Those of a
// closed loop say nothing of when they were due.
func rowsOf(requests []sim.Request, closed bool) []sample.Row {
	rows := make([]sample.Row, 0, len(requests))
	for _, q := range requests {
		if q.Dropped {
			continue
		}
		r := foldtest.Row(q.Intended, q.Sent, q.Done)
		if r.Outcome = q.Outcome; closed {
			r.Intended = 0
		}
		rows = append(rows, r)
	}
	return rows
}

// llmClosed is the server under so many users who do not think.
func llmClosed(t *testing.T, users int) *wire.Verdict {
	t.Helper()
	q := sim.Run(sim.Config{
		StartNS: start, Steps: []sim.Step{{DurationS: 600}}, Server: llm(), Client: sim.Client{Users: users},
	}, rand.New(rand.NewPCG(51, uint64(users))))
	g := openLoop
	g.Model = sample.Closed
	return judge(t, evidence(g, rowsOf(q, true), nil), query.Options{})
}

// llmOpen offers it rates one after another, each for so long and from drained.
func llmOpen(t *testing.T, seed uint64, arrivals sim.Arrivals, length float64, deadline *float64, rates ...float64) *wire.Verdict {
	t.Helper()
	const pause = 45
	d := &wire.Declaration{ID: "r", Arrival: &wire.Arrival{Model: "open"}, DeadlineS: deadline}
	var steps []sim.Step
	for _, r := range rates {
		d.Steps = append(d.Steps, wire.DeclareStep{RatePerS: r, DurationS: length, PauseS: pause})
		steps = append(steps, sim.Step{RatePerS: r, DurationS: length}, sim.Step{DurationS: pause})
	}
	q := sim.Run(sim.Config{StartNS: start, Steps: steps, Arrivals: arrivals, Server: llm()}, rand.New(rand.NewPCG(52, seed)))
	return judge(t, evidence(openLoop, rowsOf(q, false), d), query.Options{})
}

// TestClosedAgainstOpen: the same server looks fine to a closed loop, and is lost
// under an open load a fifth above what the loop was seen to get.
func TestClosedAgainstOpen(t *testing.T) {
	t.Parallel()
	c32, c64 := llmClosed(t, 32), llmClosed(t, 64)
	near(t, "C = 32", c32.SaturationThroughput.Value, 9.2, 0.01)
	near(t, "C = 32, p95", c32.Steps[0].ServiceTime.P95.Value, 3.6, 0.03)
	near(t, "C = 64", c64.SaturationThroughput.Value, 10, 0.02)
	for _, v := range []*wire.Verdict{c32, c64} {
		s := v.Steps[0]
		if v.Audit.Loop != "closed" || v.Knee.State != "not_tested" || v.Knee.Recommended != nil || s.ResponseTime.Valid || v.Outcome == wire.OutcomePass {
			t.Errorf("%s, knee %+v, %+v, %s", v.Audit.Loop, v.Knee, s.ResponseTime, v.Outcome)
		}
		if finding(v, "closed_loop") == nil {
			t.Error("nothing says that the loop is closed")
		}
	}
	v := llmOpen(t, 1, sim.Constant(), 105, nil, 12)
	s := v.Steps[0]
	near(t, "open, 12/s", s.Completed, 8.9, 0.01)
	near(t, "open, 12/s, p95", s.ResponseTime.P95.Value, 27, 0.03)
	if s.Class != wire.ClassUnstable || s.ResponseTime.Steady || v.Outcome != wire.OutcomeFail {
		t.Errorf("at 12/s: %s, %+v, %s", s.Class, s.Stability, v.Outcome)
	}
	noHealth(t, v)
	t.Log(v.Headline)
}

// noHealth: the books of an overloaded step agree to the last digit, and nothing
// makes good news of that.
func noHealth(t *testing.T, v *wire.Verdict) {
	t.Helper()
	l := v.Steps[0].LittlesLaw
	if l.OK == nil || !*l.OK || l.Independent || !strings.Contains(l.Note, "identity") {
		t.Errorf("%+v", l)
	}
	for _, f := range v.Findings {
		if strings.Contains(f.Code, "little") || strings.Contains(f.Message, "agree") {
			t.Errorf("%s: %s", f.Code, f.Message)
		}
	}
}

// TestRecommendedBeforeTimesGrow: a server that gains from concurrency carries
// what makes its users wait long. The recommended rate is one that does not.
func TestRecommendedBeforeTimesGrow(t *testing.T) {
	t.Parallel()
	rates := []float64{1, 2, 4, 6, 8, 10, 12}
	for seed := range uint64(6) {
		for _, c := range []struct {
			deadline float64
			want     float64
		}{{1.8, 4}, {2.7, 6}} {
			v := llmOpen(t, seed, sim.Poisson(), 105, some(c.deadline), rates...)
			if v.Knee.State != "found" || v.Knee.Capacity == nil || v.Knee.Shape == nil || *v.Knee.Shape != "saturation" {
				t.Errorf("seed %d: %+v", seed, v.Knee)
				continue
			}
			near(t, "capacity", v.Knee.Capacity.Value, 10.4, 0.06)
			near(t, "recommended", v.Knee.Recommended, c.want, 0)
			for _, s := range v.Steps {
				if *s.Offered <= 8 && s.Class != wire.ClassStable || *s.Offered == 12 && s.Class == wire.ClassStable {
					t.Errorf("seed %d: %g/s is %s", seed, *s.Offered, s.Class)
				}
			}
		}
	}
}
