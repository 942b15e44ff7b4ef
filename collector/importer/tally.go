package importer

import "github.com/plimsoll/plimsoll/analysis/sample"

// Names of what tools count that write no requests; package counts of the
// analysis reads them. Service time is counted from the send. Response time is
// counted from when a request was due, by the tool itself.
const (
	sentName            = "loadtest.requests.sent"
	endedName           = "loadtest.requests.ended"
	failedName          = "loadtest.requests.failed"
	inFlightTimeName    = "loadtest.requests.in_flight_time"
	serviceTimeName     = "loadtest.requests.service_time"
	responseTimeName    = "loadtest.requests.response_time"
	workersName         = "loadtest.workers"
	serviceSummaryName  = "loadtest.summary.service_time"
	responseSummaryName = "loadtest.summary.response_time"
)

// tally hands on what a tool counted in a stretch of time. After an error it
// does nothing more.
type tally struct {
	sink     *Sink
	tool     string // generator, and scope of the metrics
	source   string // of the metrics; empty for the file's name
	scenario string
	from, to int64
	err      error
}

func (t *tally) point(name, unit string, kind sample.Kind, p sample.Point) {
	if t.err != nil {
		return
	}
	s := sample.Series{Source: t.source, Service: t.tool, Scope: t.tool, Name: name, Unit: unit, Kind: kind}
	if t.scenario != "" {
		s.Attributes = "loadtest.scenario=" + escapeAttribute(t.scenario)
	}
	p.Start, p.Time = t.from, t.to
	t.err = t.sink.Point(&s, p)
}

// count adds what was counted.
func (t *tally) count(name string, n float64) {
	unit := "{request}"
	if name == inFlightTimeName {
		unit = "s"
	}
	t.point(name, unit, sample.DeltaSum, sample.Point{Value: n})
}

// level sets what held at the end.
func (t *tally) level(name string, n float64) {
	t.point(name, "", sample.Gauge, sample.Point{Value: n})
}

// times adds a distribution of seconds whose values add up to sum.
func (t *tally) times(name string, d *sample.Distribution, sum float64) {
	if d != nil && d.Count > 0 {
		t.point(name, "s", sample.DeltaHisto, sample.Point{Value: sum, Histogram: d})
	}
}

// escapeAttribute keeps the signs apart that attributes of a series are made of.
func escapeAttribute(v string) string {
	out := make([]byte, 0, len(v))
	for i := range len(v) {
		if c := v[i]; c == '\\' || c == ',' || c == '=' {
			out = append(out, '\\')
		}
		out = append(out, v[i])
	}
	return string(out)
}
