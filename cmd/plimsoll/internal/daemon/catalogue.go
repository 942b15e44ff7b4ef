package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api"
	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/warm"
	"github.com/plimsoll/plimsoll/collector/journal"
	"github.com/plimsoll/plimsoll/collector/runs"
)

// catalogue gives the API what it asks of runs.
type catalogue struct {
	runs     *runs.Catalogue
	states   *warm.States
	judged   func(v *wire.Verdict) // called when the verdict on a finished run stands; nil for nothing
	now      func() time.Time
	watching *sync.WaitGroup
}

// List implements api.Runs.
func (c catalogue) List(ctx context.Context, q api.ListQuery) (api.Page, error) {
	infos, next, err := c.runs.List(ctx, runs.Query{Limit: q.Limit, Cursor: q.Cursor, Q: q.Text})
	page := api.Page{NextCursor: next}
	for i := range infos {
		page.Runs = append(page.Runs, describe(&infos[i]))
	}
	return page, translate(err)
}

// Get implements api.Runs.
func (c catalogue) Get(ctx context.Context, ref string) (api.Run, error) {
	info, err := c.runs.Resolve(ctx, ref)
	return describe(&info), translate(err)
}

// Open implements api.Runs.
func (c catalogue) Open(ctx context.Context, id string) (fold.Evidence, error) {
	ev, err := c.runs.Open(ctx, id)
	if err != nil {
		return nil, translate(err)
	}
	return snapshot{ev}, nil
}

// snapshot is evidence whose errors are those of the API: a run may be deleted
// while it is read.
type snapshot struct{ fold.Evidence }

// Read implements fold.Evidence.
func (s snapshot) Read(ctx context.Context, at []int, fn func(i int, b *sample.Batch) error) error {
	return translate(s.Evidence.Read(ctx, at, fn))
}

// Telemetry implements fold.Evidence.
func (s snapshot) Telemetry(ctx context.Context, span sample.Span, fn func(b *sample.Batch) error) error {
	return translate(s.Evidence.Telemetry(ctx, span, fn))
}

// Declare implements api.Runs.
func (c catalogue) Declare(ctx context.Context, d wire.Declaration) (api.Run, bool, error) {
	info, created, err := c.runs.Declare(ctx, d)
	return describe(&info), created, translate(err)
}

// Finish implements api.Runs.
func (c catalogue) Finish(ctx context.Context, id string) error {
	_, err := c.runs.Finish(ctx, id)
	return translate(err)
}

// Mark implements api.Runs.
func (c catalogue) Mark(ctx context.Context, id string, m wire.Mark) error {
	_, err := c.runs.Mark(ctx, id, m)
	return translate(err)
}

// Delete implements api.Runs.
func (c catalogue) Delete(ctx context.Context, id string) error {
	defer c.states.Forget(id) // its name may be used again
	return translate(c.runs.Delete(ctx, id))
}

// SaveVerdict implements api.Runs.
func (c catalogue) SaveVerdict(ctx context.Context, id string, v *wire.Verdict) error {
	document, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode verdict: %w", err)
	}
	sum := runs.Summary{Revision: v.Revision, Outcome: v.Outcome, Headline: v.Headline, Verdict: document}
	if v.Run.Grade != nil {
		sum.Grade = *v.Run.Grade
	}
	if err := c.runs.SaveSummary(ctx, id, sum); err != nil {
		return translate(err)
	}
	if c.judged != nil {
		c.judged(v)
	}
	return nil
}

// KeptVerdict implements api.Runs.
func (c catalogue) KeptVerdict(ctx context.Context, id string) (*wire.Verdict, error) {
	document, err := c.runs.Verdict(ctx, id)
	if err != nil {
		return nil, translate(err)
	}
	v := new(wire.Verdict)
	if err := json.Unmarshal(document, v); err != nil {
		return nil, fmt.Errorf("decode kept verdict: %w", err)
	}
	return v, nil
}

// Watch implements api.Runs. The catalogue says nothing when silence finishes a
// run, so a timer does.
func (c catalogue) Watch(ctx context.Context, id string) (<-chan struct{}, error) {
	woken, cancel := c.runs.Watch(id)
	out := make(chan struct{}, 1)
	c.watching.Go(func() { // ends with ctx, which the caller ends
		defer close(out)
		defer cancel()
		quiet := time.NewTimer(c.untilQuiet(ctx, id))
		defer quiet.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-woken:
			case <-quiet.C:
			}
			select {
			case out <- struct{}{}:
			default: // one is waiting
			}
			quiet.Reset(c.untilQuiet(ctx, id))
		}
	})
	return out, nil
}

// untilQuiet returns how long it takes at least until silence finishes a run.
func (c catalogue) untilQuiet(ctx context.Context, id string) time.Duration {
	info, err := c.runs.Resolve(ctx, id)
	if err != nil || info.State == wire.Finished {
		return time.Hour
	}
	return max(info.QuietAt.Sub(c.now()), 0) + time.Second
}

func describe(i *runs.Info) api.Run {
	r := api.Run{
		ID: i.ID, Name: i.Name, Generator: i.Generator, Finished: i.State == wire.Finished,
		StartedAt: i.StartedAt, EndedAt: i.EndedAt, Revision: i.Revision, Gone: i.GoneAt != nil && i.Batches == 0,
	}
	if i.Judged != 0 {
		r.Summary = &api.Summary{Revision: i.Judged, Outcome: i.Outcome, Headline: i.Headline}
	}
	return r
}

// answered is an error of the catalogue that is also one that the API knows.
type answered struct {
	error
	as error
}

// Unwrap lets errors.Is see both.
func (a answered) Unwrap() []error { return []error{a.error, a.as} }

// translate says for each error of the catalogue which one of the API it is.
func translate(err error) error {
	if err == nil {
		return nil
	}
	for _, t := range []struct{ from, to error }{
		{runs.ErrNotFound, api.ErrNotFound},
		{runs.ErrDeclaredOtherwise, api.ErrConflict},
		{runs.ErrBadCursor, api.ErrBadCursor},
		{runs.ErrTooMany, api.ErrTooMany},
		{runs.ErrRemoved, api.ErrRemoved},
		{journal.ErrFull, api.ErrFull},
	} {
		if errors.Is(err, t.from) {
			return answered{err, t.to}
		}
	}
	if _, ok := errors.AsType[*runs.InvalidError](err); ok {
		return answered{err, api.ErrInvalid}
	}
	return err
}
