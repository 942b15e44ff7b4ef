package importer

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/journal"
)

// Report says what was read.
type Report struct {
	Format  string // name of the format
	Title   string // of the format, for people
	RunID   string
	RunName string
	Runs    []string // that got rows or points: RunID, unless the file names its own

	Rows    int64   // requests and attempts
	Points  int64   // observations of metrics
	Dropped float64 // arrivals that were due and never sent
	Span    sample.Span

	Chunks     int64  // parts that were handed on
	Duplicates int64  // of them, known already
	Refused    int64  // rows and points that were not kept
	Refusal    string // why

	Bad       int64  // lines or records that could not be read
	FirstBad  string // where and why
	Torn      bool   // the last line was cut off
	Truncated error  // the stream ended before its end; nil when it did not

	Bytes    int64 // read, decompressed
	Warnings []string
	Advice   []string // what would give better evidence

	grades [len(grades)]int64
}

// grades in the order of how little they say (DESIGN section 5).
const grades = "XABCSEF"

// Grade returns the weakest grade of the rows as it can be told from the file:
// F when it has only metrics, empty when it has nothing.
func (r *Report) Grade() string {
	grade := ""
	for i, n := range r.grades {
		if n > 0 {
			grade = grades[i : i+1]
		}
	}
	if grade == "" && r.Points > 0 {
		grade = "F"
	}
	return grade
}

// Again reports whether everything had been imported before.
func (r *Report) Again() bool { return r.Chunks > 0 && r.Duplicates == r.Chunks }

// Broken reports whether the file ended before its end.
func (r *Report) Broken() bool { return r.Torn || r.Truncated != nil }

func (r *Report) row(g *sample.Group, row *sample.Row, scheduled bool) {
	r.Rows++
	from := row.Sent
	if row.Intended != 0 {
		from = min(from, row.Intended)
	}
	r.Span = r.Span.Union(sample.Span{From: from, To: row.Done})
	i := 4
	switch {
	case row.Intended != 0 && row.Flags&sample.Corrected != 0:
		i = 0
	case row.Flags&sample.StartIsDue != 0:
		i = 3
	case row.Intended != 0:
		i = 1
	case row.Index != sample.NoIndex && (g.Rate > 0 || scheduled):
		i = 2
	case g.ExpectedInterval > 0:
		i = 5
	}
	r.grades[i]++
}

// mostRuns is how many runs of one file are remembered.
const mostRuns = 1000

func (r *Report) run(id string) {
	if n := len(r.Runs); n > 0 && r.Runs[n-1] == id {
		return
	}
	if !slices.Contains(r.Runs, id) && len(r.Runs) < mostRuns {
		r.Runs = append(r.Runs, id)
	}
}

func (r *Report) point(from, to int64) {
	r.Points++
	if from <= 0 || from > to {
		from = to
	}
	if r.Rows == 0 {
		r.Span = r.Span.Union(sample.Span{From: from, To: to})
	}
}

func (r *Report) drop(at int64, n float64) {
	r.Dropped += n
	r.Span = r.Span.Union(sample.Span{From: at, To: at})
}

func (r *Report) receipt(got journal.Receipt, sent int64) {
	r.Chunks++
	if got.Duplicate {
		r.Duplicates++
	}
	if got.Rejected > 0 {
		r.Refused += min(got.Rejected, sent)
		r.Refusal = got.Message
	}
}

// close adds what the end of the file shows, and says whether that is a failure.
func (r *Report) close() error {
	if len(r.Runs) > 0 && !slices.Contains(r.Runs, r.RunID) {
		r.RunID = r.Runs[0]
	}
	if len(r.Runs) == 0 && r.Points > 0 {
		r.Warnings = note(r.Warnings, "all of it are metrics of servers: they are kept by time and belong to no run")
	}
	if len(r.Runs) > 1 {
		r.Warnings = note(r.Warnings, fmt.Sprintf("the file holds %d runs: %s", len(r.Runs), strings.Join(r.Runs[:min(len(r.Runs), 10)], ", ")))
	}
	if r.Truncated != nil {
		r.Warnings = note(r.Warnings, fmt.Sprintf("the stream ended early (%v): what follows is missing", r.Truncated))
	} else if r.Torn {
		r.Warnings = note(r.Warnings, "the last line is cut off and was passed over: the generator had not finished, or the file is not whole")
	}
	if r.Bad > 0 {
		r.Warnings = note(r.Warnings, fmt.Sprintf("%d records could not be read, the first at %s", r.Bad, r.FirstBad))
	}
	if r.Refused > 0 {
		r.Warnings = note(r.Warnings, r.Refusal)
	}
	switch {
	case r.Rows+r.Points > 0:
		return nil
	case r.Bad > 0:
		return fmt.Errorf("read %s: nothing in it can be read, the first bad record is at %s", r.Title, r.FirstBad)
	}
	return fmt.Errorf("read %s: it holds no request", r.Title)
}

// Length is the time from the first request, or its due time, to the last end.
func (r *Report) Length() time.Duration { return time.Duration(r.Span.To - r.Span.From) }
