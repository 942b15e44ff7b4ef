package influx

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// Results of requests, as they are counted.
const (
	resultOK        = "ok"
	resultDuplicate = "duplicate"
	resultPartial   = "partial"
	resultMalformed = "malformed"
	resultTooLarge  = "too_large"
	resultRefused   = "unauthenticated"
	resultBusy      = "busy"
	resultFull      = "full"
	resultFailed    = "failed"
)

// Metrics counts what a server receives.
type Metrics struct {
	set      *metrics.Set
	lines    *metrics.Counter
	rows     *metrics.Counter
	points   *metrics.Counter
	bytes    *metrics.Counter
	bySink   *metrics.Counter
	reasons  [reasons]*metrics.Counter
	duration *metrics.Histogram
	inFlight atomic.Int64 // bytes
}

// NewMetrics registers a server's counters on a set.
func NewMetrics(set *metrics.Set) *Metrics {
	m := &Metrics{
		set:      set,
		lines:    set.GetOrCreateCounter("plimsoll_influx_lines_total"),
		rows:     set.GetOrCreateCounter("plimsoll_influx_rows_total"),
		points:   set.GetOrCreateCounter("plimsoll_influx_points_total"),
		bytes:    set.GetOrCreateCounter("plimsoll_influx_bytes_total"),
		bySink:   set.GetOrCreateCounter(`plimsoll_influx_rejected_total{reason="intake"}`),
		duration: set.GetOrCreateHistogram("plimsoll_influx_request_duration_seconds"),
	}
	for r := range reasons {
		name := "plimsoll_influx_rejected_total"
		if !r.Refused() {
			name = "plimsoll_influx_passed_over_total"
		}
		m.reasons[r] = set.GetOrCreateCounter(fmt.Sprintf("%s{reason=%q}", name, r))
	}
	set.GetOrCreateGauge("plimsoll_influx_in_flight_bytes", func() float64 { return float64(m.inFlight.Load()) })
	return m
}

// request counts a write that has been answered.
func (m *Metrics) request(version int, result string, size int, took time.Duration) {
	m.set.GetOrCreateCounter(fmt.Sprintf(`plimsoll_influx_requests_total{api="v%d",result=%q}`, version, result)).Inc()
	m.bytes.Add(size)
	m.duration.Update(took.Seconds())
}

// decoded counts what was found in a body, once it has been kept.
func (m *Metrics) decoded(r *Report, duplicate bool) {
	m.lines.Add(int(r.Lines))
	if !duplicate {
		m.rows.Add(int(r.Rows))
		m.points.Add(int(r.Points))
	}
	for reason, n := range r.Counts {
		m.reasons[reason].Add(int(n))
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
