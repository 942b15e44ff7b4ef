package show

import (
	"io"
	"strconv"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// Comparison writes two runs side by side for a person at a terminal.
func Comparison(w io.Writer, c *wire.Comparison, colour bool) error {
	p := &printer{w: w, colour: colour}
	for _, l := range wrap(clean(c.Headline), width) {
		p.line("%s", l)
	}
	p.line("")
	for _, s := range []struct {
		when string
		run  *wire.ComparedRun
	}{{"before", &c.Before}, {"after ", &c.After}} {
		p.line("%s  %s  %s", s.when, p.paint(clean(s.run.Outcome)), clean(s.run.Run.ID))
	}
	for _, note := range c.Notes {
		p.line("note    %s", clean(note))
	}
	if d := c.Capacity; d != nil {
		p.line("")
		p.line("capacity  %s", difference(d, perSecond))
	}
	for i := range c.Steps {
		p.line("")
		p.compared(&c.Steps[i])
	}
	return p.err
}

func (p *printer) compared(s *wire.ComparedStep) {
	name := clean(s.Name)
	if name == "" {
		name = "step " + rate(s.Offered)
	}
	p.line("%s: %s before, %s after", name, p.paint(orMissing(s.BeforeClass)), p.paint(orMissing(s.AfterClass)))
	for _, row := range []struct {
		name string
		d    *wire.Difference
		unit func(float64) string
	}{
		{"completed", s.Completed, perSecond},
		{"goodput", s.Goodput, perSecond},
		{"failed", s.FailureRatio, percent},
		{"p50", s.P50, seconds},
		{"p95", s.P95, seconds},
		{"p99", s.P99, seconds},
	} {
		if row.d != nil {
			p.line("  %-10s%s", row.name, difference(row.d, row.unit))
		}
	}
	if s.Reason != "" {
		for i, l := range wrap("response times are not compared: "+clean(s.Reason), width-2) {
			if i == 0 {
				p.line("  %s", l)
			} else {
				p.line("    %s", l)
			}
		}
	}
}

func orMissing(class string) string {
	if class == "" {
		return "missing"
	}
	return clean(class)
}

func perSecond(v float64) string { return number(v) + "/s" }

// difference writes a change, its interval and what it says.
func difference(d *wire.Difference, unit func(float64) string) string {
	text := side(&d.Before, unit) + " -> " + side(&d.After, unit)
	if c := &d.Change; c.Lo != nil && c.Hi != nil {
		text += "  change " + signed(*c.Lo, unit) + " to " + signed(*c.Hi, unit) + " at " + strconv.FormatFloat(c.Confidence*100, 'f', -1, 64) + " %"
	}
	return text + "  " + clean(d.Says)
}

func side(e *wire.Estimate, unit func(float64) string) string {
	switch {
	case e.Value != nil:
		return unit(*e.Value)
	case e.Lo != nil:
		return "> " + unit(*e.Lo)
	}
	return none
}

func signed(v float64, unit func(float64) string) string {
	if v < 0 {
		return "-" + unit(-v)
	}
	return "+" + unit(v)
}
