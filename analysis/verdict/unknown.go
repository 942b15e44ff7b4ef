package verdict

import (
	"context"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/query"
)

// known refuses a question about a scenario or a source that the run does not
// have. Of a run without requests nothing is known yet.
func (a Analysis) known(ctx context.Context, ev fold.Evidence, st *fold.State, opt query.Options) error {
	if st.Requests > 0 || opt.Scenario == "" && opt.Source == "" {
		return nil
	}
	all, err := a.folded(ctx, ev, query.Options{DeadlineS: opt.DeadlineS, From: opt.From, To: opt.To})
	switch {
	case err != nil:
		return err
	case all.Requests == 0:
		return nil
	case opt.Scenario != "" && !slices.Contains(all.Scenarios, opt.Scenario):
		return &query.UnknownError{What: "scenario", Name: opt.Scenario, Known: all.Scenarios}
	case opt.Source != "" && !slices.Contains(all.Sources, opt.Source):
		return &query.UnknownError{What: "source", Name: opt.Source, Known: all.Sources}
	}
	return nil // each exists, the two together do not
}
