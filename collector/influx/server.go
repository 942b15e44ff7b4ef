package influx

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/convention"
	"github.com/plimsoll/plimsoll/collector/journal"
)

// Sink keeps what was received. When Accept returns without an error the
// batches are durable; appending the same id again must change nothing. The
// batches may be changed, and must not be used after Accept has returned.
type Sink interface {
	Accept(ctx context.Context, id journal.ID, batches []*sample.Batch) (journal.Receipt, error)
}

// Server answers the calls of InfluxDB's API that writers make.
type Server struct {
	cfg      Config
	sink     Sink
	now      func() time.Time
	log      *slog.Logger
	metrics  *Metrics
	decoders sync.Pool
	buffers  sync.Pool
	token    [sha256.Size]byte
}

// New returns a server that gives what it receives to a sink.
func New(cfg Config, sink Sink, table *convention.Table, now func() time.Time, log *slog.Logger, m *Metrics) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("configure influx server: %w", err)
	}
	s := &Server{cfg: cfg, sink: sink, now: now, log: log, metrics: m, token: sha256.Sum256([]byte(cfg.Token))}
	s.decoders.New = func() any { return NewDecoder(table) }
	s.buffers.New = func() any { return new(buffer) }
	return s, nil
}

// Paths lists the paths that the handler answers.
func Paths() []string { return []string{"/write", "/api/v2/write", "/query", "/ping", "/health"} }

// Handler returns the HTTP handler of Paths. Requests that a foreign web page
// makes a browser send are refused.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/write", func(w http.ResponseWriter, r *http.Request) { s.write(w, r, v1) })
	mux.HandleFunc("/api/v2/write", func(w http.ResponseWriter, r *http.Request) { s.write(w, r, v2) })
	mux.HandleFunc("/query", s.query)
	mux.HandleFunc("/ping", s.ping)
	mux.HandleFunc("/health", s.health)
	guard := http.NewCrossOriginProtection()
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		v1.fail(w, http.StatusForbidden, "request comes from another web page", 0)
	}))
	return guard.Handler(mux)
}

// allowed checks the token, in any of the places where InfluxDB's clients put
// it, in constant time.
func (s *Server) allowed(r *http.Request) bool {
	if s.cfg.Token == "" {
		return true
	}
	given := r.URL.Query().Get("p")
	if _, password, ok := r.BasicAuth(); ok {
		given = password
	} else if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && (strings.EqualFold(scheme, "token") || strings.EqualFold(scheme, "bearer")) {
		given = strings.TrimSpace(token)
		if i := strings.IndexByte(given, ':'); i >= 0 && strings.EqualFold(scheme, "token") {
			given = given[i+1:] // user:password, which version 2 takes from clients of version 1
		}
	}
	sum := sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(sum[:], s.token[:]) == 1
}

// outcome is what became of a body.
type outcome struct {
	status  int
	result  string
	message string
	line    int64
}

// keep decodes a body and gives it to the sink.
func (s *Server) keep(ctx context.Context, body []byte, about *About, api api) outcome {
	d := s.decoders.Get().(*Decoder)
	if len(body) <= mostPooled { // memory of a larger one goes with it
		defer s.decoders.Put(d)
	}
	batches := d.Decode(body, about)
	report := d.Report()
	if report.Counts[TooManyRuns] > 0 { // a request that carries several runs is kept whole or not at all
		s.metrics.decoded(report, true)
		return outcome{http.StatusBadRequest, resultMalformed, report.Message(), report.FirstBad}
	}
	var receipt journal.Receipt
	if len(batches) > 0 {
		var err error
		if receipt, err = s.sink.Accept(ctx, identify(body, about, d.Untimed()), batches); err != nil {
			return s.failed(err)
		}
	}
	s.metrics.decoded(report, receipt.Duplicate)
	s.metrics.bySink.Add(int(receipt.Rejected))
	switch refused := report.Refused(); {
	case refused > 0 && report.Lines == refused:
		return outcome{http.StatusBadRequest, resultMalformed, report.Message(), report.FirstBad}
	case refused > 0:
		return outcome{http.StatusBadRequest, resultPartial, fmt.Sprintf("partial write: %s dropped=%d", report.Message(), refused), report.FirstBad}
	case receipt.Rejected > 0:
		return outcome{api.dropped(), resultPartial, fmt.Sprintf("partial write: %s dropped=%d", receipt.Message, receipt.Rejected), 0}
	case receipt.Duplicate:
		return outcome{status: http.StatusNoContent, result: resultDuplicate}
	}
	return outcome{status: http.StatusNoContent, result: resultOK}
}

func (s *Server) failed(err error) outcome {
	result := resultFull
	if !errors.Is(err, journal.ErrFull) {
		result = resultFailed
		s.log.Error("influx_write_not_kept", "error", err)
	}
	return outcome{http.StatusServiceUnavailable, result, "what was sent could not be kept: " + err.Error(), 0}
}

// identify names a request by its bytes and by what its address says about
// them. A body with a line that has no time means something else each time.
func identify(body []byte, about *About, untimed bool) (id journal.ID) {
	h := xxh3.New()
	for _, s := range [...]string{"influx", about.Database, about.Run, about.Name} {
		_, _ = h.WriteString(s)
		_, _ = h.Write([]byte{0})
	}
	var unit [16]byte
	binary.BigEndian.PutUint64(unit[:8], uint64(about.Unit))
	if untimed {
		binary.BigEndian.PutUint64(unit[8:], uint64(about.Now))
	}
	_, _ = h.Write(unit[:])
	_, _ = h.Write(body)
	sum := h.Sum128()
	binary.BigEndian.PutUint64(id[:8], sum.Hi)
	binary.BigEndian.PutUint64(id[8:], sum.Lo)
	return id
}
