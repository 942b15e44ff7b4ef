// Package daemon is the server process: it joins the journal, the catalogue of
// runs, the receivers and the API, starts them in order and stops them in the
// reverse order, so that whatever was acknowledged is kept.
package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plimsoll/plimsoll/analysis/alert"
	"github.com/plimsoll/plimsoll/analysis/api"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/outward"
	"github.com/plimsoll/plimsoll/analysis/verdict"
	"github.com/plimsoll/plimsoll/analysis/warm"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/importing"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/settings"
	"github.com/plimsoll/plimsoll/collector/journal"
	"github.com/plimsoll/plimsoll/collector/journal/pebble"
	"github.com/plimsoll/plimsoll/collector/runs"
)

// Config is what a server stands on beside its settings.
type Config struct {
	settings.Settings
	Token   string   // bearer token; empty asks for none
	Environ []string // of the process, for commands that it runs
	Version string
	Now     func() time.Time
	Log     *slog.Logger
}

// Addrs are the addresses that a server listens on; empty where it does not.
type Addrs struct{ OTLPGRPC, OTLPHTTP, HTTP, Admin string }

// Daemon is a running server.
type Daemon struct {
	cfg     Config
	tls     *tls.Config
	journal journal.Log
	runs    *runs.Catalogue
	states  *warm.States
	api     *api.Server
	intake  *intake
	http    []*http.Server
	addrs   Addrs

	watcher *alert.Watcher
	command *alert.Command // nil when there is none
	outward *outward.Sender

	stopKeeping  context.CancelFunc
	stopWatching context.CancelFunc
	background   sync.WaitGroup // housekeeping, listeners and watchers
	failed       chan error     // a listener that ended by itself
	refused      atomic.Int64   // connections
}

// Start opens the data directory and all listeners. When it returns the server
// serves; stop it with Shutdown.
func Start(cfg Config) (*Daemon, error) {
	d := &Daemon{cfg: cfg, failed: make(chan error, 8), stopKeeping: func() {}, stopWatching: func() {}}
	if err := d.start(); err != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		return nil, errors.Join(err, d.stop(ctx))
	}
	return d, nil
}

func (d *Daemon) start() error {
	var err error
	if d.cfg.TLSCert != "" {
		certificate, err := tls.LoadX509KeyPair(d.cfg.TLSCert, d.cfg.TLSKey)
		if err != nil {
			return fmt.Errorf("load TLS certificate: %w", err)
		}
		d.tls = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	}
	if err := d.open(); err != nil {
		return err
	}
	if d.intake, err = startIntake(d); err != nil {
		return err
	}
	if err := d.prepareAlerts(); err != nil {
		return err
	}
	if err := d.startAPI(); err != nil {
		return err
	}
	d.startAlerts()
	if err := d.startAdmin(); err != nil {
		return err
	}
	d.keep()
	d.api.SetReady()
	return nil
}

// open opens the journal and indexes its runs.
func (d *Daemon) open() error {
	if err := os.MkdirAll(d.cfg.DataDir, 0o700); err != nil {
		return fmt.Errorf("make data directory: %w", err)
	}
	log, err := pebble.Open(d.cfg.DataDir, pebble.Options{Logger: d.cfg.Log, MinFree: int64(d.cfg.MinFree)})
	if errors.Is(err, pebble.ErrInUse) {
		return fmt.Errorf("open data directory %s: %w (is another 'plimsoll serve' running? --data-dir names another directory)", d.cfg.DataDir, err)
	}
	if err != nil {
		return fmt.Errorf("open data directory %s: %w", d.cfg.DataDir, err)
	}
	d.journal = log
	bounds := runs.DefaultConfig()
	bounds.MaxAge, bounds.MaxRuns, bounds.MaxSources = time.Duration(d.cfg.MaxAge), d.cfg.MaxRuns, d.cfg.MaxSources
	if d.runs, err = runs.New(log, bounds, d.cfg.Now, d.cfg.Log); err != nil {
		return err
	}
	return nil
}

// stateBytes is the memory for folded states: a dozen of ordinary runs, two or
// three of the longest ones.
const stateBytes = 64 << 20

func (d *Daemon) startAPI() error {
	bounds := api.DefaultConfig()
	bounds.Version, bounds.Token = d.cfg.Version, d.cfg.Token
	bounds.MaxBodyBytes, bounds.CacheBytes = int64(d.cfg.MaxBodyBytes), int64(d.cfg.CacheBytes)
	bounds.MaxStreams, bounds.MaxComputing = d.cfg.MaxStreams, d.cfg.MaxComputing
	d.states = warm.NewStates(fold.Build, stateBytes, d.cfg.Now)
	var err error
	d.api, err = api.New(bounds, api.Deps{
		Runs:     catalogue{d.runs, d.states, d.judged, d.cfg.Now, &d.background},
		Analysis: verdict.Analysis{Fold: d.states.Of},
		Import:   imports{&importing.Importer{Runs: d.runs, Table: d.intake.table}},
		Now:      d.cfg.Now, Log: d.cfg.Log,
		Progress: d.states.Progress,
		Metrics:  d.metrics(),
	})
	if err != nil {
		return err
	}
	handler, err := d.beside(d.api)
	if err != nil {
		return err
	}
	d.addrs.HTTP, err = d.listen("http", d.cfg.HTTPAddr, d.ownHost(handler), d.tls)
	return err
}

// listen serves a handler on an address and returns the address that it got.
func (d *Daemon) listen(name, addr string, h http.Handler, secure *tls.Config) (string, error) {
	var actual string
	l, err := listen(name, addr, &actual)
	if err != nil {
		return "", err
	}
	l = &bounded{Listener: l, held: make(chan struct{}, d.cfg.MaxConnections), refused: &d.refused}
	srv := &http.Server{ // handlers bound the time of bodies and answers themselves
		Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, TLSConfig: secure.Clone(),
		MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(d.cfg.Log.Handler(), slog.LevelDebug),
	}
	d.http = append(d.http, srv)
	d.background.Go(func() {
		var err error
		if secure != nil {
			err = srv.ServeTLS(l, "", "")
		} else {
			err = srv.Serve(l)
		}
		if !errors.Is(err, http.ErrServerClosed) {
			d.failed <- fmt.Errorf("serve %s: %w", name, err)
		}
	})
	return actual, nil
}

// Addrs returns the addresses that the server listens on.
func (d *Daemon) Addrs() Addrs { return d.addrs }

// Failed receives when a listener has ended by itself.
func (d *Daemon) Failed() <-chan error { return d.failed }

// Shutdown says "not ready", waits for the configured delay, stops intake,
// finishes what is under way until ctx ends, and closes the journal.
func (d *Daemon) Shutdown(ctx context.Context) error {
	d.api.Drain()
	if delay := time.Duration(d.cfg.ShutdownDelay); delay > 0 {
		t := time.NewTimer(delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
	return d.stop(ctx)
}

// stop stops whatever has been started. Only the journal can fail in a way that
// matters: calls that are cut off were not acknowledged.
func (d *Daemon) stop(ctx context.Context) error {
	var errs []error
	if d.intake != nil {
		errs = append(errs, d.intake.stop(ctx))
	}
	for _, srv := range d.http {
		if err := srv.Shutdown(ctx); err != nil {
			d.cfg.Log.Warn("calls were cut off", "error", err)
			errs = append(errs, srv.Close())
		}
	}
	d.stopKeeping()
	d.stopWatching()
	if d.outward != nil {
		if err := d.outward.Shutdown(ctx); err != nil { // the collector's trouble is not ours
			d.cfg.Log.Warn("what was concluded last was not sent", "error", err)
		}
	}
	if d.api != nil {
		d.api.Close()
		d.states.Close()
	}
	d.background.Wait()
	if d.journal != nil {
		if err := d.journal.Close(); err != nil {
			errs = append(errs, fmt.Errorf("close journal: %w", err))
		}
	}
	return errors.Join(errs...)
}
