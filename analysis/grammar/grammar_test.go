package grammar_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/grammar"
)

func ptr(v float64) *float64 { return &v }

func TestParseSchedule(t *testing.T) {
	t.Parallel()
	check := func(text string, want grammar.Schedule) {
		t.Helper()
		got, err := grammar.ParseSchedule(text)
		if err != nil {
			t.Errorf("ParseSchedule(%q): %v", text, err)
			return
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("ParseSchedule(%q) (-want +got):\n%s", text, diff)
		}
	}
	check("constant:100/s x 60s", grammar.Schedule{Process: "constant", Steps: []wire.DeclareStep{{RatePerS: 100, DurationS: 60}}})
	check(" poisson:6000/m x1m30s ", grammar.Schedule{Process: "poisson", Steps: []wire.DeclareStep{{RatePerS: 100, DurationS: 90}}})
	check("constant:100/s × 60s", grammar.Schedule{Process: "constant", Steps: []wire.DeclareStep{{RatePerS: 100, DurationS: 60}}})
	check("max=constant:100/s x 60s", grammar.Schedule{Process: "constant", Steps: []wire.DeclareStep{{Name: "max", RatePerS: 100, DurationS: 60}}})
	check("ramp:0/s..10/s x 5s", grammar.Schedule{Process: "constant", Steps: []wire.DeclareStep{{ToRate: ptr(10), DurationS: 5}}})
	check("constant:100/s x 60s, pause x 10s, poisson:200/s x 60s, ramp:50/s..150/s x 60s", grammar.Schedule{
		Steps: []wire.DeclareStep{
			{RatePerS: 100, DurationS: 60, PauseS: 10, Process: "constant"},
			{RatePerS: 200, DurationS: 60, Process: "poisson"},
			{RatePerS: 50, ToRate: ptr(150), DurationS: 60},
		},
	})
}

func TestParseScheduleRefuses(t *testing.T) {
	t.Parallel()
	check := func(text, want string) {
		t.Helper()
		_, err := grammar.ParseSchedule(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseSchedule(%q) = %v, want an error with %q", text, err, want)
		}
	}
	check("", "it is empty")
	check("constant:100/s x 60s,", "item 2: it is empty")
	check("constant:100/s", "has no length")
	check("constant:100 x 60s", "has no unit")
	check("constant:100/d x 60s", "unknown unit")
	check("constant:-5/s x 60s", "is not a number")
	check("constant:Inf/s x 60s", "is not a number")
	check("constant:1e300/s x 60s", "is not within")
	check("constant:0/s x 60s", "write a pause")
	check("constant:100/s x 0s", "is not within")
	check("constant:100/s x 60", "is not understood")
	check("pause x 10s, constant:1/s x 1s", "begin with a pause")
	check("steady:100/s x 60s", "not an arrival process")
	check("ramp:100/s x 60s", "has no end")
	check("a b=constant:100/s x 60s", "may not hold spaces")
	check(strings.Repeat("x", 1<<17), "longer than")
}

func TestParseObjective(t *testing.T) {
	t.Parallel()
	check := func(text string, want wire.Objective) {
		t.Helper()
		got, err := grammar.ParseObjective(text)
		if err != nil {
			t.Errorf("ParseObjective(%q): %v", text, err)
			return
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("ParseObjective(%q) (-want +got):\n%s", text, diff)
		}
	}
	check("p99<300ms", wire.Objective{Quantile: ptr(0.99), MaxS: ptr(0.3)})
	check(" p99.9 <= 1m30s ", wire.Objective{Quantile: ptr(0.999), MaxS: ptr(90)})
	check("p999<2s", wire.Objective{Quantile: ptr(0.999), MaxS: ptr(2)})
	check("p5<1ms", wire.Objective{Quantile: ptr(0.05), MaxS: ptr(0.001)})
	check("error<1%", wire.Objective{ErrorRatioMax: ptr(0.01)})
	check("error<=0.25", wire.Objective{ErrorRatioMax: ptr(0.25)})
	check("goodput>=99%", wire.Objective{GoodputRatioMin: ptr(0.99)})
	check("carry>450/s", wire.Objective{MustCarryPerS: ptr(450)})
	check("carry>=27000/m", wire.Objective{MustCarryPerS: ptr(450)})
	check("scenario:checkout step:peak p50<1s",
		wire.Objective{Scenario: "checkout", Step: "peak", Quantile: ptr(0.5), MaxS: ptr(1)})
	check("step:peak error<0", wire.Objective{Step: "peak", ErrorRatioMax: ptr(0)})
}

func TestParseObjectiveRefuses(t *testing.T) {
	t.Parallel()
	check := func(text, want string) {
		t.Helper()
		_, err := grammar.ParseObjective(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseObjective(%q) = %v, want an error with %q", text, err, want)
		}
	}
	check("", "allowed are")
	check("p99", "allowed are")
	check("mean<3s", "cannot be promised")
	check("p99>300ms", "wrong way round")
	check("goodput<99%", "wrong way round")
	check("p99<300", "is not understood")
	check("p100<1s", "not a quantile")
	check("p0<1s", "not a quantile")
	check("p99.<1s", "not a quantile")
	check("p123.4<1s", "not a quantile")
	check("error<101%", "is not within")
	check("error<one", "is not a number")
	check("carry>=450", "has no unit")
	check("carry>=0/s", "promises nothing")
	check("step:peak", "nothing follows")
	check("step:a step:b p99<1s", "named twice")
	check("scenario:a=b p99<1s", "may not hold")
	check("p99<1s "+strings.Repeat("x", 1<<17), "longer than")
}

func TestQuantileName(t *testing.T) {
	t.Parallel()
	for q, want := range map[float64]string{0.5: "p50", 0.05: "p05", 0.99: "p99", 0.999: "p99.9", 0.9999: "p99.99"} {
		if got := grammar.QuantileName(q); got != want {
			t.Errorf("QuantileName(%v) = %q, want %q", q, got, want)
		}
	}
}

// What is read is written so that it reads the same.
func FuzzParseSchedule(f *testing.F) {
	f.Add("constant:100/s x 60s, pause x 10s, poisson:200/s x 60s, ramp:50/s..150/s x 60s")
	f.Add("a=bursty:0.1/h x 1ns, pause x 1h, pause x 1h")
	f.Add("x=constant:1/sx1s")
	f.Add("constant:1/s × 1s")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := grammar.ParseSchedule(text)
		if err != nil {
			return
		}
		again, err := grammar.ParseSchedule(s.String())
		if err != nil {
			t.Fatalf("%q was written as %q: %v", text, s, err)
		}
		if s.String() != again.String() || len(s.Steps) != len(again.Steps) || s.Process != again.Process {
			t.Fatalf("%q was written as %q and then %q", text, s, again)
		}
	})
}

func FuzzParseObjective(f *testing.F) {
	for _, s := range []string{"p99<300ms", "error<1%", "goodput>=99%", "carry>=450/s", "scenario:a step:b p99.9<=1h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o, err := grammar.ParseObjective(text)
		if err != nil {
			return
		}
		written := grammar.FormatObjective(&o)
		again, err := grammar.ParseObjective(written)
		if err != nil {
			t.Fatalf("%q was written as %q: %v", text, written, err)
		}
		if diff := cmp.Diff(o, again); diff != "" {
			t.Fatalf("%q was written as %q (-first +again):\n%s", text, written, diff)
		}
	})
}
