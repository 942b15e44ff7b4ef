package api

import (
	_ "embed"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

//go:embed openapi.yaml
var openAPI []byte

// Document returns the OpenAPI document of the API.
func Document() []byte { return append([]byte(nil), openAPI...) }

// stats counts what the API does.
type stats struct {
	set    *metrics.Set
	panics *metrics.Counter
	hits   *metrics.Counter
	misses *metrics.Counter
}

func newStats(s *Server) *stats {
	set := metrics.NewSet()
	version := s.cfg.Version
	if version == "" {
		version = "unknown"
	}
	set.NewGauge("plimsoll_build_info{version="+strconv.Quote(version)+"}", func() float64 { return 1 })
	set.NewGauge("plimsoll_http_event_streams", func() float64 { return float64(len(s.streams)) })
	set.NewGauge("plimsoll_http_computing", func() float64 { return float64(s.answers.Busy()) })
	set.NewGauge("plimsoll_http_cache_bytes", func() float64 { return float64(s.answers.Used()) })
	set.NewGauge("plimsoll_ready", func() float64 {
		if s.state.Load() == ready {
			return 1
		}
		return 0
	})
	return &stats{
		set: set, panics: set.NewCounter("plimsoll_http_panics_total"),
		hits: set.NewCounter("plimsoll_http_cache_hits_total"), misses: set.NewCounter("plimsoll_http_cache_misses_total"),
	}
}

// request counts one call. Paths are those of the routes, so their number is bounded.
func (st *stats) request(path string, status int, took time.Duration) {
	if status == 0 {
		status = http.StatusOK
	}
	if path == "/{$}" {
		path = "/"
	}
	st.set.GetOrCreateCounter(fmt.Sprintf("plimsoll_http_requests_total{path=%q,code=\"%d\"}", path, status)).Inc()
	st.set.GetOrCreateHistogram(fmt.Sprintf("plimsoll_http_request_duration_seconds{path=%q}", path)).Update(took.Seconds())
}

// index tells a person who opens the address what is here.
func (s *Server) index(w http.ResponseWriter, r *http.Request) error {
	if _, err := values(r); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err := fmt.Fprintf(w, `Plimsoll %s: how much load a service carries, what its users feel, and whether it recovers.

  GET /api/v1/runs                        the runs that are kept
  GET /api/v1/runs/latest/verdict         what the newest run proves
  GET /api/v1/runs/{id}/series?names=...  columns over time
  GET /api/v1/runs/{id}/spectrum          percentiles of response and service time
  GET /api/v1/runs/{id}/heatmap           response times over time
  GET /api/v1/runs/{id}/littleslaw        the check of the measurement
  GET /api/v1/runs/{id}/goodput           goodput against the deadline
  GET /api/v1/runs/{id}/events            server-sent events
  GET /api/v1/compare?runs=BEFORE,AFTER   what changed, step by step
  GET /api/v1/openapi.yaml                all calls, parameters and answers
  GET /metrics, /healthz, /readyz         this process

{id} may be "latest" or "latest:NAME".
`, s.cfg.Version)
	return err
}

func (s *Server) document(w http.ResponseWriter, r *http.Request) error {
	if _, err := values(r); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/yaml")
	_, err := w.Write(openAPI)
	return err
}

// healthz says that the process runs.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) error {
	return plain(w, http.StatusOK, "ok\n")
}

// readyz says whether new data and questions are welcome.
func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) error {
	switch s.state.Load() {
	case ready:
		return plain(w, http.StatusOK, "ready\n")
	case draining:
		return plain(w, http.StatusServiceUnavailable, "draining\n")
	default:
		return plain(w, http.StatusServiceUnavailable, "starting\n")
	}
}

func plain(w http.ResponseWriter, status int, text string) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, err := io.WriteString(w, text)
	return err
}

// metrics writes what the process counts, in the Prometheus text format.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	s.stats.set.WritePrometheus(w)
	for _, write := range s.deps.Metrics {
		write(w)
	}
	metrics.WriteProcessMetrics(w)
	return nil
}
