package api

import (
	"bytes"
	"crypto/subtle"
	"errors"
	"io"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll/plimsoll/analysis/warm"
)

// call handles a request and returns what went wrong, if anything has been
// written yet or not at all.
type call func(w http.ResponseWriter, r *http.Request) error

// route is a path and what may be done with it.
type route struct {
	path    string
	open    bool // answered without a token
	streams bool // the call reads the body itself
	methods map[string]call
}

// get makes the methods of a path that is only read.
func get(c call) map[string]call { return map[string]call{http.MethodGet: c} }

func post(c call) map[string]call { return map[string]call{http.MethodPost: c} }

// routes lists every path that the API answers. The OpenAPI document is tested
// against it.
func (s *Server) routes() []route {
	const run = "/api/v1/runs/{id}"
	return []route{
		{path: "/{$}", methods: get(s.index)},
		{path: "/healthz", open: true, methods: get(s.healthz)},
		{path: "/-/healthy", open: true, methods: get(s.healthz)},
		{path: "/readyz", open: true, methods: get(s.readyz)},
		{path: "/-/ready", open: true, methods: get(s.readyz)},
		{path: "/metrics", methods: get(s.metrics)},
		{path: "/api/v1/openapi.yaml", methods: get(s.document)},
		{path: "/api/v1/runs", methods: map[string]call{http.MethodGet: s.list, http.MethodPost: s.declare}},
		{path: "/api/v1/compare", methods: get(s.compare)},
		{path: "/api/v1/import", streams: true, methods: post(s.importFile)},
		{path: run, methods: map[string]call{http.MethodGet: s.run, http.MethodDelete: s.remove}},
		{path: run + "/finish", methods: post(s.finish)},
		{path: run + "/marks", methods: post(s.mark)},
		{path: run + "/verdict", methods: get(s.verdict)},
		{path: run + "/littleslaw", methods: get(s.littleslaw)},
		{path: run + "/series", methods: get(s.series)},
		{path: run + "/spectrum", methods: get(s.spectrum)},
		{path: run + "/heatmap", methods: get(s.heatmap)},
		{path: run + "/goodput", methods: get(s.goodput)},
		{path: run + "/events", methods: get(s.events)},
	}
}

// routesHandler builds the handler: a refusal of requests that other web pages
// make a browser send, then the routes.
func (s *Server) routesHandler() http.Handler {
	mux := http.NewServeMux()
	for _, rt := range s.routes() {
		mux.Handle(rt.path, s.dispatch(rt))
	}
	mux.Handle("/", s.dispatch(route{path: "/", methods: nil}))
	guard := http.NewCrossOriginProtection()
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, &problem{
			status: http.StatusForbidden, code: "cross_origin", text: "request comes from another web page",
			hint: "the API is not to be driven from foreign pages",
		})
	}))
	return guard.Handler(mux)
}

// dispatch wraps a route: token, method, bound of the body, panic, count.
func (s *Server) dispatch(rt route) http.Handler {
	allow := allowed(rt.methods)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := s.deps.Now()
		rec := &recorder{ResponseWriter: w, begin: func() {
			// Some writers know no deadlines; then the connection's own bound holds.
			_ = http.NewResponseController(w).SetWriteDeadline(s.deps.Now().Add(s.cfg.WriteTimeout))
		}}
		defer func() { s.stats.request(rt.path, rec.status, s.deps.Now().Sub(begin)) }()
		defer s.recover(rec, r)
		c, err := s.admit(rt, r, allow)
		if err != nil {
			s.fail(rec, r, err)
			return
		}
		if !rt.streams {
			err = s.takeBody(rec, r)
		}
		if err != nil {
			s.fail(rec, r, err)
			return
		}
		rec.Header().Set("X-Content-Type-Options", "nosniff")
		if err := c(rec, r); err != nil && rec.status == 0 {
			s.fail(rec, r, err)
		}
	})
}

// takeBody reads the body whole, within its bounds of size and time, so that no
// deadline is left that would cut a long answer off.
func (s *Server) takeBody(w http.ResponseWriter, r *http.Request) error {
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return nil
	}
	control := http.NewResponseController(w)
	timed := control.SetReadDeadline(s.deps.Now().Add(s.cfg.BodyTimeout)) == nil
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.cfg.MaxBodyBytes))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &problem{status: http.StatusRequestTimeout, code: "body_too_slow", text: "the body did not arrive in " + s.cfg.BodyTimeout.String()}
	}
	if err != nil {
		return bodyError(err)
	}
	if timed {
		_ = control.SetReadDeadline(time.Time{}) // it could be set, so it can be taken back
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

// admit finds the call of a request, or says why there is none.
func (s *Server) admit(rt route, r *http.Request, allow string) (call, error) {
	if !rt.open && !s.authorised(r) {
		return nil, &problem{
			status: http.StatusUnauthorized, code: "unauthorised", text: "a bearer token is needed",
			hint: "send the header Authorization: Bearer TOKEN",
		}
	}
	if rt.methods == nil {
		return nil, &problem{status: http.StatusNotFound, code: "no_such_call", text: "there is nothing at this path", hint: "GET / lists what there is"}
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	c, ok := rt.methods[method]
	if !ok {
		return nil, &problem{
			status: http.StatusMethodNotAllowed, code: "method_not_allowed", text: "this path does not take " + strings.ToUpper(clip(r.Method)),
			hint: "it takes " + allow, allow: allow,
		}
	}
	return c, nil
}

func allowed(methods map[string]call) string {
	var names []string
	for m := range methods {
		names = append(names, m)
		if m == http.MethodGet {
			names = append(names, http.MethodHead)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// authorised compares in constant time; the lengths alone may show.
func (s *Server) authorised(r *http.Request) bool {
	if s.cfg.Token == "" {
		return true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer") &&
		subtle.ConstantTimeCompare([]byte(strings.TrimSpace(token)), []byte(s.cfg.Token)) == 1
}

// recover turns a panic into an answer with the id under which it was logged.
func (s *Server) recover(w *recorder, r *http.Request) {
	v := recover()
	if v == nil {
		return
	}
	if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(v)
	}
	s.stats.panics.Inc()
	err := &warm.PanicError{Value: v, Stack: debug.Stack()}
	if w.status != 0 {
		s.deps.Log.Error("request failed", "error_id", s.nextID(), "method", r.Method, "route", r.Pattern, "error", err)
		panic(http.ErrAbortHandler) // half an answer is out; break the connection so that it shows
	}
	s.fail(w, r, err)
}

// recorder remembers the status of an answer.
type recorder struct {
	http.ResponseWriter
	begin  func() // called before the first byte
	status int
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
		r.begin()
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
		r.begin()
	}
	return r.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Paths lists the paths that the server answers with their methods (HEAD goes
// with GET), for tests and documents.
func (s *Server) Paths() map[string][]string {
	paths := map[string][]string{}
	for _, rt := range s.routes() {
		for method := range rt.methods {
			paths[rt.path] = append(paths[rt.path], method)
		}
		slices.Sort(paths[rt.path])
	}
	return paths
}
