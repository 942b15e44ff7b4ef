package verdict_test

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/verdict"
)

func guess(v, lo, hi float64) wire.Estimate {
	return wire.Estimate{Value: &v, Lo: &lo, Hi: &hi, Confidence: 0.95}
}

// sideOf is a run of one steady step of 60 s with the given rate and p99.
func sideOf(name string, offered, completed float64, p99 wire.Estimate) *wire.Verdict {
	grade := "A"
	return &wire.Verdict{
		Run: wire.Run{ID: "run-" + name, Grade: &grade}, Audit: wire.Audit{Valid: true},
		Steps: []wire.Step{{
			Name: name, Offered: &offered, Completed: &completed, DurationS: 60, Due: int64(offered * 60), Class: wire.ClassStable,
			ResponseTime: wire.Response{Valid: true, Steady: true, Grade: &grade, P50: p99, P95: p99, P99: p99},
		}},
	}
}

func TestCompareJoinsIntervals(t *testing.T) {
	t.Parallel()
	c := verdict.Compare(sideOf("peak", 100, 100, guess(2, 1.8, 2.4)), sideOf("peak", 100, 100, guess(1, 0.9, 1.3)))
	d := c.Steps[0].P99
	near := func(name string, got *float64, want float64) {
		t.Helper()
		if got == nil || math.Abs(*got-want) > 1e-12 {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	near("change", d.Change.Value, -1)
	near("lo", d.Change.Lo, -1-math.Hypot(0.1, 0.4))
	near("hi", d.Change.Hi, -1+math.Hypot(0.3, 0.2))
	if d.Says != wire.Better {
		t.Errorf("a shorter p99 says %q", d.Says)
	}
	// 100/s over 60 s: 6000 ± 1.96·√6000, per second.
	near("completed lo", c.Steps[0].Completed.Before.Lo, 100-1.959963984540054*math.Sqrt(6000)/60)
	if got := c.Steps[0].Completed.Says; got != wire.Unclear {
		t.Errorf("equal rates say %q", got)
	}
}

func TestCompareSaysWhichWayIsBetter(t *testing.T) {
	t.Parallel()
	fast, slow := guess(1, 0.9, 1.1), guess(2, 1.9, 2.1)
	few, many := 80.0, 120.0
	c := verdict.Compare(sideOf("", 120, few, fast), sideOf("", 120, many, slow))
	if got := c.Steps[0].Completed.Says; got != wire.Better {
		t.Errorf("more completions say %q", got)
	}
	if got := c.Steps[0].P99.Says; got != wire.Worse {
		t.Errorf("a longer p99 says %q", got)
	}
}

func TestCompareRefusesTimesThatAreNotAlike(t *testing.T) {
	t.Parallel()
	p := guess(1, 0.9, 1.1)
	check := func(want string, change func(s *wire.Step)) {
		t.Helper()
		after := sideOf("peak", 100, 100, p)
		change(&after.Steps[0])
		got := verdict.Compare(sideOf("peak", 100, 100, p), after).Steps[0]
		if got.P99 != nil || !strings.Contains(got.Reason, want) {
			t.Errorf("p99 = %v, reason %q, want one with %q", got.P99, got.Reason, want)
		}
		if got.Completed == nil {
			t.Error("rates are compared all the same")
		}
	}
	check("not steady", func(s *wire.Step) { s.ResponseTime.Steady = false })
	check("4.1 % dropped", func(s *wire.Step) { s.ResponseTime.Valid, s.ResponseTime.Reason = false, "4.1 % dropped" })
	check("no percentiles", func(s *wire.Step) { s.ResponseTime.Valid = false })
	grade := "S"
	check("grade A before, S after", func(s *wire.Step) { s.ResponseTime.Grade = &grade })
}

func TestCompareMatchesSteps(t *testing.T) {
	t.Parallel()
	run := func(steps ...string) *wire.Verdict {
		v := &wire.Verdict{Audit: wire.Audit{Valid: true}}
		for i, s := range steps {
			name, rate, _ := strings.Cut(s, "@")
			step := wire.Step{Index: i, Name: name}
			if rate != "" {
				r := float64(len(rate)) * 100
				step.Offered = &r
			}
			v.Steps = append(v.Steps, step)
		}
		return v
	}
	check := func(before, after *wire.Verdict, want string) {
		t.Helper()
		var got []string
		for _, s := range verdict.Compare(before, after).Steps {
			side := func(i *int) string {
				if i == nil {
					return "-"
				}
				return string(rune('0' + *i))
			}
			got = append(got, side(s.Before)+side(s.After))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("pairs %v, want %s", got, want)
		}
	}
	check(run("a", "b"), run("b", "a"), "01 10")                // by name
	check(run("@x", "@xx"), run("@xx", "@x"), "01 10")          // by rate
	check(run("@x", "@xx", "@x"), run("@x", "@x"), "00 1- 21")  // equal rates in order
	check(run("@x", "@xx", "@x"), run("@xx", "@x"), "0- 10 21") // the return with the return
	check(run("a@x"), run("b@x", "c@xx"), "00 -1")              // named otherwise, of the same rate
	check(run(), run("a"), "-0")                                // nothing before
	check(run("a@x", "@x"), run("@x", "a@x"), "01 10")          // a name comes before a rate
	check(run("a", "noRate"), run("other"), "0- 1- -0")         // no rate, no match
	check(run("a", "a"), run("a", "a"), "00 11")                // equal names in order
}

func TestCompareNotesWhatIsUnlike(t *testing.T) {
	t.Parallel()
	a, b := sideOf("x", 1, 1, guess(1, 1, 1)), sideOf("x", 1, 1, guess(1, 1, 1))
	if got := verdict.Compare(a, b).Notes; len(got) != 1 || !strings.Contains(got[0], "same run") {
		t.Errorf("notes on a run and itself: %q", got)
	}
	two := 2.0
	b.Run.ID, b.Run.Generator, b.Run.DeadlineS, b.Audit.Valid = "other", "k6", &two, false
	got := strings.Join(verdict.Compare(a, b).Notes, "\n")
	for _, want := range []string{"Generators differ: none before, k6 after", "Deadlines differ: none before, 2 s after", "cannot be trusted"} {
		if !strings.Contains(got, want) {
			t.Errorf("notes %q lack %q", got, want)
		}
	}
}

func TestCompareIsAntisymmetric(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) wire.Estimate {
			v := rapid.Float64Range(0, 1e3).Draw(t, name)
			return guess(v, v-rapid.Float64Range(0, 10).Draw(t, name+" lo"), v+rapid.Float64Range(0, 10).Draw(t, name+" hi"))
		}
		a, b := sideOf("x", 100, 90, draw("a")), sideOf("x", 100, 90, draw("b"))
		ab, ba := verdict.Compare(a, b).Steps[0].P99, verdict.Compare(b, a).Steps[0].P99
		if *ab.Change.Lo != -*ba.Change.Hi || *ab.Change.Hi != -*ba.Change.Lo {
			t.Fatalf("%v and %v are not each other's negative", ab.Change, ba.Change)
		}
		if *ab.Change.Lo > *ab.Change.Value || *ab.Change.Hi < *ab.Change.Value {
			t.Fatalf("%v does not hold its value", ab.Change)
		}
		mirror := map[string]string{wire.Better: wire.Worse, wire.Worse: wire.Better, wire.Unclear: wire.Unclear}
		if mirror[ab.Says] != ba.Says {
			t.Fatalf("%s one way, %s the other", ab.Says, ba.Says)
		}
	})
}

// TestCompareRefusesAnotherLoad: what a step of the same name completed under less
// load is no change of the service.
func TestCompareRefusesAnotherLoad(t *testing.T) {
	t.Parallel()
	p := guess(1, 0.9, 1.1)
	got := verdict.Compare(sideOf("peak", 500, 500, p), sideOf("peak", 400, 400, p)).Steps[0]
	if got.Completed != nil || got.P99 != nil || got.FailureRatio != nil || got.Reason != "500/s were offered before, 400/s after: another load" {
		t.Errorf("%+v", got)
	}
}

// TestCompareClosedLoops: the rate of a closed loop is what the service made of it.
func TestCompareClosedLoops(t *testing.T) {
	t.Parallel()
	p := guess(1, 0.9, 1.1)
	before, after := sideOf("peak", 400, 400, p), sideOf("peak", 500, 500, p)
	before.Audit.Loop, after.Audit.Loop = "closed", "closed"
	if got := verdict.Compare(before, after).Steps[0].Completed; got == nil || got.Says != wire.Better {
		t.Errorf("%+v", got)
	}
}
