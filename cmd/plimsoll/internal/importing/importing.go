// Package importing brings result files of generators into the catalogue of
// runs, for the server and for the command that works without one: it reads
// the file with collector/importer, declares what the user said of the run,
// and finishes the run unless a pipe broke off.
package importing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api"
	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/convention"
	"github.com/plimsoll/plimsoll/collector/importer"
	"github.com/plimsoll/plimsoll/collector/journal"
	"github.com/plimsoll/plimsoll/collector/otlp"
	"github.com/plimsoll/plimsoll/collector/runs"
)

// Importer imports into a catalogue.
type Importer struct {
	Runs  *runs.Catalogue
	Table *convention.Table // how OTLP files are understood
	// Progress is called as rows are kept; it may be nil.
	Progress func(rows, bytes int64)
}

// kept is an error of the catalogue, not of the file.
type kept struct{ error }

func (k kept) Unwrap() error { return k.error }

// Import implements api.Importer.
func (i *Importer) Import(ctx context.Context, q api.ImportQuery, file io.Reader) (*wire.Imported, error) {
	in := importer.Input{
		Name: q.File, Reader: file, Live: q.Live, Format: q.Format, RunID: q.Run,
		OneRun: len(q.Schedule.Steps) > 0 || q.Deadline.Asked(), Scheduled: len(q.Schedule.Steps) > 0, OTLP: otlp.NewDecoder(i.Table),
		Ended: nanos(q.Ended), Written: nanos(q.Written),
		Begin: func(r *importer.Report) error { return i.declare(ctx, r, &q) },
		Progress: func(r *importer.Report) {
			if i.Progress != nil {
				i.Progress(r.Rows, r.Bytes)
			}
		},
	}
	report, err := importer.Import(ctx, in, i.keep)
	if err != nil {
		if k, ok := errors.AsType[kept](err); ok {
			return nil, k.error
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, unreadable{err}
	}
	out := answer(report)
	if broken := report.Truncated != nil || q.Live && report.Broken(); !broken {
		for _, id := range report.Runs {
			if named(id) != nil {
				continue // its rows were refused
			}
			if _, err := i.Runs.Finish(ctx, id); err != nil {
				return nil, fmt.Errorf("finish run: %w", err)
			}
		}
		out.Finished = true
	}
	return out, nil
}

// unreadable is an error of the file.
type unreadable struct{ error }

func (u unreadable) Unwrap() []error { return []error{u.error, api.ErrUnreadable} }

func (i *Importer) keep(ctx context.Context, id journal.ID, batches []*sample.Batch) (journal.Receipt, error) {
	r, err := i.Runs.Import(ctx, id, batches)
	if err != nil {
		return r, kept{err}
	}
	return r, nil
}

// named refuses what cannot be the id of a run.
func named(id string) error {
	if problems := runs.CheckDeclaration(&wire.Declaration{ID: id}); len(problems) > 0 {
		return &runs.InvalidError{Problems: problems}
	}
	return nil
}

// declare keeps what the user said of the run.
func (i *Importer) declare(ctx context.Context, r *importer.Report, q *api.ImportQuery) error {
	if err := named(r.RunID); err != nil {
		return kept{err}
	}
	if len(q.Schedule.Steps) == 0 && !q.Deadline.Asked() {
		return nil
	}
	d := wire.Declaration{ID: r.RunID, Name: r.RunName, DeadlineS: q.Deadline.EndS, FirstByteDeadlineS: q.Deadline.FirstByteS, Steps: q.Schedule.Steps}
	if len(q.Schedule.Steps) > 0 {
		d.Arrival = &wire.Arrival{Model: "open", Process: q.Schedule.Process}
	}
	if _, _, err := i.Runs.Declare(ctx, d); err != nil {
		return kept{err}
	}
	return nil
}

func nanos(t *time.Time) int64 {
	if t == nil {
		return 0
	}
	return t.UnixNano()
}

func answer(r *importer.Report) *wire.Imported {
	out := &wire.Imported{
		Run: r.RunID, Name: r.RunName, Format: r.Format, Title: r.Title,
		Rows: r.Rows, Points: r.Points, Dropped: r.Dropped, Bad: r.Bad,
		Grade: r.Grade(), Duplicate: r.Again(), Warnings: r.Warnings, Advice: r.Advice,
	}
	if !r.Span.IsZero() {
		from, to := time.Unix(0, r.Span.From).UTC(), time.Unix(0, r.Span.To).UTC()
		out.StartedAt, out.EndedAt = &from, &to
	}
	if out.Warnings == nil {
		out.Warnings = []string{}
	}
	if out.Advice == nil {
		out.Advice = []string{}
	}
	return out
}
