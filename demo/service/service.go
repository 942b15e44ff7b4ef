package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/metric"
)

// Path is where orders are posted.
const Path = "/orders"

// TimeoutHeader is how a client says, in milliseconds, how long it will wait
// from the moment the request arrives. Only a service that drops expired orders
// looks at it.
const TimeoutHeader = "X-Request-Timeout-Ms"

const (
	maxBody = 64 << 10    // bytes of an order
	grace   = time.Second // for answers on their way when the service closes
)

// Service is a running order service.
type Service struct {
	cfg     Config
	pool    *pool
	metrics *metrics
	server  *http.Server
	addr    string
	wg      sync.WaitGroup

	accepted, served, abandoned, shed, expired, stopped atomic.Int64
}

// Stats is what the service did, as it knows itself.
type Stats struct {
	Accepted  int64 // requests taken in, refused ones included
	Served    int64 // orders that had a slot
	Abandoned int64 // of those, served when the client had already gone
	Shed      int64 // refused because the queue was full
	Expired   int64 // dropped at their turn, deadline passed or client gone
	Stopped   int64 // still waiting when the service was closed
	Waiting   int   // orders in the queue now
	Deepest   int   // longest queue so far
}

// Start listens on a free loopback port and serves. The meter takes the
// service's own metrics; pass a no-op meter to have none. The context is for
// starting only: the service runs until Close.
func Start(ctx context.Context, cfg Config, meter metric.Meter, log *slog.Logger) (*Service, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("configure service: %w", err)
	}
	s := &Service{cfg: cfg, pool: newPool(cfg)}
	var err error
	if s.metrics, err = newMetrics(ctx, meter, s.pool, cfg.Slots); err != nil {
		s.pool.close()
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.pool.close()
		return nil, fmt.Errorf("listen: %w", err)
	}
	s.addr = listener.Addr().String()
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+Path, s.handle)
	s.server = &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	s.wg.Go(func() {
		if err := s.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("demo service stopped", "error", err)
		}
	})
	return s, nil
}

// URL is where to post orders.
func (s *Service) URL() string { return "http://" + s.addr + Path }

// Stats returns the counts so far.
func (s *Service) Stats() Stats {
	waiting, _, deepest := s.pool.load()
	return Stats{
		Accepted: s.accepted.Load(), Served: s.served.Load(), Abandoned: s.abandoned.Load(),
		Shed: s.shed.Load(), Expired: s.expired.Load(), Stopped: s.stopped.Load(),
		Waiting: waiting, Deepest: deepest,
	}
}

// Close answers what waits with 503 and stops the service. It takes little more
// than grace at most: connections that clients opened and never used would hold
// an orderly shutdown for five seconds.
func (s *Service) Close(ctx context.Context) error {
	s.pool.close()
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	err := s.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.server.Close()
	}
	s.wg.Wait()
	if err != nil {
		return fmt.Errorf("shut service down: %w", err)
	}
	return nil
}

// handle queues one order and answers when its verdict is known. The broken
// service never looks at the request's context: that is its flaw.
func (s *Service) handle(w http.ResponseWriter, r *http.Request) {
	s.accepted.Add(1)
	finish := s.metrics.begin(r.Context())
	status := http.StatusCreated
	defer func() { finish(status) }()

	o := &order{ctx: r.Context(), arrived: time.Now(), done: make(chan verdict, 1)}
	if ms, err := strconv.ParseInt(r.Header.Get(TimeoutHeader), 10, 32); err == nil && ms > 0 {
		o.deadline = o.arrived.Add(time.Duration(ms) * time.Millisecond)
	}
	if _, err := io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, maxBody)); err != nil {
		status = http.StatusBadRequest
		http.Error(w, "read order: "+err.Error(), status)
		return
	}
	s.pool.submit(o)
	switch <-o.done {
	case served:
		s.served.Add(1)
		if r.Context().Err() != nil {
			s.abandoned.Add(1)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"status":"accepted"}`+"\n") // the client may have gone
	case expired:
		s.expired.Add(1)
		status = http.StatusGatewayTimeout
		http.Error(w, "the deadline passed in the queue", status)
	case shed:
		s.shed.Add(1)
		status = http.StatusServiceUnavailable
		if s.cfg.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int((s.cfg.RetryAfter+time.Second-1)/time.Second)))
		}
		http.Error(w, "the queue is full", status)
	case stopped:
		s.stopped.Add(1)
		status = http.StatusServiceUnavailable
		http.Error(w, "the service is stopping", status)
	}
}
