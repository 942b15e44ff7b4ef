package loadtest_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"

	"github.com/plimsoll/plimsoll/collector/loadtest"
)

func TestRunAttributes(t *testing.T) {
	t.Parallel()
	check := func(run loadtest.Run, want map[string]any) {
		t.Helper()
		got := map[string]any{}
		for _, kv := range run.Attributes() {
			got[string(kv.Key)] = kv.Value.AsInterface()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("attributes (-want +got):\n%s", diff)
		}
	}
	check(loadtest.Run{}, map[string]any{})
	check(loadtest.Run{ID: "r1", Deadline: -time.Second}, map[string]any{"loadtest.run.id": "r1"})
	check(loadtest.Run{
		ID: "r1", Name: "orders", Generator: "mine", Scenario: "buy", Step: "push",
		ArrivalModel: loadtest.ModelOpen, ArrivalProcess: loadtest.ProcessPoisson, ArrivalRate: 120,
		Interval: 1500 * time.Millisecond, Deadline: 250 * time.Millisecond,
	}, map[string]any{
		"loadtest.run.id": "r1", "loadtest.run.name": "orders", "loadtest.generator": "mine",
		"loadtest.scenario": "buy", "loadtest.step": "push", "loadtest.arrival.model": "open",
		"loadtest.arrival.process": "poisson", "loadtest.arrival.rate": 120.0,
		"loadtest.expected_interval": 1.5, "loadtest.deadline": 0.25,
	})
}

func TestSpanAttributes(t *testing.T) {
	t.Parallel()
	check := func(got attribute.KeyValue, key string, value any) {
		t.Helper()
		if string(got.Key) != key || got.Value.AsInterface() != value {
			t.Errorf("got %s=%v, want %s=%v", got.Key, got.Value.AsInterface(), key, value)
		}
	}
	check(loadtest.Intended(time.Unix(12, 34)), "loadtest.intended_time_unix_nano", int64(12_000_000_034))
	check(loadtest.Index(0), "loadtest.arrival.index", int64(0))
	check(loadtest.RequestID("a"), "loadtest.request.id", "a")
	check(loadtest.LastAttempt(false), "loadtest.attempt.last", false)
	check(loadtest.FirstByte(250*time.Millisecond), "loadtest.time_to_first_byte", 0.25)
	check(loadtest.OutputTokens(7), "loadtest.output_tokens", int64(7))
	check(loadtest.Scenario("buy"), "loadtest.scenario", "buy")
	check(loadtest.Step("push"), "loadtest.step", "push")
	check(loadtest.Deadline(2*time.Second), "loadtest.deadline", 2.0)
	check(loadtest.ExpectedInterval(time.Minute), "loadtest.expected_interval", 60.0)
}
