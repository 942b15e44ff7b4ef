package otlp

import (
	"fmt"
	"strings"
)

// Reason says why a span or point was refused or passed over.
type Reason uint8

// Reasons. The first ones are refusals, which are reported to the sender as
// rejected; those from NotARequest on are not.
const (
	NoTime         Reason = iota // start or end time is missing
	ClockStep                    // ends before it starts
	BadTime                      // before 2000 or after 2100
	TooManySpans                 // over the limit for one request
	TooManyRuns                  // names more runs than one request may
	TooManyGroups                // more streams in one run than a batch can hold
	NoTemporality                // sum or histogram without a temporality
	BadHistogram                 // buckets and bounds do not fit, or are too many
	NotFinite                    // NaN or infinite
	Summary                      // summaries cannot be merged
	NotARequest                  // span of another kind than CLIENT
	Nested                       // client span around client spans
	NoRecordedData               // point that says that there is no value
	BadIntended                  // intended time is not Unix nanoseconds; the row is kept without it
	reasons
)

// Refused reports whether the reason makes a span or point rejected.
func (r Reason) Refused() bool { return r < NotARequest }

// String returns the reason's name in counters.
func (r Reason) String() string {
	return [reasons]string{
		"no_time", "clock_step", "bad_time", "too_many_spans", "too_many_runs", "too_many_groups",
		"no_temporality", "bad_histogram", "not_finite", "summary",
		"not_a_request", "nested", "no_recorded_value", "bad_intended_time",
	}[r]
}

// explain returns the reason in words for the sender.
func (r Reason) explain() string {
	return [reasons]string{
		"it has no start or end time", "it ends before it starts", "its time is before 2000 or after 2100",
		"the request has too many spans", "the request names too many runs", "the request has too many streams of one run",
		"it has no aggregation temporality", "its buckets and bounds do not fit, or are too many",
		"its value is not a finite number", "summaries cannot be merged; send a histogram",
		"", "", "", "its intended time is not in Unix nanoseconds and was ignored",
	}[r]
}

// Report says what became of the spans or points of one request.
type Report struct {
	Rows, Points int64          // kept
	Counts       [reasons]int64 // not kept, by reason
	first        string         // what was refused first
	firstReason  Reason
}

// Count returns how many spans or points met a reason.
func (r *Report) Count(reason Reason) int64 { return r.Counts[reason] }

// Rejected returns the number of refused spans or points.
func (r *Report) Rejected() (n int64) {
	for reason := range NotARequest {
		n += r.Counts[reason]
	}
	return n
}

// Message returns one sentence for the sender, empty when there is nothing to
// complain about.
func (r *Report) Message() string {
	if r.first == "" {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", r.first, r.firstReason.explain())
	sep := " ("
	for reason := range reasons {
		if n := r.Counts[reason]; n > 0 && reason.explain() != "" {
			fmt.Fprintf(&b, "%s%d %s", sep, n, reason)
			sep = ", "
		}
	}
	b.WriteByte(')')
	return b.String()
}

// note counts a span or point; what and name describe it should it be the first.
func (r *Report) note(reason Reason, what string, name []byte) {
	r.Counts[reason]++
	if r.first == "" && reason.explain() != "" {
		r.first, r.firstReason = fmt.Sprintf("%s %q", what, safe(name)), reason
	}
}
