package metastability

import "math"

// Names of signals.
const (
	SignalOffered     = "offered"
	SignalCompleted   = "completed"
	SignalGood        = "good_ratio"
	SignalBaseGood    = "good_ratio_before"
	SignalPerRequest  = "attempts_per_request"
	SignalPerS        = "attempts_per_s"
	SignalTimeouts    = "timeouts_per_s"
	SignalInFlight    = "in_flight"
	SignalBaseFlight  = "in_flight_before_max"
	SignalSlope       = "in_flight_slope"
	SignalMedian      = "response_p50"
	SignalBaseMedian  = "response_p50_before_max"
	SignalCapacity    = "capacity"
	SignalBound       = "capacity_at_least"
	SignalBacklog     = "backlog_by_books"
	SignalQueue       = "queue"
	SignalBaseQueue   = "queue_before_max"
	SignalQueueAge    = "queue_age"
	SignalPool        = "pool_pending"
	SignalBasePool    = "pool_pending_before_max"
	SignalAbandoned   = "completed_for_clients_that_gave_up"
	SignalWastedShare = "share_of_work_for_clients_that_gave_up"
)

// signals lists the numbers behind the judgement.
func (j *judge) signals() {
	add := func(name string, value float64, unit string) {
		if !math.IsNaN(value) && !math.IsInf(value, 0) {
			j.Signals = append(j.Signals, Signal{name, value, unit})
		}
	}
	seconds := j.sum.seconds()
	add(SignalOffered, j.offered, "1/s")
	add(SignalCompleted, j.completed, "1/s")
	if j.sum.Due > 0 {
		add(SignalGood, j.sum.share(), "1")
	}
	add(SignalPerRequest, j.perRequest, "1")
	add(SignalPerS, float64(j.sum.Attempts)/seconds, "1/s")
	add(SignalTimeouts, float64(j.sum.Timeouts)/seconds, "1/s")
	add(SignalInFlight, j.sum.InFlight, "1")
	add(SignalSlope, j.slope, "1/s")
	add(SignalMedian, j.sum.MedianS, "s")
	if j.Base.Spans > 0 {
		add(SignalBaseGood, j.Base.Good, "1")
		add(SignalBaseFlight, j.Base.InFlight, "1")
		add(SignalBaseMedian, j.Base.MedianS, "s")
	}
	switch {
	case j.known:
		add(SignalCapacity, j.c, "1/s")
	case j.c > 0:
		add(SignalBound, j.c, "1/s")
	}
	if j.State != Recovered && j.c > 0 {
		add(SignalBacklog, max(0, j.backlog), "1")
	}
	add(SignalQueue, last(j.tail, queueOf), "1")
	add(SignalBaseQueue, most(j.before, queueOf), "1")
	add(SignalQueueAge, last(j.tail, func(s *Span) *float64 { return s.QueueAgeS }), "s")
	add(SignalPool, last(j.tail, poolOf), "1")
	add(SignalBasePool, most(j.before, poolOf), "1")
	if n, ok := j.abandoned(); ok {
		add(SignalAbandoned, n/seconds, "1/s")
		if all := n + float64(j.sum.Completed); all > 0 {
			add(SignalWastedShare, n/all, "1")
		}
	}
}

func queueOf(s *Span) *float64 { return s.Queue }
func poolOf(s *Span) *float64  { return s.PoolPending }

// last is the newest value in the spans; NaN where there is none.
func last(spans []Span, pick func(*Span) *float64) float64 {
	for i := len(spans) - 1; i >= 0; i-- {
		if v := pick(&spans[i]); v != nil {
			return *v
		}
	}
	return math.NaN()
}

// most is the largest value in the spans; NaN where there is none.
func most(spans []Span, pick func(*Span) *float64) float64 {
	top := math.NaN()
	for i := range spans {
		if v := pick(&spans[i]); v != nil && !(top >= *v) {
			top = *v
		}
	}
	return top
}

// abandoned adds up the answers that nobody waited for; ok is false where they are
// not counted in all of the last quarter.
func (j *judge) abandoned() (n float64, ok bool) {
	for i := range j.tail {
		a := j.tail[i].Abandoned
		if a == nil {
			return 0, false
		}
		n += *a
	}
	return max(0, n), len(j.tail) > 0
}
