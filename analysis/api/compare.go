package api

import (
	"net/http"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/verdict"
)

// compare answers GET /api/v1/compare from the verdicts on two runs.
func (s *Server) compare(w http.ResponseWriter, r *http.Request) error {
	q, err := values(r, "runs", "deadline_s", "first_byte_deadline_s", "scenario")
	if err != nil {
		return err
	}
	names := q["runs"]
	if len(names) == 1 {
		names = strings.Split(names[0], ",")
	}
	if len(names) != 2 || names[0] == "" || names[1] == "" {
		return badParameter("runs", "does not name two runs", "write runs=BEFORE,AFTER, or give runs twice; each is an id, latest or latest:NAME")
	}
	opt := query.Options{Scenario: q.Get("scenario")}
	if opt.DeadlineS, err = seconds(q, "deadline_s"); err != nil {
		return err
	}
	if opt.FirstByteDeadlineS, err = seconds(q, "first_byte_deadline_s"); err != nil {
		return err
	}
	var sides [2]*wire.Verdict
	for i, name := range names {
		run, err := s.deps.Runs.Get(r.Context(), name)
		if err != nil {
			return err
		}
		got, err := s.judge(r.Context(), &run, opt, false)
		if err != nil {
			return err
		}
		sides[i] = got.value.(*wire.Verdict)
	}
	writeJSON(w, http.StatusOK, verdict.Compare(sides[0], sides[1]))
	return nil
}
