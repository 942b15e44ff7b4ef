package wire

import "time"

// Error is the body of every refused call.
type Error struct {
	Error string `json:"error"`
	Code  string `json:"code"`
	Hint  string `json:"hint"`
}

// RunList is the answer of GET /api/v1/runs.
type RunList struct {
	Runs       []RunItem `json:"runs"`
	NextCursor string    `json:"next_cursor"`
}

// RunItem is a run in a list.
type RunItem struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Generator string     `json:"generator"`
	State     string     `json:"state"`
	StartedAt *time.Time `json:"started_at"`
	EndedAt   *time.Time `json:"ended_at"`
	Outcome   string     `json:"outcome"`
	Headline  string     `json:"headline"`
	Revision  uint64     `json:"revision"`
	Judging   *float64   `json:"judging,omitempty"` // share of it that has been read to judge it, while that takes place
}

// States of a run.
const (
	Live     = "live"
	Finished = "finished"
)

// Declaration says what a run is meant to be: the schedule that count-only data
// lack, and the promises to hold it to.
type Declaration struct {
	ID                 string        `json:"id"`
	Name               string        `json:"name,omitempty"`
	DeadlineS          *float64      `json:"deadline_s,omitempty"`
	FirstByteDeadlineS *float64      `json:"first_byte_deadline_s,omitempty"` // of the first byte or token, part of the deadline
	TimeoutS           *float64      `json:"timeout_s,omitempty"`
	Arrival            *Arrival      `json:"arrival,omitempty"`
	ExpectedIntervalS  *float64      `json:"expected_interval_s,omitempty"`
	Population         string        `json:"population,omitempty"` // fixed
	Steps              []DeclareStep `json:"steps,omitempty"`
	Start              *time.Time    `json:"start,omitempty"`
	AllowDrops         bool          `json:"allow_drops,omitempty"`
	Targets            []string      `json:"targets,omitempty"`
	Users              *float64      `json:"users,omitempty"`
	ThinkS             *float64      `json:"think_s,omitempty"` // mean pause of a user between an answer and the next request
	Objectives         []Objective   `json:"objectives,omitempty"`
	CapacityPerS       *float64      `json:"capacity_per_s,omitempty"`
}

// Arrival says how requests arrive.
type Arrival struct {
	Model   string `json:"model,omitempty"`   // open, closed
	Process string `json:"process,omitempty"` // constant, jittered, poisson, bursty
}

// DeclareStep is a declared stretch of one rate, or of a ramp to another.
type DeclareStep struct {
	Name      string   `json:"name,omitempty"`
	RatePerS  float64  `json:"rate_per_s"`
	ToRate    *float64 `json:"to_rate_per_s,omitempty"`
	DurationS float64  `json:"duration_s"`
	WarmupS   float64  `json:"warmup_s,omitempty"`
	PauseS    float64  `json:"pause_s,omitempty"` // silence after the step
	Process   string   `json:"process,omitempty"` // arrival process, where steps differ in it
}

// Objective is a promise that the verdict checks.
type Objective struct {
	Scenario        string   `json:"scenario,omitempty"`
	Step            string   `json:"step,omitempty"`
	Quantile        *float64 `json:"quantile,omitempty"`
	MaxS            *float64 `json:"max_s,omitempty"`
	ErrorRatioMax   *float64 `json:"error_ratio_max,omitempty"`
	GoodputRatioMin *float64 `json:"goodput_ratio_min,omitempty"`
	MustCarryPerS   *float64 `json:"must_carry_per_s,omitempty"`
}

// Mark is an event that a reader should see: a deploy, a fault switched on.
type Mark struct {
	At   time.Time `json:"at"`
	Name string    `json:"name"`
}

// SeriesAnswer is the answer of GET /api/v1/runs/{id}/series. All columns have
// the length of Time; null stands where the data cannot say.
type SeriesAnswer struct {
	Time    []time.Time           `json:"time"`
	Columns map[string][]*float64 `json:"columns"`
}

// Deleted is the answer of DELETE /api/v1/runs/{id}.
type Deleted struct {
	ID string `json:"id"`
}

// Event is the data of a server-sent event of a run.
type Event struct {
	Revision uint64  `json:"revision"`
	State    string  `json:"state"`
	Outcome  string  `json:"outcome"`
	Headline string  `json:"headline"`
	Horizon  Horizon `json:"horizon"`
}

// Spectrum is the answer of GET /api/v1/runs/{id}/spectrum.
type Spectrum struct {
	Response []SpectrumPoint `json:"response"`
	Service  []SpectrumPoint `json:"service"`
}

// SpectrumPoint is one point of a percentile spectrum.
type SpectrumPoint struct {
	Quantile float64  `json:"quantile"`
	Inverse  *float64 `json:"one_over_one_minus_q"` // null at quantile 1
	Seconds  *float64 `json:"seconds"`              // null among censored requests
	AtLeast  *float64 `json:"at_least_s"`           // lower bound, always set
	Count    int64    `json:"count"`                // requests at or below
}

// Heatmap is the answer of GET /api/v1/runs/{id}/heatmap: Counts[i][j] requests
// due in time cell i with a response time in (Bounds[j], Bounds[j+1]].
type Heatmap struct {
	Time   []time.Time `json:"time"`
	CellS  float64     `json:"cell_s"`
	Bounds []float64   `json:"bounds_s"`
	Counts [][]int64   `json:"counts"`
}

// LittleTable is the answer of GET /api/v1/runs/{id}/littleslaw.
type LittleTable struct {
	Rows []LittleRow `json:"rows"`
}

// LittleRow is the check of one step.
type LittleRow struct {
	Step int    `json:"step"`
	Name string `json:"name"`
	Little
}

// GoodputCurve is the answer of GET /api/v1/runs/{id}/goodput: per step, the
// goodput that each deadline would have given.
type GoodputCurve struct {
	DeadlineS []float64     `json:"deadline_s"`
	Steps     []GoodputStep `json:"steps"`
}

// GoodputStep is the curve of one step.
type GoodputStep struct {
	Step      int        `json:"step"`
	Name      string     `json:"name"`
	Offered   *float64   `json:"offered"`
	Completed *float64   `json:"completed"`
	Goodput   []*float64 `json:"goodput"`
}
