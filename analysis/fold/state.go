package fold

import (
	"math"

	"github.com/plimsoll/plimsoll/analysis/live"
	"github.com/plimsoll/plimsoll/analysis/response"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/stability"
)

// Grade says how the intended times of rows are known, best first.
type Grade uint8

// Grades of evidence, from DESIGN section 5.
const (
	GradeA Grade = iota // an explicit timestamp
	GradeB              // schedule index and rate
	GradeC              // starts and drops together
	GradeS              // the sent time stands in
	GradeE              // back-filled from an expected interval
	GradeF              // counts only
	GradeX              // corrected by the tool itself
	noGrade
)

// Timed reports whether requests of the grade are timed from when they were due.
func (g Grade) Timed() bool { return g <= GradeC || g == GradeX }

// String returns the letter of the grade, or nothing when there are no rows.
func (g Grade) String() string {
	if g >= noGrade {
		return ""
	}
	return "ABCSEFX"[g : g+1]
}

// State is what the rows of a run add up to.
type State struct {
	Run       Run
	Generator string
	Scenarios []string // ascending
	Sources   []string // ascending
	Model     sample.Model
	Process   string // arrival process as declared or configured; may be empty
	Grade     Grade  // weakest grade of the rows

	Span    sample.Span // from the first request due to the last end
	Horizon Horizon

	Steps  []*Step // in order of time; one when no steps are declared
	Totals *Step   // the whole run as one stretch

	Rows          int64 // attempts
	Requests      int64
	Keyed         bool  // attempts were joined into requests
	EarlyIntended int64 // rows whose intended time lies over 1 ms after their send
	SampledRows   int64 // rows that a sampler let through
	Outside       int64 // requests due outside every step
	Scheduled     *int64
	Nameless      bool     // more scenarios were named than a run may have: it has none
	Narrowed      bool     // only a part of the run was asked for
	Ranks         *Ranks   // how far rows without a place in the declared schedule could be numbered; nil where they need not or cannot be
	Notes         []string // of the files that were imported, ascending
	AtOnce        bool     // all requests were due at once
	MultiRate     bool     // the steps do not all have the same rate
	DeadlineS     *float64 // the one deadline of all rows, seconds; nil when there is none or several
	HasDeadline   bool     // some row has a deadline

	FirstByteDeadlineS *float64 // the one deadline of the first bytes of all rows; nil when there is none or several
	FirstByteUnknown   float64  // share of answers that may or may not have met it; over 0 nothing is held against deadlines

	OfferedSource  string  // declared, configured, scheduled or counted
	DroppedCounted bool    // the generator counts its dropped arrivals
	PerIteration   float64 // requests that an iteration of the generator sent on average; 0 when not known

	unloaded float64

	Telemetry *Telemetry // what servers and the generator said in numbers; may be nil
	Paired    []*Paired  // counts of requests in flight beside those of the rows

	Series  *Series      // nil when there are no rows
	Watched *Watched     // how a run going on would have been watched; nil where it cannot be
	Alarms  []live.Event // what a watch of the run going on would have raised and cleared
}

// Watched is the watch of a run going on, at its last look.
type Watched struct {
	Kind  live.Kind // where arrivals are known from
	State live.State
}

// Horizon is the time up to which the rows are complete.
type Horizon struct {
	At      int64  // 0 when there are no rows
	Assumed bool   // no timeout is declared
	HeldBy  string // the silent source that holds it back; may be empty
}

// Little holds the sums that Little's law is checked with, over one window.
type Little struct {
	From, To int64
	Arrivals int64
	Wait     Sum // of those who arrived in the window, to their end
	CarryIn  Sum // of those present at From: end - From
	CarryOut Sum // of those present at To: end - To
	Integral Sum // of the number in the system over the window
}

// record adds one stay [from, to) to the sums, all but the integral.
func (l *Little) record(from, to int64) {
	if to <= l.From || from >= l.To {
		return
	}
	if from >= l.From {
		l.Arrivals++
		l.Wait.Add(to - from)
	} else {
		l.CarryIn.Add(to - l.From)
	}
	if to > l.To {
		l.CarryOut.Add(to - l.To)
	}
}

// Step is what happened in one stretch of a run. Cohort fields count requests
// due in it, flow fields count what happened within [From, To).
type Step struct {
	Index    int
	Name     string
	From, To int64
	Warmup   int64   // declared, ns; rates and percentiles begin after it
	Rate     float64 // nominal offered rate, 1/s; 0 when unknown
	ToRate   float64 // rate at the end of a ramp; else equal to Rate
	Nominal  bool    // Rate is what was configured, not what was found
	Silent   int64   // ns of silences within a step that was found; Rate leaves them out
	Exceeds  bool    // more came than that: what was offered is what was counted
	Paused   bool    // silence follows: the next step does not begin at To
	Mark     string  // the mark that it begins with: a deploy, a fault switched on; may be empty
	Cut      bool    // To is the horizon of a live run, not the step's own end

	// Cohort, whole step.
	Rows      int64 // requests due, dropped ones not included
	Dropped   int64
	Unplaced  int64 // dropped by the run, and nobody knows whether they are of what is asked about
	Outcomes  [sample.Outcomes]int64
	Good      int64 // OK within the deadline
	Retries   int64
	LateSends int64 // sent more than 5 ms after due
	Deadlines int64 // requests that have a deadline
	Skewed    int64 // intended over 1 ms after the send
	Unjudged  int64 // attempts of which nothing says whether they failed
	Exhausted int64 // attempts that never left their client, which had run out of ports or files

	// Flow, whole step.
	CarriedIn int64
	OpenAtEnd int64
	Ended     [sample.Outcomes]int64 // requests that ended, by outcome
	EndedGood int64

	// Flow after warm-up.
	WarmEnded     int64
	WarmOK        int64
	WarmGood      int64
	WarmDeadlines int64 // OK answers that have a deadline
	WarmAttempts  int64 // attempts sent

	// Cohort after warm-up.
	Due          int64            // requests due after warm-up
	Response     *response.Cohort // from due to end, shed requests left out
	Service      *response.Histogram
	SendDelay    *response.Histogram
	FirstByte    *response.Histogram // from due to first byte, shed requests left out; nil when unknown
	NoFirstByte  int64               // given up, and no first byte is known
	Tokens       *Tokens             // nil when no answer says how many it had
	ShedResponse *response.Histogram // nil when nothing was shed
	OKFlow       *response.Histogram // response times of OK answers that ended after warm-up, their first byte in time
	Grade        Grade

	// In flight, by intended time.
	AtEnd      int64
	InFlight   Sum    // integral over [From, To)
	Halves     [2]Sum // integral over the halves of the part after warm-up
	JudgedFrom int64
	Window     stability.Window
	Minima     []Minimum // falls of the number in flight after To
	Unsent     [2]Sum    // integral of due and not yet sent, over the halves of the part after warm-up

	Exact    Little  // by intended time, over [From, To)
	Counted  *Little // by sent time, between two exports of the counted integral
	Counter  float64 // seconds that the counter grew by between those exports
	Counters int     // counters that were added up for it

	Rig         Rig
	Counts      *Counted // set when the run is known by counts alone
	SourceSteps map[string]*SourceStep
}

// Minimum is a new lowest number in flight and the time it was reached.
type Minimum struct {
	Level int64
	At    int64
}

// SourceStep is one generator process within a step.
type SourceStep struct {
	Sent, Errors int64
	Response     *response.Histogram
	SendDelay    *response.Histogram // of first attempts
	SendDelayMax int64
}

// WarmSeconds is the length of the part after warm-up, in seconds.
func (s *Step) WarmSeconds() float64 {
	return float64(max(0, s.To-s.From-s.Warmup)) / 1e9
}

// Offered is the offered rate, 1/s: the nominal one, in the middle of a ramp,
// else the arrivals counted, dropped ones included.
func (s *Step) Offered() float64 {
	if !s.Exceeds && (s.Rate > 0 || s.ToRate > 0) {
		return (s.Rate + s.ToRate) / 2
	}
	if s.To <= s.From {
		return 0
	}
	return float64(s.Rows+s.Dropped) / s.Seconds()
}

// Want is the number of arrivals that the nominal rate puts into the step.
func (s *Step) Want() float64 { return (s.Rate + s.ToRate) / 2 * s.Seconds() }

// Slack is how far the count of arrivals may lie from Want: 1 % and three, and
// four standard deviations where arrivals are not paced; those of the bursts that
// were seen where the plan says that there are bursts.
func (s *Step) Slack(process string) float64 {
	slack := 0.01*s.Want() + 3
	seen := s.Rig.Arrivals.Result()
	paced := func(p string) bool { return p == "constant" || p == "jittered" }
	switch {
	case process == "bursty":
		slack = max(slack, 4*math.Sqrt(max(1, seen.Wide)*s.Want()))
	case !paced(process) && !paced(seen.Process.String()):
		slack = max(slack, 4*math.Sqrt(s.Want()))
	}
	return slack
}

// Seconds is the length of the step in seconds.
func (s *Step) Seconds() float64 { return float64(s.To-s.From) / 1e9 }
