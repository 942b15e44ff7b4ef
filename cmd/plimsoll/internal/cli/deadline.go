package cli

import "github.com/plimsoll/plimsoll/analysis/grammar"

// Deadline is a flag for the patience of a client, such as "2s" or
// "ttft:500ms,e2e:5s".
type Deadline struct{ grammar.Deadline }

// Set implements flag.Value.
func (d *Deadline) Set(s string) (err error) {
	d.Deadline, err = grammar.ParseDeadline(s)
	return err
}
