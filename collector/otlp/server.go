package otlp

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/zeebo/xxh3"
	"google.golang.org/grpc"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/batch"
	"github.com/plimsoll/plimsoll/collector/convention"
	"github.com/plimsoll/plimsoll/collector/journal"
)

// Sink keeps what was received. When Accept returns without an error the
// batches are durable; appending the same id again must change nothing. The
// batches may be changed, and must not be used after Accept has returned.
//
// An error that is journal.ErrFull asks the sender to come back later, and so
// does any other error: what could not be kept is not the sender's fault.
type Sink interface {
	Accept(ctx context.Context, id journal.ID, batches []*sample.Batch) (journal.Receipt, error)
}

// Server receives OTLP over gRPC and HTTP.
type Server struct {
	cfg      Config
	sink     Sink
	now      func() time.Time
	log      *slog.Logger
	metrics  *Metrics
	decoders sync.Pool
	buffers  sync.Pool
	token    [sha256.Size]byte
	running  chan struct{} // one element for each gRPC request
}

// New returns a server that gives what it receives to a sink. It registers
// gzip and zstd with grpc-go, whose registry is global to the process.
func New(cfg Config, sink Sink, table *convention.Table, now func() time.Time, log *slog.Logger, m *Metrics) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("configure otlp server: %w", err)
	}
	registerCompressors()
	s := &Server{
		cfg: cfg, sink: sink, now: now, log: log, metrics: m, token: sha256.Sum256([]byte(cfg.Token)),
		running: make(chan struct{}, cfg.MaxRequests),
	}
	s.decoders.New = func() any { return NewDecoder(table) }
	s.buffers.New = func() any { return new(buffer) }
	return s, nil
}

// Serve serves gRPC and HTTP on their listeners until ctx is done, lets requests
// that are being handled finish, and closes the listeners. Either may be nil.
func (s *Server) Serve(ctx context.Context, grpcListener, httpListener net.Listener) error {
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if grpcListener != nil {
		server := s.grpcServer()
		wg.Go(func() {
			if err := server.Serve(s.limit(grpcListener)); err != nil && ctx.Err() == nil {
				cancel(fmt.Errorf("serve otlp over grpc: %w", err))
			}
		})
		wg.Go(func() {
			<-ctx.Done()
			stopGRPC(server, s.cfg.StopTimeout)
		})
	}
	if httpListener != nil {
		server := s.httpServer()
		wg.Go(func() {
			var err error
			if s.cfg.TLS != nil {
				err = server.ServeTLS(s.limit(httpListener), "", "")
			} else {
				err = server.Serve(s.limit(httpListener))
			}
			if !errors.Is(err, http.ErrServerClosed) {
				cancel(fmt.Errorf("serve otlp over http: %w", err))
			}
		})
		wg.Go(func() {
			<-ctx.Done()
			stop, done := context.WithTimeout(context.Background(), s.cfg.StopTimeout)
			defer done()
			if server.Shutdown(stop) != nil {
				_ = server.Close() // what did not finish in time is cut off; it was not acknowledged
			}
		})
	}
	<-ctx.Done()
	wg.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

func stopGRPC(server *grpc.Server, limit time.Duration) {
	done := make(chan struct{})
	go func() {
		server.GracefulStop()
		close(done)
	}()
	timer := time.AfterFunc(limit, server.Stop)
	defer timer.Stop()
	<-done
}

// allowed checks a bearer token in constant time.
func (s *Server) allowed(authorization string) bool {
	if s.cfg.Token == "" {
		return true
	}
	scheme, token, _ := strings.Cut(authorization, " ")
	given := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return strings.EqualFold(scheme, "bearer") && subtle.ConstantTimeCompare(given[:], s.token[:]) == 1
}

// Kinds of failure of a request.
var (
	errBusy        = errors.New("too much is being received at once")
	errUnavailable = errors.New("what was sent could not be kept")
	errTooLarge    = errors.New("request is too large")
	errMalformed   = errors.New("request is malformed")
)

// answer is what the sender is told.
type answer struct {
	rejected int64
	message  string
	result   string
	metrics  bool // the answer is about data points
}

// handle decodes a request and gives it to the sink. The body is not kept.
func (s *Server) handle(ctx context.Context, sig signal, body []byte, isJSON bool) (answer, error) {
	if len(body) == 0 {
		return answer{result: resultOK}, nil
	}
	d := s.decoders.Get().(*Decoder)
	defer func() {
		if !d.Oversized() {
			s.decoders.Put(d)
		}
	}()
	batches, err := decode(d, sig, body, isJSON)
	if err != nil {
		return answer{result: resultMalformed}, fmt.Errorf("%w: %w", errMalformed, err)
	}
	report := d.Report()
	if report.Count(TooManyRuns) > 0 { // a request that carries several runs is kept whole or not at all
		s.metrics.decoded(report, true)
		return answer{result: resultMalformed}, fmt.Errorf("%w: it names more than %d runs, and is kept whole or not at all: send fewer in one request", errMalformed, batch.MostRuns)
	}
	a := answer{rejected: report.Rejected(), message: report.Message(), result: resultOK, metrics: sig == points}
	var receipt journal.Receipt
	if len(batches) > 0 {
		if receipt, err = s.sink.Accept(ctx, identify(sig, body), batches); err != nil {
			return s.failed(err)
		}
	}
	s.metrics.decoded(report, receipt.Duplicate)
	if receipt.Duplicate {
		a.result = resultDuplicate
	}
	if receipt.Rejected > 0 {
		s.metrics.bySink.Add(int(receipt.Rejected))
		a.rejected += receipt.Rejected
	}
	if receipt.Message != "" {
		if a.message != "" {
			a.message += "; "
		}
		a.message += receipt.Message
	}
	return a, nil
}

func (s *Server) failed(err error) (answer, error) {
	if errors.Is(err, journal.ErrFull) {
		return answer{result: resultFull}, fmt.Errorf("%w: %w", errUnavailable, err)
	}
	s.log.Error("otlp_request_not_kept", "error", err)
	return answer{result: resultFailed}, fmt.Errorf("%w: %w", errUnavailable, err)
}

func decode(d *Decoder, sig signal, body []byte, isJSON bool) ([]*sample.Batch, error) {
	switch {
	case sig == traces && isJSON:
		return d.TracesJSON(body)
	case sig == traces:
		return d.Traces(body)
	case isJSON:
		return d.MetricsJSON(body)
	}
	return d.Metrics(body)
}

// identify names a request by its bytes and kind, whatever it came by.
func identify(sig signal, body []byte) (id journal.ID) {
	h := xxh3.Hash128Seed(body, uint64(sig))
	binary.BigEndian.PutUint64(id[:8], h.Hi)
	binary.BigEndian.PutUint64(id[8:], h.Lo)
	return id
}

// limit bounds the connections of a listener.
func (s *Server) limit(l net.Listener) net.Listener {
	return &limited{Listener: l, free: make(chan struct{}, s.cfg.MaxConnections), refused: s.metrics.closed.Inc}
}
