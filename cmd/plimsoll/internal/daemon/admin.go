package daemon

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/pprof"
	"slices"

	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/settings"
)

// startAdmin serves profiles on a listener of their own, when it is asked for.
func (d *Daemon) startAdmin() error {
	if d.cfg.AdminAddr == settings.Off {
		return nil
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	var err error
	d.addrs.Admin, err = d.listen("admin", d.cfg.AdminAddr, mux, nil)
	return err
}

// metrics writes what the catalogue and the receivers count.
func (d *Daemon) metrics() []func(io.Writer) {
	writers := []func(io.Writer){func(w io.Writer) {
		s := d.runs.Stats()
		fmt.Fprintf(w, "plimsoll_runs{state=\"live\"} %d\nplimsoll_runs{state=\"finished\"} %d\n", s.Live, s.Finished)
		fmt.Fprintf(w, "plimsoll_sources %d\nplimsoll_journal_batches %d\nplimsoll_journal_rows %d\nplimsoll_journal_bytes %d\n",
			s.Sources, s.Batches, s.Rows, s.Bytes)
		fmt.Fprintf(w, "plimsoll_http_connections_refused_total %d\n", d.refused.Load())
		refused := d.runs.Refused()
		for _, reason := range slices.Sorted(maps.Keys(refused)) {
			fmt.Fprintf(w, "plimsoll_runs_refused_total{reason=%q} %d\n", reason, refused[reason])
		}
	}}
	return append(append(writers, d.alertMetrics), d.intake.metrics()...)
}
