package otlp

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// signal is a kind of export. Its value is part of the identity of a request.
type signal byte

const (
	traces signal = 't'
	points signal = 'm'
)

func (s signal) String() string {
	if s == traces {
		return "traces"
	}
	return "metrics"
}

// Results of requests, as they are counted.
const (
	resultOK          = "ok"
	resultDuplicate   = "duplicate"
	resultMalformed   = "malformed"
	resultTooLarge    = "too_large"
	resultUnsupported = "unsupported"
	resultRefused     = "unauthenticated"
	resultBusy        = "busy"
	resultFull        = "full"
	resultFailed      = "failed"
)

// Metrics counts what a server receives.
type Metrics struct {
	set      *metrics.Set
	rows     *metrics.Counter
	points   *metrics.Counter
	closed   *metrics.Counter
	bySink   *metrics.Counter
	reasons  [reasons]*metrics.Counter
	duration *metrics.Histogram
	inFlight atomic.Int64 // bytes

	mu     sync.RWMutex
	counts map[requestKind]requestCounts
}

// requestKind is what requests are counted by.
type requestKind struct {
	signal            signal
	transport, result string
}

type requestCounts struct{ requests, bytes *metrics.Counter }

// NewMetrics registers a server's counters on a set.
func NewMetrics(set *metrics.Set) *Metrics {
	m := &Metrics{
		set:      set,
		counts:   map[requestKind]requestCounts{},
		rows:     set.GetOrCreateCounter("plimsoll_otlp_rows_total"),
		points:   set.GetOrCreateCounter("plimsoll_otlp_points_total"),
		closed:   set.GetOrCreateCounter("plimsoll_otlp_connections_refused_total"),
		bySink:   set.GetOrCreateCounter(`plimsoll_otlp_rejected_total{reason="intake"}`),
		duration: set.GetOrCreateHistogram("plimsoll_otlp_request_duration_seconds"),
	}
	for r := range reasons {
		name := "plimsoll_otlp_rejected_total"
		if !r.Refused() {
			name = "plimsoll_otlp_passed_over_total"
		}
		m.reasons[r] = set.GetOrCreateCounter(fmt.Sprintf("%s{reason=%q}", name, r))
	}
	set.GetOrCreateGauge("plimsoll_otlp_in_flight_bytes", func() float64 { return float64(m.inFlight.Load()) })
	return m
}

// request counts a request that has been answered.
func (m *Metrics) request(s signal, transport, result string, bytes int, took time.Duration) {
	c := m.count(requestKind{s, transport, result})
	c.requests.Inc()
	c.bytes.Add(bytes)
	m.duration.Update(took.Seconds())
}

func (m *Metrics) count(k requestKind) requestCounts {
	m.mu.RLock()
	c, ok := m.counts[k]
	m.mu.RUnlock()
	if ok {
		return c
	}
	c = requestCounts{
		requests: m.set.GetOrCreateCounter(fmt.Sprintf("plimsoll_otlp_requests_total{signal=%q,transport=%q,result=%q}", k.signal, k.transport, k.result)),
		bytes:    m.set.GetOrCreateCounter(fmt.Sprintf("plimsoll_otlp_bytes_total{signal=%q,transport=%q}", k.signal, k.transport)),
	}
	m.mu.Lock()
	m.counts[k] = c
	m.mu.Unlock()
	return c
}

// decoded counts what was found in a request, once it has been kept.
func (m *Metrics) decoded(r *Report, duplicate bool) {
	if !duplicate {
		m.rows.Add(int(r.Rows))
		m.points.Add(int(r.Points))
	}
	for reason, n := range r.Counts {
		if n > 0 {
			m.reasons[reason].Add(int(n))
		}
	}
}

// reserve takes room for n bytes, unless that is more than limit.
func (m *Metrics) reserve(n, limit int64) bool {
	if m.inFlight.Add(n) > limit {
		m.inFlight.Add(-n)
		return false
	}
	return true
}

func (m *Metrics) release(n int64) { m.inFlight.Add(-n) }
