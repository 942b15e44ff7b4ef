package grammar

import (
	"fmt"
	"strconv"
	"strings"
)

// Deadline is how long a client is prepared to wait, in seconds; an answer is in
// time if it holds every part. A part that is nil is not asked for.
type Deadline struct {
	EndS       *float64 // to the end of the answer
	FirstByteS *float64 // to its first byte or token
}

const deadlineHelp = "allowed are '2s', or parts such as 'ttft:500ms,e2e:5s' (ttft: time to the first byte or token, e2e: to the end)"

// ParseDeadline reads a deadline: "2s", or "ttft:500ms,e2e:5s".
func ParseDeadline(text string) (Deadline, error) {
	var d Deadline
	if len(text) > maxLength {
		return d, fmt.Errorf("parse deadline: longer than %d bytes", maxLength)
	}
	for part := range strings.SplitSeq(text, ",") {
		if err := d.part(strings.TrimSpace(part)); err != nil {
			return Deadline{}, fmt.Errorf("parse deadline %s: %w", strconv.Quote(shorten(text)), err)
		}
	}
	if d.EndS != nil && d.FirstByteS != nil && *d.FirstByteS > *d.EndS {
		return Deadline{}, fmt.Errorf("parse deadline %s: the first byte may come after the end", strconv.Quote(shorten(text)))
	}
	return d, nil
}

func (d *Deadline) part(text string) error {
	name, limit, named := strings.Cut(text, ":")
	if !named {
		name, limit = "e2e", text
	}
	to := &d.EndS
	switch strings.TrimSpace(name) {
	case "e2e":
	case "ttft":
		to = &d.FirstByteS
	default:
		return fmt.Errorf("%q is no part of a deadline; %s", name, deadlineHelp)
	}
	if *to != nil {
		return fmt.Errorf("%s is given twice", name)
	}
	v, err := parseDuration(limit)
	if err != nil {
		return fmt.Errorf("%w; %s", err, deadlineHelp)
	}
	*to = &v
	return nil
}

// Asked reports whether the deadline has any part.
func (d Deadline) Asked() bool { return d.EndS != nil || d.FirstByteS != nil }

// String writes the deadline as ParseDeadline reads it; nothing for none.
func (d Deadline) String() string {
	switch {
	case d.FirstByteS != nil && d.EndS != nil:
		return "ttft:" + formatDuration(*d.FirstByteS) + ",e2e:" + formatDuration(*d.EndS)
	case d.FirstByteS != nil:
		return "ttft:" + formatDuration(*d.FirstByteS)
	case d.EndS != nil:
		return formatDuration(*d.EndS)
	}
	return ""
}
