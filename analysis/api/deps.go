package api

import (
	"context"
	"errors"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/query"
)

// Errors of a Runs that the API answers with a status of their own. Wrap them
// to say which run is meant.
var (
	ErrNotFound  = errors.New("no such run")
	ErrConflict  = errors.New("declared otherwise already")
	ErrBadCursor = errors.New("cursor is not one of ours")
	ErrFull      = errors.New("no room to keep it")
	ErrTooMany   = errors.New("too many are kept already")
	ErrInvalid   = errors.New("not acceptable")
	ErrRemoved   = errors.New("rows were removed meanwhile")
)

// Runs is the catalogue of runs that the API reads and changes. Its methods
// may be called concurrently.
type Runs interface {
	// List returns runs, newest first.
	List(ctx context.Context, q ListQuery) (Page, error)
	// Get describes one run, by its id, "latest" or "latest:NAME".
	Get(ctx context.Context, ref string) (Run, error)
	// Open takes a snapshot of what is kept of a run.
	Open(ctx context.Context, id string) (fold.Evidence, error)
	// Declare keeps a declaration and names the run when the declaration does
	// not. It reports false when the same declaration was kept before. A
	// declaration that makes no sense is ErrInvalid, with every reason.
	Declare(ctx context.Context, d wire.Declaration) (run Run, created bool, err error)
	// Finish says that no more data are expected. Finishing twice is no error.
	Finish(ctx context.Context, id string) error
	// Mark adds an event to a run.
	Mark(ctx context.Context, id string, m wire.Mark) error
	// Delete removes a run and all that is kept of it.
	Delete(ctx context.Context, id string) error
	// Watch returns a channel that receives after each change of a run; changes
	// that are not read in time are merged into one. It is closed when ctx ends
	// or the run is deleted.
	Watch(ctx context.Context, id string) (<-chan struct{}, error)
	// SaveVerdict keeps the verdict on a finished run: for lists, and for the
	// time when its rows are gone.
	SaveVerdict(ctx context.Context, id string, v *wire.Verdict) error
	// KeptVerdict returns the verdict that was kept last.
	KeptVerdict(ctx context.Context, id string) (*wire.Verdict, error)
}

// ListQuery asks for a page of runs.
type ListQuery struct {
	Limit  int    // at least 1
	Cursor string // NextCursor of the page before; empty for the first page
	Text   string // part of an id or a name, in any case; empty for all
}

// Page is a part of the list of runs.
type Page struct {
	Runs       []Run
	NextCursor string // empty on the last page
}

// Run describes a run without its rows.
type Run struct {
	ID, Name, Generator string
	Finished            bool
	StartedAt, EndedAt  *time.Time
	Revision            uint64
	Gone                bool     // retention has removed the rows
	Summary             *Summary // of the last verdict that was kept; may be of an older revision
}

// Summary is what a list shows of a verdict.
type Summary struct {
	Revision          uint64
	Outcome, Headline string
}

// Analysis computes answers from the evidence of a run. Its methods are pure
// but for reading the evidence, and may be called concurrently.
type Analysis interface {
	Judge(ctx context.Context, ev fold.Evidence, opt query.Options) (*wire.Verdict, error)
	Series(ctx context.Context, ev fold.Evidence, opt query.Options) (*wire.SeriesAnswer, error)
	Spectrum(ctx context.Context, ev fold.Evidence, opt query.Options) (*wire.Spectrum, error)
	Heatmap(ctx context.Context, ev fold.Evidence, opt query.Options) (*wire.Heatmap, error)
	Goodput(ctx context.Context, ev fold.Evidence, opt query.Options) (*wire.GoodputCurve, error)
}
