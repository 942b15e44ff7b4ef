package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/query"
)

// listPatience is how long a list waits for verdicts that were not computed
// before. What is not there by then shows no outcome, and will the next time.
const listPatience = 2 * time.Second

// list answers GET /api/v1/runs.
func (s *Server) list(w http.ResponseWriter, r *http.Request) error {
	q, err := values(r, listParams...)
	if err != nil {
		return err
	}
	limit, err := count(q, "limit", defaultLimit, maxLimit)
	if err != nil {
		return err
	}
	page, err := s.deps.Runs.List(r.Context(), ListQuery{Limit: limit, Cursor: q.Get("cursor"), Text: q.Get("q")})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), listPatience)
	defer cancel()
	out := wire.RunList{Runs: make([]wire.RunItem, 0, len(page.Runs)), NextCursor: page.NextCursor}
	left := s.cfg.MaxListJudged
	for i := range page.Runs {
		out.Runs = append(out.Runs, s.item(ctx, &page.Runs[i], &left))
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

// item describes a run in a list. It may judge the run, at most *left times.
func (s *Server) item(ctx context.Context, run *Run, left *int) wire.RunItem {
	it := itemOf(run)
	if run.Summary != nil && run.Summary.Revision == run.Revision {
		return it
	}
	it.Outcome, it.Headline = "", "" // of an older revision
	got, ok := s.answers.Peek(key(run, "verdict", query.Options{}))
	if !ok && *left > 0 && ctx.Err() == nil {
		*left--
		var err error
		got, err = s.judge(ctx, run, query.Options{}, true)
		ok = err == nil
		if err != nil && ctx.Err() == nil {
			s.deps.Log.Warn("run in list was not judged", "run", run.ID, "error", err)
		}
	}
	if ok {
		v := got.value.(*wire.Verdict)
		it.Outcome, it.Headline = v.Outcome, v.Headline
	}
	return it
}

func itemOf(run *Run) wire.RunItem {
	it := wire.RunItem{
		ID: run.ID, Name: run.Name, Generator: run.Generator, State: wire.Live,
		StartedAt: run.StartedAt, EndedAt: run.EndedAt, Revision: run.Revision,
	}
	if run.Finished {
		it.State = wire.Finished
	}
	if run.Summary != nil {
		it.Outcome, it.Headline = run.Summary.Outcome, run.Summary.Headline
	}
	return it
}

// find reads the {id} of a path.
func (s *Server) find(r *http.Request) (Run, error) {
	return s.deps.Runs.Get(r.Context(), r.PathValue("id"))
}

// run answers GET /api/v1/runs/{id}.
func (s *Server) run(w http.ResponseWriter, r *http.Request) error {
	if _, err := values(r); err != nil {
		return err
	}
	run, err := s.find(r)
	if err != nil {
		return err
	}
	one := 1
	ctx, cancel := context.WithTimeout(r.Context(), listPatience)
	defer cancel()
	it := s.item(ctx, &run, &one)
	if s.deps.Progress != nil {
		if share, ok := s.deps.Progress(run.ID); ok {
			it.Judging = &share
		}
	}
	writeJSON(w, http.StatusOK, it)
	return nil
}

// declare answers POST /api/v1/runs.
func (s *Server) declare(w http.ResponseWriter, r *http.Request) error {
	if _, err := values(r); err != nil {
		return err
	}
	var d wire.Declaration
	if err := readBody(r, &d); err != nil {
		return err
	}
	run, created, err := s.deps.Runs.Declare(r.Context(), d)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	w.Header().Set("Location", "/api/v1/runs/"+url.PathEscape(run.ID))
	none := 0
	writeJSON(w, status, s.item(r.Context(), &run, &none))
	return nil
}

// finish answers POST …/finish, when the verdict stands.
func (s *Server) finish(w http.ResponseWriter, r *http.Request) error {
	if err := bare(r); err != nil {
		return err
	}
	run, err := s.find(r)
	if err != nil {
		return err
	}
	if err := s.deps.Runs.Finish(r.Context(), run.ID); err != nil {
		return err
	}
	if run, err = s.deps.Runs.Get(r.Context(), run.ID); err != nil {
		return err
	}
	got, err := s.judge(r.Context(), &run, query.Options{}, true)
	if err != nil {
		return fmt.Errorf("judge finished run: %w", err)
	}
	v := got.value.(*wire.Verdict)
	it := itemOf(&run)
	it.Outcome, it.Headline = v.Outcome, v.Headline
	writeJSON(w, http.StatusOK, it)
	return nil
}

// mark answers POST …/marks.
func (s *Server) mark(w http.ResponseWriter, r *http.Request) error {
	if _, err := values(r); err != nil {
		return err
	}
	var m wire.Mark
	if err := readBody(r, &m); err != nil {
		return err
	}
	switch {
	case m.At.IsZero():
		m.At = s.deps.Now()
	case m.At.Year() < 1970 || m.At.Year() > 2261:
		return badBody("at: a time is needed, such as 2026-11-30T10:00:00Z")
	}
	switch {
	case m.Name == "" || len(m.Name) > maxTextLength:
		return badBody(fmt.Sprintf("name: 1 to %d bytes are needed", maxTextLength))
	}
	run, err := s.find(r)
	if err != nil {
		return err
	}
	m.At = m.At.UTC()
	if err := s.deps.Runs.Mark(r.Context(), run.ID, m); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, m)
	return nil
}

// remove answers DELETE /api/v1/runs/{id}.
func (s *Server) remove(w http.ResponseWriter, r *http.Request) error {
	if err := bare(r); err != nil {
		return err
	}
	run, err := s.find(r)
	if err != nil {
		return err
	}
	if err := s.deps.Runs.Delete(r.Context(), run.ID); err != nil {
		return err
	}
	s.answers.Forget(run.ID + "\x00")
	writeJSON(w, http.StatusOK, wire.Deleted{ID: run.ID})
	return nil
}

// bare refuses parameters and a body.
func bare(r *http.Request) error {
	if _, err := values(r); err != nil {
		return err
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return bodyError(err)
	}
	for _, c := range body {
		if c != ' ' && c != '\n' && c != '\r' && c != '\t' && c != '{' && c != '}' {
			return badBody("this call takes no body")
		}
	}
	return nil
}

// readBody decodes one JSON document strictly.
func readBody(r *http.Request, to any) error {
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(to); err != nil {
		return bodyError(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		if err != nil {
			return bodyError(err)
		}
		return badBody("the body holds more than one JSON document")
	}
	return nil
}

func bodyError(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return err
	}
	if errors.Is(err, io.EOF) {
		return badBody("the body is empty; a JSON document is needed")
	}
	return badBody("the body is not the JSON document that is needed: " + err.Error())
}
