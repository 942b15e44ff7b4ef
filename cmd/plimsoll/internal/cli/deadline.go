package cli

import (
	"net/url"
	"strconv"

	"github.com/plimsoll/plimsoll/analysis/grammar"
)

// Deadline is a flag for the patience of a client, such as "2s" or
// "ttft:500ms,e2e:5s".
type Deadline struct{ grammar.Deadline }

// Set implements flag.Value.
func (d *Deadline) Set(s string) (err error) {
	d.Deadline, err = grammar.ParseDeadline(s)
	return err
}

// Ask adds the parts of the deadline to the parameters of a call.
func (d *Deadline) Ask(q url.Values) {
	for name, part := range map[string]*float64{"deadline_s": d.EndS, "first_byte_deadline_s": d.FirstByteS} {
		if part != nil {
			q.Set(name, strconv.FormatFloat(*part, 'g', -1, 64))
		}
	}
}
