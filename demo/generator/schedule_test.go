package generator_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/plimsoll/plimsoll/demo/generator"
)

func TestArrivals(t *testing.T) {
	t.Parallel()
	s := generator.Schedule{
		{Rate: 2, Duration: 2 * time.Second},
		{Rate: 3, Duration: time.Second},
	}
	var got []time.Duration
	for a := range s.Arrivals() {
		if a.Index != len(got) {
			t.Errorf("index %d at place %d", a.Index, len(got))
		}
		got = append(got, a.After)
	}
	want := []time.Duration{0, 500e6, 1000e6, 1500e6, 2000e6, 2333333333, 2666666667}
	if !slices.Equal(got, want) {
		t.Errorf("arrivals = %v, want %v", got, want)
	}
	if s.Count() != len(want) || s.Duration() != 3*time.Second {
		t.Errorf("count %d, duration %v", s.Count(), s.Duration())
	}
	for range s.Arrivals() {
		break // a caller may stop early
	}
}

func TestStepAt(t *testing.T) {
	t.Parallel()
	s := generator.Schedule{{Duration: time.Second}, {Duration: 2 * time.Second}}
	check := func(after time.Duration, step int, ok bool) {
		t.Helper()
		if i, got := s.At(after); i != step || got != ok {
			t.Errorf("At(%v) = %d, %v", after, i, got)
		}
	}
	check(0, 0, true)
	check(time.Second-1, 0, true)
	check(time.Second, 1, true)
	check(3*time.Second-1, 1, true)
	check(3*time.Second, 0, false)
}

// Arrivals never drift: the k-th of a step is within a nanosecond of k/rate, and
// lies in the step that it names.
func TestArrivalsProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s generator.Schedule
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			s = append(s, generator.Step{
				Rate:     rapid.Float64Range(0.1, 2000).Draw(t, "rate"),
				Duration: time.Duration(rapid.IntRange(1, 3000).Draw(t, "ms")) * time.Millisecond,
			})
		}
		count, previous := 0, time.Duration(-1)
		perStep := make([]int, len(s))
		for a := range s.Arrivals() {
			if a.After <= previous {
				t.Fatalf("arrival %d at %v is not after %v", a.Index, a.After, previous)
			}
			if step, ok := s.At(a.After); !ok || step != a.Step {
				t.Fatalf("arrival %d at %v of step %d lies in step %d, %v", a.Index, a.After, a.Step, step, ok)
			}
			perStep[a.Step]++
			previous = a.After
			count++
		}
		for i, n := range perStep {
			exact := s[i].Rate * s[i].Duration.Seconds()
			if n != s[i].Count() || float64(n) < exact-1e-6 || float64(n) > exact+1 {
				t.Fatalf("step %d has %d arrivals, want about %v", i, n, exact)
			}
		}
		if count != s.Count() {
			t.Fatalf("%d arrivals, want %d", count, s.Count())
		}
	})
}

func TestScheduleValidate(t *testing.T) {
	t.Parallel()
	check := func(s generator.Schedule, want string) {
		t.Helper()
		err := s.Validate()
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error = %v, want %q", s, err, want)
		}
	}
	check(nil, "at least one step")
	check(generator.Schedule{{Rate: 0, Duration: 1}}, "rate")
	check(generator.Schedule{{Rate: 1e9, Duration: 1}}, "rate")
	check(generator.Schedule{{Rate: 1, Duration: 0}}, "duration")
	check(generator.Schedule{{Rate: 1, Duration: time.Second}}, "")
}
