package fold

import (
	"strings"

	"github.com/plimsoll/plimsoll/analysis/queues"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Own is what a generator's metric says about the generator itself.
type Own uint8

// Meanings of a generator's own metrics.
const (
	NotOwn     Own = iota
	InFlight       // level: requests in flight, as the generator counts them
	Users          // level: users of a closed loop
	Answered       // distribution or counter: requests that its instrumentation saw end
	LostSpans      // counter: spans that its exporter says it lost
	CPUTime        // counter, s: processor time used
	CPUState       // level, 0..1: share of a processor's time in one state
	Processors     // level: processors that the process may use
)

// meaning is what the points of a series say.
type meaning struct {
	queues.Queue
	Own Own
}

// meaningOf tells what a series says; ok is false when it says nothing of use.
func meaningOf(s *sample.Series) (m meaning, ok bool) {
	if m.Queue, ok = queues.Recognise(s); ok {
		if m.Kind == queues.Workers && m.Role != "" {
			m.Own = Users // of a server they are workers: who sent it decides
		}
		return m, true
	}
	m.Own, m.Form = ownMeaning(s)
	m.Queue.Name, m.Scale = s.Name, 1
	if strings.EqualFold(s.Unit, "ms") {
		m.Scale = 1e-3
	}
	return m, m.Own != NotOwn && formFits(s.Kind, m.Form)
}

func ownMeaning(s *sample.Series) (Own, queues.Form) {
	switch strings.ReplaceAll(strings.TrimSuffix(s.Name, "_total"), "_", ".") {
	case "loadtest.requests.in.flight":
		return InFlight, queues.Level
	case "vus", "locust.users.count", "jmeter.maxAT":
		return Users, queues.Level
	case "http.client.request.duration", "http.client.duration", "rpc.client.call.duration", "rpc.client.duration":
		return Answered, queues.Spread
	case "locust.client.duration":
		return Answered, queues.Spread
	case "http.requests":
		if s.Scope == "Artillery.io_metrics" {
			return Answered, queues.Total
		}
	case "process.cpu.time":
		return CPUTime, queues.Total
	case "system.cpu.utilization":
		return CPUState, queues.Level
	case "system.cpu.logical.count", "go.processor.limit", "process.runtime.go.gomaxprocs", "jvm.cpu.count":
		return Processors, queues.Level
	}
	return lossMeaning(s)
}

// lossMeaning knows the counters of OpenTelemetry SDKs that tell of spans which
// were never delivered: those dropped by a full queue and those whose export
// failed.
func lossMeaning(s *sample.Series) (Own, queues.Form) {
	has := func(key string) bool { return strings.Contains(","+s.Attributes, ","+key) }
	switch s.Name {
	case "otel.sdk.processor.span.processed", "otel.sdk.span.processed", "otel.sdk.exporter.span.exported":
		if has("error.type=") {
			return LostSpans, queues.Total
		}
	case "processedSpans":
		if has("dropped=true") {
			return LostSpans, queues.Total
		}
	case "otlp.exporter.exported":
		if has("success=false") && (has("type=span") || !has("type=")) {
			return LostSpans, queues.Total
		}
	}
	return NotOwn, 0
}

// formFits compares the shape of a series with what its name promises.
func formFits(k sample.Kind, want queues.Form) bool {
	switch k {
	case sample.Gauge, sample.UpDown:
		return want == queues.Level
	case sample.Counter, sample.DeltaSum:
		return want == queues.Total
	case sample.Histogram, sample.DeltaHisto:
		return want == queues.Spread
	}
	return false
}
