package show

import (
	"io"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// mostAdvice is how many pieces of advice are printed.
const mostAdvice = 3

// Imported writes what was read of a file. The run's id comes first, for
// scripts.
func Imported(w io.Writer, i *wire.Imported) error {
	p := &printer{w: w}
	what := whole(i.Rows) + " requests"
	if i.Rows == 0 {
		what = whole(i.Points) + " observations of metrics and no requests"
	}
	if i.Dropped > 0 {
		what += ", " + number(i.Dropped) + " arrivals dropped"
	}
	lasts := ""
	if i.StartedAt != nil && i.EndedAt != nil {
		lasts = " over " + seconds(i.EndedAt.Sub(*i.StartedAt).Seconds())
	}
	p.line("%s: %s%s, rows of grade %s (%s)", Text(i.Run), what, lasts, Text(i.Grade), Text(i.Title))
	if i.Duplicate {
		p.line("  all of it had been imported before: nothing has changed")
	}
	for _, text := range i.Warnings {
		p.line("  note: %s", Text(text))
	}
	for n, text := range i.Advice {
		if n == mostAdvice {
			break
		}
		p.line("  better evidence: %s", Text(text))
	}
	if !i.Finished {
		p.line("  the run is not finished: 'plimsoll run finish %s' says that nothing more will come", Text(i.Run))
	}
	return p.err
}
