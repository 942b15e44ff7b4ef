package api

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"
)

// Config bounds what the API does for its callers.
type Config struct {
	Version string // shown by / and in metrics
	Token   string // bearer token asked of every call but the probes; empty asks none

	MaxBodyBytes  int64         // of a request; more is a 413
	MaxStreams    int           // event streams open at once; more is a 503
	MaxComputing  int           // answers computed at once; others wait their turn
	MaxListJudged int           // runs judged for one page of the list; others show no outcome
	CacheBytes    int64         // memory of encoded answers
	KeepAlive     time.Duration // between comments on a silent event stream
	EventEvery    time.Duration // least time between two events of one stream
	BodyTimeout   time.Duration // for the body of a request to arrive
	WriteTimeout  time.Duration // for an event or an answer to leave
}

// DefaultConfig suits a sidecar beside a load generator: it would rather let a
// reader wait than take processors from the test that it watches.
func DefaultConfig() Config {
	return Config{
		MaxBodyBytes:  1 << 20,
		MaxStreams:    64,
		MaxComputing:  2,
		MaxListJudged: 4,
		CacheBytes:    32 << 20,
		KeepAlive:     15 * time.Second,
		EventEvery:    time.Second,
		BodyTimeout:   30 * time.Second,
		WriteTimeout:  time.Minute,
	}
}

// Validate reports every bound that makes no sense.
func (c Config) Validate() error {
	var errs []error
	positive := func(name string, v int64) {
		if v <= 0 {
			errs = append(errs, fmt.Errorf("%s is %d, want more than 0", name, v))
		}
	}
	positive("MaxBodyBytes", c.MaxBodyBytes)
	positive("MaxStreams", int64(c.MaxStreams))
	positive("MaxComputing", int64(c.MaxComputing))
	positive("KeepAlive", int64(c.KeepAlive))
	positive("BodyTimeout", int64(c.BodyTimeout))
	positive("WriteTimeout", int64(c.WriteTimeout))
	if c.MaxListJudged < 0 || c.CacheBytes < 0 || c.EventEvery < 0 {
		errs = append(errs, errors.New("MaxListJudged, CacheBytes and EventEvery may not be negative"))
	}
	return errors.Join(errs...)
}

// Deps is what the API stands on.
type Deps struct {
	Runs     Runs
	Analysis Analysis
	Import   Importer // nil: files are not imported
	Now      func() time.Time
	Log      *slog.Logger
	// Progress returns about which share of a run has been read to judge it, and
	// whether that takes place now; nil where that is not known.
	Progress func(id string) (share float64, ok bool)
	// Metrics write further metrics in the Prometheus text format after the API's own.
	Metrics []func(io.Writer)
}
