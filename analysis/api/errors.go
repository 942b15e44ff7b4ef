package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/query"
)

// problem is an error with the answer that it gets.
type problem struct {
	status     int
	code       string
	text       string
	hint       string
	retryAfter int // seconds; 0 for none
	allow      string
}

func (p *problem) Error() string { return p.text }

func badParameter(name, text, hint string) *problem {
	return &problem{
		status: http.StatusBadRequest, code: "bad_parameter",
		text: fmt.Sprintf("parameter %s: %s", name, text), hint: hint,
	}
}

func badBody(text string) *problem {
	return &problem{
		status: http.StatusBadRequest, code: "bad_body", text: text,
		hint: "the shape of the body is in /api/v1/openapi.yaml",
	}
}

// asProblem gives every error its answer. Errors that are no fault of the
// caller keep their text for the log alone.
func asProblem(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &problem{
			status: http.StatusRequestEntityTooLarge, code: "body_too_large",
			text: fmt.Sprintf("body is larger than %d bytes", e.Limit),
		}
	}
	if e, ok := errors.AsType[*query.UnknownError](err); ok {
		return &problem{status: http.StatusNotFound, code: e.What + "_not_found", text: e.Error(), hint: e.Hint()}
	}
	switch {
	case errors.Is(err, ErrNotFound):
		return &problem{status: http.StatusNotFound, code: "run_not_found", text: err.Error(), hint: "GET /api/v1/runs lists the runs that are kept"}
	case errors.Is(err, ErrConflict):
		return &problem{status: http.StatusConflict, code: "declared_otherwise", text: err.Error(), hint: "use another id, or delete the run first"}
	case errors.Is(err, ErrBadCursor):
		return badParameter("cursor", err.Error(), "pass next_cursor of the page before, unchanged")
	case errors.Is(err, ErrInvalid):
		return badBody(err.Error())
	case errors.Is(err, ErrTooMany):
		return &problem{status: http.StatusTooManyRequests, code: "too_many", text: err.Error(), hint: "delete what is no longer needed, or raise the bound"}
	case errors.Is(err, ErrRemoved):
		return &problem{status: http.StatusServiceUnavailable, code: "rows_removed", text: err.Error(), hint: "ask again", retryAfter: 1}
	case errors.Is(err, ErrFull):
		return &problem{status: http.StatusServiceUnavailable, code: "full", text: err.Error(), hint: "free room on the disk of the data directory", retryAfter: 30}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &problem{status: http.StatusServiceUnavailable, code: "interrupted", text: "the answer was not computed in time", retryAfter: 5}
	}
	return nil
}

// fail answers a call with an error. What is not the caller's fault is logged
// under an id that the answer names.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := asProblem(err)
	if p == nil {
		id := s.nextID()
		s.deps.Log.Error("request failed", "error_id", id, "method", r.Method, "route", r.Pattern, "error", err)
		p = &problem{
			status: http.StatusInternalServerError, code: "internal", text: "internal error",
			hint: "the log of the server says more under error_id " + id,
		}
	}
	if p.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(p.retryAfter))
	}
	if p.allow != "" {
		w.Header().Set("Allow", p.allow)
	}
	if p.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="plimsoll"`)
	}
	writeJSON(w, p.status, wire.Error{Error: p.text, Code: p.code, Hint: p.hint})
}

// writeJSON encodes before it answers, so that a value that cannot be encoded
// becomes an error and not half a document.
func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"internal error","code":"internal","hint":""}`)
	}
	writeBody(w, status, append(body, '\n'))
}

func writeBody(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the caller has gone; there is nobody to tell
}
