package loadtest

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
)

// Run describes one generator process. Fields left zero are not sent, so that
// "not stated" never looks like a value.
type Run struct {
	ID             string        // RunIDKey
	Name           string        // RunNameKey
	Generator      string        // GeneratorKey
	Scenario       string        // ScenarioKey, when the process has only one
	Step           string        // StepKey, when the process has only one
	ArrivalModel   string        // ArrivalModelKey
	ArrivalProcess string        // ArrivalProcessKey
	ArrivalRate    float64       // ArrivalRateKey, requests per second
	Interval       time.Duration // ExpectedIntervalKey, of one closed-loop worker
	Deadline       time.Duration // DeadlineKey
}

// Attributes returns the run as resource attributes, for resource.New or
// resource.WithAttributes of any SDK.
func (r Run) Attributes() []attribute.KeyValue {
	out := make([]attribute.KeyValue, 0, 10)
	text := func(key, value string) {
		if value != "" {
			out = append(out, attribute.String(key, value))
		}
	}
	number := func(key string, value float64) {
		if value > 0 {
			out = append(out, attribute.Float64(key, value))
		}
	}
	text(RunIDKey, r.ID)
	text(RunNameKey, r.Name)
	text(GeneratorKey, r.Generator)
	text(ScenarioKey, r.Scenario)
	text(StepKey, r.Step)
	text(ArrivalModelKey, r.ArrivalModel)
	text(ArrivalProcessKey, r.ArrivalProcess)
	number(ArrivalRateKey, r.ArrivalRate)
	number(ExpectedIntervalKey, r.Interval.Seconds())
	number(DeadlineKey, r.Deadline.Seconds())
	return out
}

// Intended says when the request was due. Take it from the schedule, never
// from the clock at the time of sending, and repeat it on every attempt.
func Intended(t time.Time) attribute.KeyValue {
	return attribute.Int64(IntendedTimeKey, t.UnixNano())
}

// Index is the request's place in the schedule, counted from 0.
func Index(i int64) attribute.KeyValue { return attribute.Int64(IndexKey, i) }

// RequestID joins the attempts of one request. It must be unique within the run.
func RequestID(id string) attribute.KeyValue { return attribute.String(RequestIDKey, id) }

// LastAttempt says whether the generator will make no further attempt. Decide
// it before the attempt's span ends; attributes set later are lost.
func LastAttempt(last bool) attribute.KeyValue { return attribute.Bool(LastAttemptKey, last) }

// FirstByte says how long after the send the first byte or token of the answer
// came.
func FirstByte(after time.Duration) attribute.KeyValue {
	return attribute.Float64(FirstByteKey, after.Seconds())
}

// OutputTokens says how many tokens the answer had.
func OutputTokens(n int) attribute.KeyValue { return attribute.Int(OutputTokensKey, n) }

// Scenario names the stream of requests within the run.
func Scenario(name string) attribute.KeyValue { return attribute.String(ScenarioKey, name) }

// Step names the load step that the request belongs to.
func Step(name string) attribute.KeyValue { return attribute.String(StepKey, name) }

// Deadline is the client's patience for this request.
func Deadline(d time.Duration) attribute.KeyValue {
	return attribute.Float64(DeadlineKey, d.Seconds())
}

// ExpectedInterval is the pacing of one closed-loop worker.
func ExpectedInterval(d time.Duration) attribute.KeyValue {
	return attribute.Float64(ExpectedIntervalKey, d.Seconds())
}
