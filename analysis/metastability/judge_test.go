package metastability_test

import (
	"math"
	"slices"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/metastability"
)

// phase makes spans of one second that all look alike.
func phase(from, seconds int, s metastability.Span) []metastability.Span {
	out := make([]metastability.Span, seconds)
	for i := range out {
		s.FromS, s.ToS = float64(from+i), float64(from+i+1)
		out[i] = s
	}
	return out
}

func fine(rate int64) metastability.Span {
	return metastability.Span{Due: rate, Good: rate, Completed: rate, Attempts: rate, InFlight: float64(rate) / 20, MedianS: 0.05}
}

// drowned is load of which nothing is answered in time, each request tried so often.
func drowned(rate, attempts int64) metastability.Span {
	return metastability.Span{Due: rate, Attempts: rate * attempts, Timeouts: rate, InFlight: float64(rate) * 6, MedianS: 6}
}

// falls is carried load whose backlog goes from n at so much per second.
func falls(spans []metastability.Span, n, by float64) []metastability.Span {
	for i := range spans {
		if left := n - by*float64(i); left > spans[i].InFlight {
			spans[i].InFlight = left
			spans[i].MedianS = left / 460
			spans[i].Good, spans[i].Completed = 0, 460
		}
	}
	return spans
}

func signal(t *testing.T, r *metastability.Result, name string) float64 {
	t.Helper()
	i := slices.IndexFunc(r.Signals, func(s metastability.Signal) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("no signal %q in %v", name, r.Signals)
	}
	return r.Signals[i].Value
}

// TestPublished: 600/s for 5 min, then 300/s for 25 min, three attempts and no budget.
func TestPublished(t *testing.T) {
	t.Parallel()
	r := metastability.Judge(metastability.Input{
		Push: phase(0, 300, drowned(600, 3)), After: phase(300, 1500, drowned(300, 3)), Capacity: 460,
	})
	if r.State != metastability.Sustained || r.WatchedS != 1500 || r.RecoveredAfterS != nil || r.EtaS != nil {
		t.Errorf("%s: %s", r.State, r.Reason)
	}
	if a, v := signal(t, &r, metastability.SignalPerRequest), signal(t, &r, metastability.SignalPerS); a != 3 || v != 900 {
		t.Errorf("%v attempts per request, %v/s", a, v)
	}
	want := "900 attempts/s, 3 per request, are more than the 460/s that it can do: not recovered in the 1500 s watched"
	if r.Reason != want {
		t.Errorf("reason %q", r.Reason)
	}
}

// TestPublishedBudget: 1.1 attempts per request that are answered are nothing to report.
func TestPublishedBudget(t *testing.T) {
	t.Parallel()
	calm := fine(300)
	calm.Attempts = 330
	r := metastability.Judge(metastability.Input{
		Push: phase(0, 300, drowned(600, 1)), After: phase(300, 1500, calm), Capacity: 460,
	})
	if r.State != metastability.Recovered || *r.RecoveredAfterS != 0 || !slices.Contains(r.Warnings, metastability.WarnNoBase) {
		t.Errorf("%s: %s", r.State, r.Reason)
	}
}

// TestPublishedReturn: 700/s to 300/s, in range again after 11 s, with and without
// a base from before.
func TestPublishedReturn(t *testing.T) {
	t.Parallel()
	in := metastability.Input{
		Before: phase(-60, 60, fine(300)), Push: phase(0, 360, fine(460)),
		After: falls(phase(360, 360, fine(300)), 11*160, 160), Capacity: 460,
	}
	for range 2 {
		r := metastability.Judge(in)
		if r.State != metastability.Recovered || math.Abs(*r.RecoveredAfterS-11) > 0.5 {
			t.Errorf("%s: %s", r.State, r.Reason)
		}
		in.Before = nil
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	base, push := phase(0, 60, fine(60)), phase(60, 30, drowned(150, 1))
	slow := fine(60)
	slow.Good, slow.Completed, slow.InFlight, slow.MedianS = 30, 30, 400, 8
	late := fine(60)
	late.MedianS, late.InFlight = 0.2, 12
	noisy := phase(90, 60, fine(60))
	noisy[57].InFlight = 500
	for _, c := range []struct {
		name     string
		after    []metastability.Span
		capacity float64
		bound    bool
		want     metastability.State
		eta      float64 // NaN: none
		warnings []string
	}{
		{"at once", phase(90, 60, fine(60)), 100, false, metastability.Recovered, math.NaN(), nil},
		{"drains in sight", falls(phase(90, 20, fine(60)), 1500, 40), 100, false, metastability.Draining, 700.0 / 40, nil},
		{"retries above capacity", phase(90, 60, drowned(60, 2)), 100, false, metastability.Sustained, math.NaN(), nil},
		{
			"retries below capacity", phase(90, 20, drowned(30, 3)), 100, false, metastability.Draining,
			(150*30 + 90*20 - 100*50) / 10, nil,
		},
		{"retries below capacity for longer than the books allow", phase(90, 200, drowned(30, 3)), 100, false, metastability.Degraded, math.NaN(), nil},
		{
			"retries just above what was seen", phase(90, 60, drowned(30, 2)), 60, true, metastability.Undecided, math.NaN(),
			[]string{metastability.WarnCapacityBound},
		},
		{
			"retries far above what was seen", phase(90, 60, drowned(30, 3)), 60, true, metastability.Sustained, math.NaN(),
			[]string{metastability.WarnCapacityBound},
		},
		{"slower than before", phase(90, 60, slow), 100, false, metastability.Degraded, math.NaN(), nil},
		{"all answered but four times as late", phase(90, 60, late), 100, false, metastability.Undecided, math.NaN(), nil},
		{"a bad second close to the end", noisy, 100, false, metastability.Undecided, math.NaN(), nil},
		{"two seconds", phase(90, 2, fine(60)), 100, false, metastability.Undecided, math.NaN(), []string{metastability.WarnShortWatch}},
		{"nothing due", phase(90, 60, metastability.Span{MedianS: math.NaN()}), 100, false, metastability.Recovered, math.NaN(), nil},
		{"nothing after", nil, 100, false, metastability.NotTested, math.NaN(), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := metastability.Judge(metastability.Input{Before: base, Push: push, After: c.after, Capacity: c.capacity, LowerBound: c.bound})
			if r.State != c.want || r.Reason == "" || !slices.Equal(r.Warnings, c.warnings) {
				t.Errorf("%s: %s %v", r.State, r.Reason, r.Warnings)
			}
			if (r.EtaS == nil) != math.IsNaN(c.eta) || r.EtaS != nil && math.Abs(*r.EtaS/c.eta-1) > 0.1 {
				t.Errorf("eta %v, want %v", r.EtaS, c.eta)
			}
		})
	}
}

// TestServerSideOverrulesBooks: a server that is seen to work below its capacity
// does not drain by the books.
func TestServerSideOverrulesBooks(t *testing.T) {
	t.Parallel()
	after := phase(90, 20, drowned(30, 3))
	for i := range after {
		n := 40.0
		after[i].Abandoned = &n
	}
	r := metastability.Judge(metastability.Input{Before: phase(0, 60, fine(30)), Push: phase(60, 30, drowned(150, 1)), After: after, Capacity: 100})
	if r.State != metastability.Degraded || signal(t, &r, metastability.SignalAbandoned) != 40 || signal(t, &r, metastability.SignalWastedShare) != 1 {
		t.Errorf("%s: %s", r.State, r.Reason)
	}
}

func TestUnusableSpansAreCounted(t *testing.T) {
	t.Parallel()
	after := append(phase(90, 60, fine(60)), metastability.Span{FromS: 9, ToS: 9}, metastability.Span{FromS: 150, ToS: 151, InFlight: math.NaN()})
	r := metastability.Judge(metastability.Input{Before: phase(0, 60, fine(60)), Push: phase(60, 30, drowned(150, 1)), After: after, Capacity: 100})
	if r.State != metastability.Recovered || r.Ignored != 2 || !slices.Contains(r.Warnings, metastability.WarnIgnored) {
		t.Errorf("%s, %d ignored, %v", r.State, r.Ignored, r.Warnings)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	ok := func(rate float64) metastability.StepRate { return metastability.StepRate{PerS: rate, Fine: true} }
	counted := func(rate, sd float64) metastability.StepRate {
		return metastability.StepRate{PerS: rate, SD: sd, Fine: true}
	}
	past := func(rate float64) metastability.StepRate { return metastability.StepRate{PerS: rate, Past: true} }
	unclear := func(rate float64) metastability.StepRate { return metastability.StepRate{PerS: rate} }
	for _, c := range []struct {
		name       string
		steps      []metastability.StepRate
		push, back int
		ok         bool
	}{
		{"push and recovery", []metastability.StepRate{ok(60), past(150), ok(60)}, 1, 2, true},
		{"push and no recovery", []metastability.StepRate{ok(60), past(150), past(60)}, 1, 2, true},
		{"no base", []metastability.StepRate{past(600), past(300)}, 0, 1, true},
		{"a sweep of which every level is past, and back", []metastability.StepRate{past(500), past(550), past(600), past(700), ok(300)}, 0, 4, true},
		{"a sweep and back", []metastability.StepRate{ok(200), ok(400), past(500), past(600), ok(300)}, 2, 4, true},
		{"rates that were counted", []metastability.StepRate{counted(30.2, 0.7), past(77), {PerS: 31.8, SD: 0.5, Past: true}}, 1, 2, true},
		{"down by stairs", []metastability.StepRate{ok(400), past(700), past(550), ok(300)}, 1, 3, true},
		{"back to more than was fine", []metastability.StepRate{ok(60), past(150), ok(100)}, 0, 0, false},
		{"a sweep", []metastability.StepRate{ok(200), ok(400), past(500), past(600)}, 0, 0, false},
		{"all fine", []metastability.StepRate{ok(200), ok(400), ok(200)}, 0, 0, false},
		{"a push that nothing is known of", []metastability.StepRate{ok(200), unclear(400), ok(200)}, 0, 0, false},
		{"hardly lower, no base", []metastability.StepRate{past(600), past(580)}, 0, 0, false},
		{"a straggler after the load", []metastability.StepRate{past(600), ok(0.1)}, 0, 0, false},
		{"a straggler after a sweep", []metastability.StepRate{ok(200), past(600), ok(0.1)}, 0, 0, false},
		{"a small base", []metastability.StepRate{ok(20), past(1000), ok(20)}, 1, 2, true},
		{"one step", []metastability.StepRate{past(600)}, 0, 0, false},
		{"none", nil, 0, 0, false},
	} {
		push, back, found := metastability.Find(c.steps)
		if push != c.push || back != c.back || found != c.ok {
			t.Errorf("%s: %d, %d, %v", c.name, push, back, found)
		}
	}
}
