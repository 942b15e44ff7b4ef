package littleslaw

import (
	"fmt"
	"math"
)

// Sums are what the rows of one window [from, to) add up to, in
// request-nanoseconds: exact, and enough for nine thousand million
// request-seconds.
type Sums struct {
	WindowNS   int64 // T
	Arrivals   int64 // that arrived in the window
	WaitNS     int64 // Σ W_i of the arrivals, to their end
	CarryInNS  int64 // Σ (end − from) of those present at the start
	CarryOutNS int64 // Σ (end − to) of those present at the end
	IntegralNS int64 // L·T from the step function; negative when not known
	Open       int64 // of all these, never seen to end
}

// Stay is the time of one request in the system, [From, To).
type Stay struct{ From, To int64 }

// SumsOf adds up the stays that touch the window [from, to). The integral is
// left unknown: it must come from the step function to be a check.
func SumsOf(stays []Stay, from, to int64) Sums {
	s := Sums{WindowNS: to - from, IntegralNS: -1}
	for _, v := range stays {
		if v.From >= to || v.To < from {
			continue
		}
		if v.From >= from {
			s.Arrivals++
			s.WaitNS += v.To - v.From
		} else {
			s.CarryInNS += v.To - from
		}
		if v.To >= to {
			s.CarryOutNS += v.To - to
		}
	}
	return s
}

// Source says how an independent count of requests in flight was made.
type Source uint8

// Sources of an independent count.
const (
	None     Source = iota // there is no independent count
	Integral               // a counter of ∫ in flight dt, differenced between two exports
)

// String returns the source's name in words.
func (s Source) String() string {
	if s == Integral {
		return "in_flight_time"
	}
	return "none"
}

// Count is an independent mean of requests in flight over the window.
type Count struct {
	Source  Source
	Mean    float64
	Sources int // counters added up that are exported at different times
}

// Load says what the generator's design fixes.
type Load struct {
	Closed bool // a fixed population sends again after each answer
	Users  int  // its size; 0 when not known
}

// Result is the outcome of the check.
type Result struct {
	Counted   float64 // the independent mean; the integral of the rows when there is none
	LambdaW   float64 // λ·W, plain
	Corrected float64 // (Σ W + carry-in − carry-out)/T

	// Residual is |Counted − Corrected| over the larger; Tolerance is what it may be.
	Residual  float64
	Tolerance float64
	OK        bool

	// Exact is the residual of the exact form against the integral of the same
	// rows, at most ExactTolerance unless the pipeline has a bug; NaN when the
	// integral is not known.
	Exact float64

	PlainGap       float64 // (LambdaW − integral mean)/integral mean
	PlainTolerance float64 // max(0.2 %, 3·W/T); shown beside the gap, decides nothing

	Independent bool
	Note        string
}

// Tolerances of the check.
const (
	ExactTolerance    = 0.001 // of the identity on our own rows
	IntegralTolerance = 0.002 // of an integrating counter
	severalTolerance  = 0.01  // of several integrating counters, read by interpolation
	stampNS           = 50e3  // between the stamps of a record and of a counter, both ends
	plainLeast        = 0.002
	plainTimes        = 3.0 // ·W/T
)

// Check compares the sums of a window with each other and with an independent
// count.
func Check(s Sums, c Count, load Load) Result {
	t := float64(s.WindowNS)
	if t <= 0 {
		return Result{Exact: math.NaN(), Note: "the window is empty"}
	}
	r := Result{
		LambdaW:   float64(s.WaitNS) / t,
		Corrected: float64(s.WaitNS+s.CarryInNS-s.CarryOutNS) / t,
		Exact:     math.NaN(),
	}
	mean := r.Corrected
	if s.IntegralNS >= 0 {
		mean = float64(s.IntegralNS) / t
		r.Exact = residual(mean, r.Corrected)
	}
	if s.Arrivals > 0 {
		w := float64(s.WaitNS) / float64(s.Arrivals)
		r.PlainTolerance = max(plainLeast, plainTimes*w/t)
	}
	if mean > 0 {
		r.PlainGap = r.LambdaW/mean - 1
	}
	r.Counted, r.Tolerance = mean, ExactTolerance
	if c.Source != None {
		r.Independent = true
		r.Counted, r.Tolerance = c.Mean, tolerance(s, c, r.Corrected)
	}
	r.Residual = residual(r.Counted, r.Corrected)
	exact := math.IsNaN(r.Exact) || r.Exact <= ExactTolerance
	r.OK = r.Residual <= r.Tolerance && exact
	r.Note = note(s, c, load, r, exact)
	return r
}

// tolerance is what an honest count may differ by, as a share of the larger.
//
// An integrating counter is exact at its exports, but counter and records are
// stamped a few instructions apart at each end of a request: stampNS of every
// wait. Counters of several sources are exported at different times and are read
// by interpolation, which is good to about one part in a hundred.
func tolerance(s Sums, c Count, corrected float64) float64 {
	level := max(c.Mean, corrected)
	if level <= 0 {
		return IntegralTolerance
	}
	switch c.Source {
	case Integral:
		t := IntegralTolerance
		if s.WaitNS > 0 {
			t = max(t, stampNS*float64(s.Arrivals)/float64(s.WaitNS))
		}
		if c.Sources > 1 {
			t = max(t, severalTolerance)
		}
		return t
	}
	return ExactTolerance
}

func residual(a, b float64) float64 {
	larger := max(math.Abs(a), math.Abs(b))
	if larger == 0 {
		return 0
	}
	return math.Abs(a-b) / larger
}

func note(s Sums, c Count, load Load, r Result, exact bool) string {
	var text string
	switch {
	case !exact:
		text = fmt.Sprintf("the rows do not add up to their own in flight (off by %.2g): records are lost or from different windows", r.Exact)
	case c.Source == None:
		text = "an identity: both sides come from the same records, so it checks the pipeline and nothing else"
	case r.OK:
		text = fmt.Sprintf("%.4g in flight by %s, %.4g by the records", c.Mean, c.Source, r.Corrected)
	case c.Mean > r.Corrected:
		text = fmt.Sprintf("%.4g were in flight by %s and the records account for %.4g: records are missing or times are too short", c.Mean, c.Source, r.Corrected)
	default:
		text = fmt.Sprintf("the records account for %.4g in flight and %s counted %.4g: records are counted twice, or times start too early", r.Corrected, c.Source, c.Mean)
	}
	if load.Closed {
		text += "; in flight is fixed by the load design"
		if load.Users > 0 {
			text += fmt.Sprintf(" (at most %d)", load.Users)
		}
	}
	if s.Open > 0 {
		text += fmt.Sprintf("; %d requests were never seen to end and count up to the end of observation", s.Open)
	}
	return text
}
