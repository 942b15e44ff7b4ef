package runs_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/collector/journal/memory"
	"github.com/plimsoll/plimsoll/collector/runs"
)

func TestDeclare(t *testing.T) {
	t.Parallel()
	f := start(t)
	deadline, other := 2.0, 3.0
	local := noon.In(time.FixedZone("x", 3600))
	d := wire.Declaration{ID: "r", Name: "orders", DeadlineS: &deadline, Start: &local}
	got, created, err := f.Declare(f.ctx, d)
	if err != nil || !created || got.ID != "r" || got.Name != "orders" || !got.StartedAt.Equal(noon) || got.Rows != 0 {
		t.Fatalf("Declare = %+v, %v, %v", got, created, err)
	}
	f.open(f.log.(*memory.Log).Reopen())
	d.Start = &noon
	again, created, err := f.Declare(f.ctx, d)
	if err != nil || created || again.Revision != got.Revision {
		t.Errorf("same again = %+v, %v, %v", again, created, err)
	}
	d.DeadlineS = &other
	if _, _, err := f.Declare(f.ctx, d); !errors.Is(err, runs.ErrDeclaredOtherwise) {
		t.Errorf("other declaration: %v, want ErrDeclaredOtherwise", err)
	}
	f.send(rowed("r", "a", at(0)))
	if ev, err := f.Open(f.ctx, "r"); err != nil || *ev.Run().Declaration.DeadlineS != 2 || ev.Run().Name != "orders" {
		t.Errorf("evidence = %+v, %v", ev, err)
	}

	f.send(rowed("late", "a", at(0)))
	before := f.get("late").Revision
	got, created, err = f.Declare(f.ctx, wire.Declaration{ID: "late", Name: "after the data"})
	if err != nil || !created || got.Rows != 1 || got.Revision <= before {
		t.Errorf("Declare after the data = %+v, %v, %v", got, created, err)
	}
}

func TestDeclareMakesAnID(t *testing.T) {
	t.Parallel()
	f := start(t)
	seen := map[string]bool{}
	for _, name := range []string{"orders", "orders", "", "Bad Näme"} {
		got, created, err := f.Declare(f.ctx, wire.Declaration{Name: name})
		if err != nil || !created || seen[got.ID] || got.Declaration.ID != got.ID || f.get(got.ID).ID != got.ID {
			t.Errorf("Declare(%q) = %+v, %v, %v", name, got, created, err)
		}
		seen[got.ID] = true
	}
}

func TestDeclareTheRunOfASource(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.send(rowed("", "orders", at(0)))
	got, created, err := f.Declare(f.ctx, wire.Declaration{ID: f.get("latest").ID, Name: "x"})
	if err != nil || !created || got.Rows != 1 || got.Name != "x" || len(f.list()) != 1 {
		t.Errorf("Declare = %+v, %v, %v", got, created, err)
	}
}

func TestDeclareListsEveryProblem(t *testing.T) {
	t.Parallel()
	f := start(t)
	n := func(v float64) *float64 { return &v }
	long := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	_, _, err := f.Declare(f.ctx, wire.Declaration{
		ID: "a\x00", Name: strings.Repeat("x", 300), DeadlineS: n(-1), TimeoutS: n(math.Inf(1)), Users: n(0),
		ExpectedIntervalS: n(math.NaN()), CapacityPerS: n(-5), Population: "some",
		Arrival: &wire.Arrival{Model: "ajar", Process: "odd"}, Start: &long, Targets: []string{""},
		Steps: []wire.DeclareStep{
			{RatePerS: -1, DurationS: 0, WarmupS: -1, PauseS: math.NaN()},
			{RatePerS: 1, ToRate: n(-1), DurationS: 1e12, WarmupS: 1e13, Process: "odd", Name: "\x1b"},
		},
		Objectives: []wire.Objective{
			{},
			{Quantile: n(1), MaxS: n(1)},
			{Quantile: n(0.5)},
			{MaxS: n(0)},
			{ErrorRatioMax: n(2)},
			{GoodputRatioMin: n(-1)},
			{MustCarryPerS: n(0)},
		},
	})
	e, ok := errors.AsType[*runs.InvalidError](err)
	if !ok {
		t.Fatalf("Declare: %v, want InvalidError", err)
	}
	all := strings.Join(e.Problems, "\n")
	for _, want := range []string{
		"run id", "name is longer", "deadline_s must be a positive", "timeout_s is too large", "users", "expected_interval_s", "capacity_per_s",
		"population", "arrival model", "arrival process", "start", "target 0 is empty", "step 0: rate_per_s must not be negative",
		"step 0: duration_s", "step 0: warmup_s", "step 0: pause_s", "step 1: to_rate_per_s", "step 1: process",
		"step 1: name", "step 1: warmup_s", "ten years", "objective 0: it has no condition", "objective 1: quantile",
		"objective 2: quantile and max_s", "objective 3: max_s", "objective 4: error_ratio_max",
		"objective 5: goodput_ratio_min", "objective 6: must_carry_per_s",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("problems do not name %q:\n%s", want, all)
		}
	}
	if len(f.list()) != 0 {
		t.Error("a refused declaration made a run")
	}
}
