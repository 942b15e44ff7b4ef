package api

import (
	"context"
	"errors"
	"fmt"

	"github.com/plimsoll/plimsoll/analysis/query"
)

// Settle judges every finished run whose verdict has not been kept yet. It is
// meant to be called now and then, because silence finishes runs without a
// call, and the verdict has to stand before retention removes the rows. A run
// that cannot be judged is not tried again before it changes.
func (s *Server) Settle(ctx context.Context) error {
	s.settling.Lock()
	defer s.settling.Unlock()
	before := s.unsettled
	s.unsettled = map[string]uint64{} // what is gone from the list is forgotten
	var errs []error
	cursor := ""
	for {
		page, err := s.deps.Runs.List(ctx, ListQuery{Limit: maxLimit, Cursor: cursor})
		if err != nil {
			return fmt.Errorf("list runs: %w", err)
		}
		for i := range page.Runs {
			run := &page.Runs[i]
			known := run.Summary != nil && run.Summary.Revision == run.Revision
			if !run.Finished || run.Gone || known {
				continue
			}
			if before[run.ID] == run.Revision {
				s.unsettled[run.ID] = run.Revision
				continue
			}
			if _, err := s.judge(ctx, run, query.Options{}, false); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				s.unsettled[run.ID] = run.Revision
				errs = append(errs, fmt.Errorf("judge run %q: %w", run.ID, err))
			}
		}
		if cursor = page.NextCursor; cursor == "" {
			return errors.Join(errs...)
		}
	}
}
