package metastability_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll/plimsoll/analysis/metastability"
)

func spans(t *rapid.T, from, most int, name string) []metastability.Span {
	n := rapid.IntRange(0, most).Draw(t, name)
	out := make([]metastability.Span, n)
	for i := range out {
		s := metastability.Span{FromS: float64(from + i), ToS: float64(from + i + 1), Due: rapid.Int64Range(0, 200).Draw(t, "due")}
		s.Good = rapid.Int64Range(0, s.Due).Draw(t, "good")
		s.Completed = rapid.Int64Range(0, 200).Draw(t, "completed")
		s.Attempts = s.Due * rapid.Int64Range(1, 3).Draw(t, "attempts")
		s.Timeouts = s.Due - s.Good
		s.InFlight = float64(rapid.IntRange(0, 1000).Draw(t, "in flight"))
		s.MedianS = rapid.SampledFrom([]float64{math.NaN(), 0, 0.01, 0.5, 3}).Draw(t, "median")
		out[i] = s
	}
	return out
}

func input(t *rapid.T) metastability.Input {
	return metastability.Input{
		Before: spans(t, 0, 12, "before"), Push: spans(t, 12, 6, "push"), After: spans(t, 18, 30, "after"),
		Capacity: rapid.SampledFrom([]float64{0, 50, 100, 400}).Draw(t, "capacity"), LowerBound: rapid.Bool().Draw(t, "bound"),
	}
}

func TestResultHangsTogether(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := input(t)
		r := metastability.Judge(in)
		tested := len(in.Push) > 0 && len(in.After) > 0
		if (r.State == metastability.NotTested) == tested || r.Reason == "" || r.WatchedS != float64(len(in.After)) {
			t.Fatalf("%+v", r)
		}
		if (r.State == metastability.Recovered) != (r.RecoveredAfterS != nil) || (r.State == metastability.Draining) != (r.EtaS != nil) {
			t.Fatalf("%+v", r)
		}
		if r.EtaS != nil && !(*r.EtaS >= 0 && *r.EtaS < math.Inf(1)) || r.RecoveredAfterS != nil && *r.RecoveredAfterS > r.WatchedS-5 {
			t.Fatalf("%+v", r)
		}
		for _, s := range r.Signals {
			if math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
				t.Fatalf("%+v", s)
			}
		}
	})
}

// TestClockDoesNotMatter shifts all times.
func TestClockDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := input(t)
		shift := float64(rapid.IntRange(-1_000_000, 1_000_000).Draw(t, "shift"))
		other := in
		for _, p := range []*[]metastability.Span{&other.Before, &other.Push, &other.After} {
			moved := append([]metastability.Span(nil), *p...)
			for i := range moved {
				moved[i].FromS += shift
				moved[i].ToS += shift
			}
			*p = moved
		}
		a, b := metastability.Judge(in), metastability.Judge(other)
		if a.State != b.State || (a.RecoveredAfterS != nil && *a.RecoveredAfterS != *b.RecoveredAfterS) ||
			a.EtaS != nil && math.Abs(*a.EtaS-*b.EtaS) > 1e-6**a.EtaS {
			t.Fatalf("%+v\n%+v", a, b)
		}
	})
}

// TestHealthyIsNeverWorse: after a push that left nothing behind, whatever the rate.
func TestHealthyIsNeverWorse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Int64Range(1, 5000).Draw(t, "rate")
		watch := rapid.IntRange(10, 200).Draw(t, "watch")
		r := metastability.Judge(metastability.Input{
			Before: phase(0, rapid.IntRange(0, 60).Draw(t, "before"), fine(rate)), Push: phase(60, 30, drowned(2*rate, 1)),
			After: phase(90, watch, fine(rate)), Capacity: rapid.SampledFrom([]float64{0, 1.5 * float64(rate)}).Draw(t, "capacity"),
		})
		if r.State != metastability.Recovered || *r.RecoveredAfterS != 0 {
			t.Fatalf("%s: %s", r.State, r.Reason)
		}
	})
}
