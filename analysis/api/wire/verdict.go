// Package wire holds the JSON documents of the HTTP API. It has types and no
// behaviour but their encoding, so that the plugin, the CLI and tests can share
// them. CONTRACT: fields are only ever added.
//
// Rates are per second, times are seconds, ratios are over `due` unless said
// otherwise. A nil pointer encodes as null and stands for "the data cannot say".
package wire

import "time"

// Schema names the version of the verdict document.
const Schema = "plimsoll.verdict/v1"

// Verdict is the answer to "what does this run prove?".
type Verdict struct {
	Schema               string        `json:"schema"`
	Revision             uint64        `json:"revision"`
	Horizon              Horizon       `json:"horizon"`
	Run                  Run           `json:"run"`
	Outcome              string        `json:"outcome"`
	Headline             string        `json:"headline"`
	Steps                []Step        `json:"steps"`
	Totals               Step          `json:"totals"`
	Knee                 Knee          `json:"knee"`
	SaturationThroughput *Estimate     `json:"saturation_throughput"`
	Metastability        Metastability `json:"metastability"`
	Audit                Audit         `json:"audit"`
	Objectives           []Held        `json:"objectives"` // what was asked of the run, and what became of it
	Findings             []Finding     `json:"findings"`
}

// Held is an objective that a run was held against.
type Held struct {
	Kind     string `json:"kind"`  // quantile, error, goodput or carry
	Title    string `json:"title"` // as it is written on the command line, without scenario and step
	Scenario string `json:"scenario,omitempty"`
	Step     string `json:"step,omitempty"`
	State    string `json:"state"`   // met, missed or undecided
	Message  string `json:"message"` // the sentence that says why it is not met
}

// States and kinds of an objective.
const (
	QuantileKind = "quantile"
	ErrorKind    = "error"
	GoodputKind  = "goodput"
	CarryKind    = "carry"

	Met       = "met"
	Missed    = "missed"
	Undecided = "undecided"
)

// Outcomes of a run.
const (
	OutcomePass         = "pass"
	OutcomeFail         = "fail"
	OutcomeInconclusive = "inconclusive"
	OutcomeInvalid      = "invalid"
)

// Horizon is the event time up to which the data are complete.
type Horizon struct {
	At      *time.Time `json:"at"`
	Assumed bool       `json:"assumed"` // no timeout is declared, so a longer request may still come
	HeldBy  *string    `json:"held_by"` // silent source that holds the horizon back
}

// Run describes the run that was judged.
type Run struct {
	ID                 string     `json:"id"`
	Name               string     `json:"name"`
	Generator          string     `json:"generator"`
	Scenarios          []string   `json:"scenarios"`
	State              string     `json:"state"` // live or finished
	StartedAt          *time.Time `json:"started_at"`
	EndedAt            *time.Time `json:"ended_at"`
	Grade              *string    `json:"grade"` // weakest grade of its rows
	DeadlineS          *float64   `json:"deadline_s"`
	FirstByteDeadlineS *float64   `json:"first_byte_deadline_s,omitempty"`
	OfferedSource      string     `json:"offered_source"`   // declared, configured, scheduled, counted
	Queues             []Queue    `json:"queues,omitempty"` // server metrics that the series queue:NAME shows
}

// Queue is a metric of the servers under test.
type Queue struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // waiting, active_requests, pool_pending, …
	Unit string `json:"unit"` // of the series: 1, s or 1/s
}

// Estimate is a value with the interval that the data support. A quantile that
// lies among censored requests has no value, only a lower bound.
type Estimate struct {
	Value      *float64 `json:"value"`
	Lo         *float64 `json:"lo"`
	Hi         *float64 `json:"hi"`
	Confidence float64  `json:"confidence"`
}

// Step is the judgement of one stretch of the run with one offered rate.
type Step struct {
	Index            int       `json:"index"`
	Name             string    `json:"name"`
	AfterMark        string    `json:"after_mark,omitempty"` // the mark that it begins with
	From             time.Time `json:"from"`
	To               time.Time `json:"to"`
	DurationS        float64   `json:"duration_s"`
	WarmupS          float64   `json:"warmup_s"`
	Offered          *float64  `json:"offered"`
	Due              int64     `json:"due"`
	Sent             int64     `json:"sent"`
	Dropped          int64     `json:"dropped"`
	DroppedRatio     float64   `json:"dropped_ratio"`
	LateSendRatio    *float64  `json:"late_send_ratio"`
	Ended            *float64  `json:"ended"`
	Completed        *float64  `json:"completed"`
	Goodput          *float64  `json:"goodput"`
	AttemptsPerS     *float64  `json:"attempts_per_s"`
	AttemptsPerReq   *float64  `json:"attempts_per_request"`
	ErrorRatio       float64   `json:"error_ratio"`
	TimeoutRatio     float64   `json:"timeout_ratio"`
	ShedRatio        float64   `json:"shed_ratio"`
	CancelledRatio   float64   `json:"cancelled_ratio"`
	Balance          Balance   `json:"balance"`
	Counts           Counts    `json:"counts"`
	ResponseTime     Response  `json:"response_time"`
	ServiceTime      Response  `json:"service_time"`
	SendDelay        *Delay    `json:"send_delay"`
	FirstByte        *Response `json:"first_byte"`
	InterToken       *Response `json:"inter_token,omitempty"`  // mean time between the tokens of an answer, after the first
	TokensPerS       *float64  `json:"tokens_per_s,omitempty"` // of answers that ended after warm-up
	ShedResponseTime *Response `json:"shed_response_time"`
	InFlight         InFlight  `json:"in_flight"`
	Stability        Stability `json:"stability"`
	Class            string    `json:"class"`
	LittlesLaw       Little    `json:"littles_law"`
	DrainS           *float64  `json:"drain_s"`
	Sources          []Source  `json:"sources"`
	Warnings         []string  `json:"warnings,omitempty"` // codes of doubts about this step, such as mixed_rates
	Revised          bool      `json:"revised,omitempty"`
}

// Classes of a step, in the order of precedence.
const (
	ClassInvalid      = "invalid"
	ClassUnstable     = "unstable"
	ClassLossy        = "lossy"
	ClassShedding     = "shedding"
	ClassStable       = "stable"
	ClassInconclusive = "inconclusive"
)

// Balance is by flow: due + carried_in = the sum of all other fields.
type Balance struct {
	Due       int64 `json:"due"`
	CarriedIn int64 `json:"carried_in"`
	Dropped   int64 `json:"dropped"`
	Good      int64 `json:"good"`
	Late      int64 `json:"late"`
	Error     int64 `json:"error"`
	Timeout   int64 `json:"timeout"`
	Shed      int64 `json:"shed"`
	Cancelled int64 `json:"cancelled"`
	OpenAtEnd int64 `json:"open_at_end"`
}

// Counts is by cohort: what became of the requests due in this step.
type Counts struct {
	OK        int64 `json:"ok"`
	Error     int64 `json:"error"`
	Timeout   int64 `json:"timeout"`
	Shed      int64 `json:"shed"`
	Cancelled int64 `json:"cancelled"`
	Open      int64 `json:"open"`
	Retries   int64 `json:"retries"`
}

// Response is a distribution of times, in seconds.
type Response struct {
	Valid  bool     `json:"valid"`
	Reason string   `json:"reason"` // why it is not valid, or empty
	Grade  *string  `json:"grade,omitempty"`
	N      int64    `json:"n"`
	Steady bool     `json:"steady"` // false: the percentiles depend on how long was measured
	Mean   *float64 `json:"mean"`
	P50    Estimate `json:"p50"`
	P90    Estimate `json:"p90"`
	P95    Estimate `json:"p95"`
	P99    Estimate `json:"p99"`
	P999   Estimate `json:"p999"`
	Max    *float64 `json:"max"`
}

// Delay is how late the generator was, in seconds.
type Delay struct {
	P99 Estimate `json:"p99"`
	Max *float64 `json:"max"`
}

// InFlight describes how many requests were in the system.
type InFlight struct {
	Mean       *float64 `json:"mean"`
	FirstHalf  *float64 `json:"first_half"`
	SecondHalf *float64 `json:"second_half"`
	GrowthZ    *float64 `json:"growth_z"`
	AtEnd      *float64 `json:"at_end"`
	Source     string   `json:"source"` // rows, counters, gauge
}

// Stability is the answer to "does the backlog grow without end?".
type Stability struct {
	State       string    `json:"state"` // stable, unstable, inconclusive; live: also suspect
	Z           *float64  `json:"z"`
	Utilisation *Estimate `json:"utilisation"`
	NeedS       *float64  `json:"need_s"` // seconds that would decide; set when inconclusive
	Reason      string    `json:"reason,omitempty"`
}

// States of stability.
const (
	Stable       = "stable"
	Unstable     = "unstable"
	Suspect      = "suspect" // only while the run goes on
	Inconclusive = "inconclusive"
)

// Little is the check of the measurement by Little's law.
type Little struct {
	Independent   bool     `json:"independent"`
	Source        string   `json:"source"`
	Counted       *float64 `json:"counted"`
	LambdaW       *float64 `json:"lambda_w"`
	Corrected     *float64 `json:"corrected"`
	Residual      *float64 `json:"residual"`
	Tolerance     *float64 `json:"tolerance"`
	OK            *bool    `json:"ok"`
	ExactResidual *float64 `json:"exact_residual"`
	Note          string   `json:"note,omitempty"`
	// Checks are all independent counts of requests in flight, the best one first.
	Checks []LittleCheck `json:"checks,omitempty"`
}

// LittleCheck compares an independent count of requests in flight with what the
// rows account for over the same time.
type LittleCheck struct {
	Source    string   `json:"source"`            // the metric
	Service   string   `json:"service,omitempty"` // whose it is; empty for the generator's own
	Counted   *float64 `json:"counted"`
	Records   *float64 `json:"records"`
	Residual  *float64 `json:"residual"` // (counted − records) over the larger
	Tolerance *float64 `json:"tolerance"`
	OneSided  bool     `json:"one_sided"` // only a count above the records is a contradiction
	Samples   int      `json:"samples"`   // points of a level; 0 for an integral
	OK        *bool    `json:"ok"`
}

// Source summarises one generator process within a step.
type Source struct {
	Source       string   `json:"source"`
	Sent         int64    `json:"sent"`
	Errors       int64    `json:"errors"`
	ResponseP99S *float64 `json:"response_p99_s"`
	SendDelayMax *float64 `json:"send_delay_max_s"`
}

// Knee is where completions stop tracking arrivals.
type Knee struct {
	State        string    `json:"state"` // found, not_reached, not_tested
	Offered      *float64  `json:"offered"`
	Bracket      []float64 `json:"bracket"`
	ServedInFull *float64  `json:"served_in_full"`
	Capacity     *Estimate `json:"capacity"`
	Shape        *string   `json:"shape"` // collapse, saturation
	Recommended  *float64  `json:"recommended"`
}

// NotTested is the state of a judgement that the run could not put to the test.
const NotTested = "not_tested"

// Metastability is what happened after the load came back down.
type Metastability struct {
	State           string   `json:"state"`
	RecoveredAfterS *float64 `json:"recovered_after_s"`
	EtaS            *float64 `json:"eta_s"`
	WatchedS        *float64 `json:"watched_s"`
	Signals         []Signal `json:"signals"`
}

// Signal is one measured fact behind a judgement.
type Signal struct {
	Name  string   `json:"name"`
	Value *float64 `json:"value"`
	Unit  string   `json:"unit"`
}

// Audit says whether the rig itself can be trusted.
type Audit struct {
	Valid          bool      `json:"valid"`
	Loop           string    `json:"loop"`            // open, closed, capped, unknown
	ArrivalProcess string    `json:"arrival_process"` // constant, jittered, poisson, bursty, unknown
	Findings       []Finding `json:"findings"`
}

// Finding is one plain sentence with the number that carries it.
type Finding struct {
	Code     string   `json:"code"`
	Severity string   `json:"severity"` // info, warn, fail, invalid
	Step     *int     `json:"step"`
	Value    *float64 `json:"value"`
	Message  string   `json:"message"`

	ClearedAt *time.Time `json:"cleared_at,omitempty"` // of an alarm: when it was over; absent while it is not
}

// Severities of a finding.
const (
	Info    = "info"
	Warn    = "warn"
	Fail    = "fail"
	Invalid = "invalid"
)
