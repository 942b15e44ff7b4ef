package influx

import (
	"fmt"
	"strings"

	"github.com/plimsoll/plimsoll/collector/batch"
)

// Reason says why a line was refused or passed over.
type Reason uint8

// Reasons. Refusals are answered as partial writes; the others are only counted.
const (
	Malformed     Reason = iota // InfluxDB would refuse the line
	BadTime                     // before 2000 or after 2100
	TooManyRuns                 // names more runs than one request may
	TooManyGroups               // more streams in one run than a batch can hold
	Unknown                     // of no known generator, and not in the mapping
	Detail                      // of a known generator, and says nothing that is needed
	reasons
)

// Refused reports whether the reason makes a line refused.
func (r Reason) Refused() bool { return r < Unknown }

// String returns the reason's name in counters.
func (r Reason) String() string {
	return [reasons]string{"malformed", "bad_time", "too_many_runs", "too_many_groups", "unknown", "detail"}[r]
}

// explain returns the reason in words for the sender.
func (r Reason) explain() error {
	switch r {
	case TooManyRuns:
		return fmt.Errorf("the request names more than %d runs", batch.MostRuns)
	case TooManyGroups:
		return fmt.Errorf("the request has more than %d streams of one run", batch.MostGroups)
	default:
		return fmt.Errorf("%s", r)
	}
}

// Bounds of what a report says in words.
const (
	mostNamed = 10  // refused lines that are named
	mostShown = 200 // bytes of a line that are shown
)

// Report says what became of the lines of one request.
type Report struct {
	Lines, Rows, Points int64 // read; kept
	Counts              [reasons]int64
	FirstBad            int64 // number of the first refused line, from 1
	named               []string
}

// Refused returns the number of refused lines.
func (r *Report) Refused() (n int64) {
	for reason := range Unknown {
		n += r.Counts[reason]
	}
	return n
}

// Message names the refused lines in InfluxDB's words, one line each; empty when
// there are none.
func (r *Report) Message() string {
	if more := r.Refused() - int64(len(r.named)); more > 0 && len(r.named) > 0 {
		return fmt.Sprintf("%s\nand %d more lines", strings.Join(r.named, "\n"), more)
	}
	return strings.Join(r.named, "\n")
}

// refuse counts a line that cannot be kept and names it.
func (r *Report) refuse(reason Reason, s []byte, err error) {
	r.Counts[reason]++
	if r.FirstBad == 0 {
		r.FirstBad = r.Lines
	}
	if len(r.named) < mostNamed {
		r.named = append(r.named, fmt.Sprintf("unable to parse '%s': %v", strings.ToValidUTF8(string(s[:min(len(s), mostShown)]), "\uFFFD"), err))
	}
}

func (r *Report) reset() {
	clear(r.named)
	*r = Report{named: r.named[:0]}
}
