package api

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plimsoll/plimsoll/analysis/warm"
)

// Server answers the calls of the API. Make one with New; it is an
// http.Handler. Close it after the HTTP server that calls it has stopped.
type Server struct {
	cfg     Config
	deps    Deps
	answers *warm.Cache[answer]
	stats   *stats
	handler http.Handler

	state   atomic.Int32 // lifecycle
	streams chan struct{}
	closing chan struct{} // closed when event streams are to end
	closed  atomic.Bool
	errorID atomic.Uint64
	started time.Time

	settling  sync.Mutex
	unsettled map[string]uint64 // revision at which a run could not be judged; guarded by settling
}

// States of the process, for readiness.
const (
	starting int32 = iota
	ready
	draining
)

// New makes a server. It is not ready until SetReady is called.
func New(cfg Config, deps Deps) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("configure API: %w", err)
	}
	s := &Server{
		cfg: cfg, deps: deps, answers: newAnswers(cfg.CacheBytes, cfg.MaxComputing),
		streams: make(chan struct{}, cfg.MaxStreams), closing: make(chan struct{}), started: deps.Now(),
		unsettled: map[string]uint64{},
	}
	s.stats = newStats(s)
	s.handler = s.routesHandler()
	return s, nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// SetReady says that the process serves, for /readyz.
func (s *Server) SetReady() { s.state.Store(ready) }

// Drain makes /readyz say no and ends the event streams; calls are still answered.
func (s *Server) Drain() {
	s.state.Store(draining)
	if s.closed.CompareAndSwap(false, true) {
		close(s.closing)
	}
}

// Close calls off what is being computed and waits for it.
func (s *Server) Close() {
	s.Drain()
	s.answers.Close()
}

// nextID names an error in the log. It holds the start of the process, so that
// ids of two processes in one log differ.
func (s *Server) nextID() string {
	return strconv.FormatInt(s.started.Unix(), 36) + "-" + strconv.FormatUint(s.errorID.Add(1), 36)
}
