package show

import (
	"io"

	"github.com/plimsoll/plimsoll/analysis/advice"
	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// Advice writes what would improve the evidence of a run.
func Advice(w io.Writer, v *wire.Verdict, list []advice.Advice) error {
	p := &printer{w: w}
	r := &v.Run
	text := "run " + cut(clean(r.ID), 48)
	if r.Generator != "" {
		text += " · from " + cut(clean(r.Generator), 40)
	}
	if r.Grade != nil {
		text += " · grade " + clean(*r.Grade)
	}
	p.line("%s", text)
	if len(list) == 0 {
		p.line("")
		p.line("Nothing that is known here would improve its evidence.")
	}
	for _, a := range list {
		p.line("")
		p.line("%s", clean(a.Set))
		for _, l := range wrap(clean(a.Gain), width-4) {
			p.line("    %s", l)
		}
	}
	return p.err
}

// Hint is the line of a table that names the first thing to set; it is empty when
// there is none.
func Hint(v *wire.Verdict, server string) string {
	a, ok := advice.First(v, server)
	if !ok {
		return ""
	}
	return "better evidence: " + clean(a.Set) + "  (plimsoll doctor " + cut(clean(v.Run.ID), 48) + ")"
}
