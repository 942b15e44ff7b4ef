package wire

// Comparison is the answer of GET /api/v1/compare: what changed from one run to
// another, step by step. A difference is after − before.
type Comparison struct {
	Before   ComparedRun    `json:"before"`
	After    ComparedRun    `json:"after"`
	Headline string         `json:"headline"`
	Capacity *Difference    `json:"capacity"` // null: one of the runs did not find it
	Steps    []ComparedStep `json:"steps"`
	Notes    []string       `json:"notes"` // what makes the two runs unlike each other
}

// ComparedRun is one side of a comparison.
type ComparedRun struct {
	Run           Run    `json:"run"`
	Outcome       string `json:"outcome"`
	Headline      string `json:"headline"`
	KneeShape     string `json:"knee_shape"` // empty: none was found
	Metastability string `json:"metastability"`
}

// ComparedStep sets a step beside the one of the same name, or of the same rate,
// in the other run.
type ComparedStep struct {
	Name         string      `json:"name"`
	Before       *int        `json:"before"` // index of the step; null: the run has no such step
	After        *int        `json:"after"`
	Offered      *float64    `json:"offered"` // of the earlier run that has the step
	BeforeClass  string      `json:"before_class"`
	AfterClass   string      `json:"after_class"`
	Completed    *Difference `json:"completed"`     // per second
	Goodput      *Difference `json:"goodput"`       // per second
	FailureRatio *Difference `json:"failure_ratio"` // error, timeout, shed, cancelled and dropped over due
	P50          *Difference `json:"p50"`           // response times in seconds
	P95          *Difference `json:"p95"`
	P99          *Difference `json:"p99"`
	Reason       string      `json:"reason"` // why response times, or all of it, are not compared; empty if they are
}

// Difference is a change with the interval that both intervals support.
type Difference struct {
	Before Estimate `json:"before"`
	After  Estimate `json:"after"`
	Change Estimate `json:"change"`
	Says   string   `json:"says"` // better, worse, or unclear: the interval of the change holds 0
}

// What a difference says.
const (
	Better  = "better"
	Worse   = "worse"
	Unclear = "unclear"
)
