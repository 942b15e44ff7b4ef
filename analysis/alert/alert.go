package alert

import "time"

// Names of alerts.
const (
	Unstable         = "PlimsollUnstable"         // the backlog grows without end
	GeneratorInvalid = "PlimsollGeneratorInvalid" // the rig cannot be trusted
	GoodputLow       = "PlimsollGoodputLow"       // an objective on goodput is missed
	NotRecovered     = "PlimsollNotRecovered"     // overloaded after the load has gone
)

// Severities of alerts.
const (
	Critical = "critical"
	Warning  = "warning"
)

// Hold is how long an alert goes on after its run has ended.
const Hold = 15 * time.Minute

// Labels are what an alert is known by. They are the same from run to run.
type Labels struct {
	Name     string `json:"alertname"`
	RunName  string `json:"run_name"`
	Scenario string `json:"scenario,omitempty"` // where the run has one alone, or the objective names it
	Severity string `json:"severity"`
}

// Alert is one condition of one run.
type Alert struct {
	Labels      Labels    `json:"labels"`
	RunID       string    `json:"run_id"`
	Step        string    `json:"step,omitempty"` // name, else index, of the step it is about
	Summary     string    `json:"summary"`        // a few words
	Description string    `json:"description"`    // the finding's sentence, with its numbers
	StartsAt    time.Time `json:"starts_at"`
	EndsAt      time.Time `json:"ends_at"` // zero while it fires
}

// Firing reports whether the alert has not ended.
func (a *Alert) Firing() bool { return a.EndsAt.IsZero() }

// Run is what an alert says of its run.
type Run struct {
	ID, Name string
	Scenario string // the only one; empty when there are several
}
