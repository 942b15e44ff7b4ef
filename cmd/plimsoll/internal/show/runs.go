package show

import (
	"io"
	"unicode/utf8"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// Runs writes a list of runs for a person at a terminal.
func Runs(w io.Writer, list *wire.RunList, colour bool) error {
	p := &printer{w: w, colour: colour}
	if len(list.Runs) == 0 {
		p.line("no runs")
		return p.err
	}
	rows := [][]string{{"RUN", "NAME", "STATE", "STARTED", "LASTS", "OUTCOME"}}
	for i := range list.Runs {
		r := &list.Runs[i]
		started, lasts := none, none
		if r.StartedAt != nil {
			started = r.StartedAt.UTC().Format("2006-01-02 15:04:05Z")
			if r.EndedAt != nil {
				lasts = seconds(r.EndedAt.Sub(*r.StartedAt).Seconds())
			}
		}
		outcome := clean(r.Outcome)
		if outcome == "" {
			outcome = none
		}
		// An id is needed whole, to be copied; a name is not.
		rows = append(rows, []string{clean(r.ID), cut(clean(r.Name), 20), clean(r.State), started, lasts, outcome})
	}
	lines := columns(rows, 1, 2, 3, 5)
	for i, l := range lines {
		if i > 0 {
			outcome := rows[i][5]
			l = l[:len(l)-len(outcome)] + p.paint(outcome)
		}
		p.line("%s", l)
		if i == 0 {
			continue
		}
		if headline := clean(list.Runs[i-1].Headline); headline != "" {
			p.line("  %s", cut(headline, max(width-2, utf8.RuneCountInString(lines[0]))))
		}
	}
	if list.NextCursor != "" {
		p.line("there are more: --cursor %s", clean(list.NextCursor))
	}
	return p.err
}
