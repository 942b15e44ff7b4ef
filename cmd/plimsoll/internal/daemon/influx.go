package daemon

import (
	"net/http"

	"github.com/plimsoll/plimsoll/collector/influx"
)

// beside returns the handler of the API's listener: InfluxDB's calls for those
// who write line protocol, and the API for everything else.
func (d *Daemon) beside(api http.Handler) (http.Handler, error) {
	bounds := influx.DefaultConfig()
	bounds.MaxBody, bounds.MaxInFlight = int64(d.cfg.MaxExportBytes), int64(d.cfg.MaxInFlightBytes)
	bounds.Token, bounds.Version = d.cfg.Token, d.cfg.Version
	srv, err := influx.New(bounds, d.runs, d.intake.table, d.cfg.Now, d.cfg.Log, influx.NewMetrics(d.intake.set))
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	lines := srv.Handler()
	for _, path := range influx.Paths() {
		mux.Handle(path, lines)
	}
	mux.Handle("/", api)
	return mux, nil
}
