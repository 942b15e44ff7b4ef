package show

import (
	"fmt"
	"io"
	"time"

	"github.com/plimsoll/plimsoll/demo"
	"github.com/plimsoll/plimsoll/demo/generator"
)

// Progress shows how a demonstration goes: on a terminal in one line that is
// written over, elsewhere in a line per step.
type Progress struct {
	W    io.Writer
	Live bool // W is a terminal

	step string
	open bool // a line is waiting to be written over
}

// Show takes a look.
func (p *Progress) Show(s demo.Snapshot) {
	line := fmt.Sprintf("%3.0f s of %.0f s  %-14s  offered %4.0f/s  completed %4.0f/s  in time %4.0f/s  in flight %5d",
		s.Elapsed.Seconds(), s.Total.Seconds(), s.Step, s.Offered, s.Interval.Completed, s.Interval.Good, s.Counts.InFlight)
	switch {
	case p.Live:
		fmt.Fprintf(p.W, "\r\x1b[K%s", line)
		p.open = true
	case s.Step != p.step:
		fmt.Fprintln(p.W, line)
	}
	p.step = s.Step
}

// End leaves the last line as it is.
func (p *Progress) End() {
	if p.open {
		fmt.Fprintln(p.W)
	}
	fmt.Fprintln(p.W)
}

// Naive writes what an uncorrected closed loop reported of the same load.
func Naive(w io.Writer, r *generator.ClosedReport) error {
	p := &printer{w: w}
	p.line("")
	p.line("For comparison, what an ordinary closed-loop tool with %d workers reported when it was asked for", r.Workers)
	p.line("the same rates of the same service. It slows down with the service, so it misses what users feel:")
	p.line("")
	rows := [][]string{{"STEP", "ASKED", "GOT", "FAILED", "p50", "p95", "p99"}}
	for i := range r.Steps {
		rows = append(rows, naiveRow(fmt.Sprintf("%d %s", i, clean(r.Steps[i].Name)), &r.Steps[i]))
	}
	rows = append(rows, naiveRow("all", &r.Total))
	for _, l := range columns(rows) {
		p.line("%s", l)
	}
	return p.err
}

func naiveRow(name string, st *generator.ClosedStep) []string {
	asked := none
	if st.Rate > 0 {
		asked = number(st.Rate) + "/s"
	}
	t := func(d time.Duration) string { return seconds(d.Seconds()) }
	return []string{name, asked, number(st.PerS) + "/s", whole(st.Failed), t(st.P50), t(st.P95), t(st.P99)}
}
