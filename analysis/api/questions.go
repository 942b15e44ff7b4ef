package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/warm"
)

// verdict answers GET …/verdict.
func (s *Server) verdict(w http.ResponseWriter, r *http.Request) error {
	opt, err := options(r, "objective", "max_points")
	if err != nil {
		return err
	}
	opt.MaxPoints = 0 // a verdict has no points in time; the parameter is common
	run, err := s.find(r)
	if err != nil {
		return err
	}
	got, err := s.judge(r.Context(), &run, opt, false)
	if err != nil {
		return err
	}
	writeBody(w, http.StatusOK, got.body)
	return nil
}

// littleslaw answers GET …/littleslaw with a part of the verdict.
func (s *Server) littleslaw(w http.ResponseWriter, r *http.Request) error {
	opt, err := options(r, "max_points")
	if err != nil {
		return err
	}
	opt.MaxPoints = 0
	run, err := s.find(r)
	if err != nil {
		return err
	}
	got, err := s.judge(r.Context(), &run, opt, false)
	if err != nil {
		return err
	}
	v := got.value.(*wire.Verdict)
	table := wire.LittleTable{Rows: make([]wire.LittleRow, 0, len(v.Steps))}
	for i := range v.Steps {
		st := &v.Steps[i]
		table.Rows = append(table.Rows, wire.LittleRow{Step: st.Index, Name: st.Name, Little: st.LittlesLaw})
	}
	writeJSON(w, http.StatusOK, table)
	return nil
}

// series answers GET …/series.
func (s *Server) series(w http.ResponseWriter, r *http.Request) error {
	return ask(s, w, r, "series", s.deps.Analysis.Series, "names", "max_points")
}

// spectrum answers GET …/spectrum.
func (s *Server) spectrum(w http.ResponseWriter, r *http.Request) error {
	return ask(s, w, r, "spectrum", s.deps.Analysis.Spectrum, "max_points", "steps")
}

// heatmap answers GET …/heatmap.
func (s *Server) heatmap(w http.ResponseWriter, r *http.Request) error {
	return ask(s, w, r, "heatmap", s.deps.Analysis.Heatmap, "max_points")
}

// goodput answers GET …/goodput.
func (s *Server) goodput(w http.ResponseWriter, r *http.Request) error {
	return ask(s, w, r, "goodput", s.deps.Analysis.Goodput, "max_points")
}

// ask answers a question that needs nothing but the evidence of one run.
func ask[T any](s *Server, w http.ResponseWriter, r *http.Request, kind string,
	compute func(context.Context, fold.Evidence, query.Options) (T, error), params ...string,
) error {
	opt, err := options(r, params...)
	if err != nil {
		return err
	}
	run, err := s.find(r)
	if err != nil {
		return err
	}
	got, err := s.compute(r.Context(), &run, kind, opt, false, func(ctx context.Context, ev fold.Evidence) (any, error) {
		return compute(ctx, ev, opt)
	})
	if err != nil {
		return err
	}
	writeBody(w, http.StatusOK, got.body)
	return nil
}

// Judge returns the verdict on a run as it is kept now, as GET …/verdict does.
func (s *Server) Judge(ctx context.Context, id string) (*wire.Verdict, error) {
	run, err := s.deps.Runs.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	got, err := s.judge(ctx, &run, query.Options{}, false)
	if err != nil {
		return nil, err
	}
	return got.value.(*wire.Verdict), nil
}

// judge returns the verdict on a run. The verdict on a finished run as it was
// declared is also kept as the summary that lists show.
func (s *Server) judge(ctx context.Context, run *Run, opt query.Options, sticky bool) (answer, error) {
	return s.compute(ctx, run, "verdict", opt, sticky, func(ctx context.Context, ev fold.Evidence) (any, error) {
		v, err := s.deps.Analysis.Judge(ctx, ev, opt)
		if err != nil {
			return nil, err
		}
		known := run.Summary != nil && run.Summary.Revision == v.Revision
		if ev.Run().Finished && !known && isDefault(opt) {
			if err := s.deps.Runs.SaveVerdict(ctx, run.ID, v); err != nil && !errors.Is(err, ErrNotFound) {
				s.deps.Log.Warn("verdict was not kept", "run", run.ID, "error", err)
			}
		}
		return v, nil
	})
}

// compute finds an answer among those remembered, or opens the run for it.
func (s *Server) compute(ctx context.Context, run *Run, kind string, opt query.Options, sticky bool,
	fn func(context.Context, fold.Evidence) (any, error),
) (answer, error) {
	k := key(run, kind, opt)
	if got, ok := s.answers.Peek(k); ok {
		s.stats.hits.Inc()
		return got, nil
	}
	s.stats.misses.Inc()
	patience := warm.Awaited
	switch {
	case sticky:
		patience = warm.Kept
	case run.Finished: // reading it goes on for the next who asks
		patience = warm.Lingering
	}
	return s.answers.Get(ctx, k, patience, func(ctx context.Context) (answer, error) {
		if run.Gone {
			return encoded(s.frozen(ctx, run, kind, opt))
		}
		ev, err := s.deps.Runs.Open(ctx, run.ID)
		if err != nil {
			return answer{}, err
		}
		return encoded(fn(ctx, ev))
	})
}

// frozen answers for a run whose rows retention has removed: with the verdict
// that was kept, and with nothing that would need rows.
func (s *Server) frozen(ctx context.Context, run *Run, kind string, opt query.Options) (any, error) {
	if kind == "verdict" && isDefault(opt) {
		v, err := s.deps.Runs.KeptVerdict(ctx, run.ID)
		if err == nil || !errors.Is(err, ErrNotFound) {
			return v, err
		}
	}
	return nil, &problem{
		status: http.StatusGone, code: "rows_gone", text: "the rows of this run have been removed by retention",
		hint: "the verdict as it was declared may still be kept; nothing else can be computed",
	}
}

// key names a question to a revision of a run.
func key(run *Run, kind string, opt query.Options) string {
	text, _ := json.Marshal(opt) // pointers to numbers, times and text: it cannot fail
	return run.ID + "\x00" + strconv.FormatUint(run.Revision, 10) + "\x00" + kind + "\x00" + string(text)
}

func isDefault(o query.Options) bool {
	return o.DeadlineS == nil && o.FirstByteDeadlineS == nil && o.From == nil && o.To == nil && o.Scenario == "" && o.Source == "" && o.Objectives == nil
}
