// Package query says what is asked of a run: which part of it, with which
// deadline and which objectives. The HTTP API builds the options from its
// parameters and the analysis reads them, so neither has to import the other.
//
// The zero Options ask for the whole run with the deadline and the objectives
// that it was declared with. The package checks names and nothing else.
package query

import (
	"strings"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// Options narrow or change a question. Nothing is ingested again to answer it.
type Options struct {
	DeadlineS          *float64         // seconds; replaces the deadlines of rows and of the declaration
	FirstByteDeadlineS *float64         // seconds to the first byte, as part of the deadline; replaces the declared one
	From, To           *time.Time       // flows are counted within [From, To]; nil is the run's own bound
	Scenario           string           // only this stream; empty is all of them
	Source             string           // only this generator process; empty is all of them
	Objectives         []wire.Objective // replace the declared objectives; nil keeps those
	MaxPoints          int              // upper bound of points in time; 0 leaves it to the analysis
	Names              []string         // columns of a series
	Steps              []int            // of a spectrum: the steps, by their index; empty is the whole run
}

// KnownSeries reports whether a column of that name may be asked for.
func KnownSeries(name string) bool {
	switch name {
	case "offered", "sent", "ended", "completed", "goodput", "error", "timeout", "shed", "cancelled",
		"dropped", "retries", "in_flight", "in_flight_provisional", "send_delay_p99", "first_byte_p99",
		"inter_token_p99", "tokens":
		return true
	}
	for _, kind := range []string{"response_", "service_"} {
		if q, ok := strings.CutPrefix(name, kind); ok {
			switch q {
			case "p50", "p90", "p95", "p99", "p999":
				return true
			}
		}
	}
	queue, ok := strings.CutPrefix(name, "queue:")
	return ok && queue != ""
}

// SeriesNames lists the columns that can be asked for, for hints and documents.
func SeriesNames() []string {
	return []string{
		"offered", "sent", "ended", "completed", "goodput", "error", "timeout", "shed", "cancelled",
		"dropped", "retries", "in_flight", "in_flight_provisional",
		"response_p50", "response_p90", "response_p95", "response_p99", "response_p999",
		"service_p50", "service_p90", "service_p95", "service_p99", "service_p999",
		"send_delay_p99", "first_byte_p99", "inter_token_p99", "tokens", "queue:NAME",
	}
}
