package importer

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// artilleryReport is what Artillery writes with --output: counters and tables of
// percentiles for each period of 10 s and for the whole run. Percentiles of
// periods cannot be merged, so only those of the whole run are read.
func artilleryReport() Format {
	return Format{
		Name: "artillery", Title: "Artillery report", Generator: "artillery", Document: true,
		Sniff: func(head []byte) bool {
			return bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) && bytes.Contains(head, []byte(`"aggregate"`)) &&
				bytes.Contains(head, []byte(`"vusers.created"`))
		},
		Read: readArtillery,
	}
}

// artilleryStats is the whole run, or one period of it. Times are ms since 1970.
type artilleryStats struct {
	Counters  map[string]float64 `json:"counters"`
	First     float64            `json:"firstMetricAt"`
	Last      float64            `json:"lastMetricAt"`
	Period    any                `json:"period"` // a number, or one in quotes
	Summaries map[string]struct {
		Min, Max, Count, Mean, P50, P75, P90, P95, P99, P999 float64
	} `json:"summaries"`
}

// period returns when the period began, in ns.
func (s *artilleryStats) period() int64 {
	switch v := s.Period.(type) {
	case float64:
		return millis(v)
	case string:
		if f, err := strconv.ParseFloat(v, 64); err == nil {
			return millis(f)
		}
	}
	return millis(s.First)
}

func readArtillery(_ context.Context, src *Source, sink *Sink) error {
	a := artilleryReader{sink: sink}
	d := newDocument(src)
	err := d.object(func(key string) error {
		switch key {
		case "aggregate":
			var s artilleryStats
			if err := d.value(&s); err != nil {
				return err
			}
			return a.whole(&s)
		case "intermediate":
			return d.array(func() error {
				var s artilleryStats
				if err := d.value(&s); err != nil {
					return err
				}
				return a.next(&s)
			})
		}
		return d.skip()
	})
	if err == nil {
		err = a.next(nil)
	}
	sink.Warn("http.response_time is counted to the first byte and for answers only: requests without one are in no percentile")
	sink.Advise("traces of the publish-metrics plugin (open-telemetry) give the start of every request")
	return sink.torn(err)
}

// artilleryReader hands periods on, each until the next begins.
type artilleryReader struct {
	sink *Sink
	last *artilleryStats
	from int64 // where the last period begins
	err  error
}

func (a *artilleryReader) point(name, unit string, kind sample.Kind, p sample.Point) {
	if a.err != nil {
		return
	}
	a.err = a.sink.Point(&sample.Series{
		Source: "artillery", Service: "artillery", Scope: "Artillery.io_metrics", Name: name, Unit: unit, Kind: kind,
	}, p)
}

// next hands the period before on; nil ends the last one.
func (a *artilleryReader) next(s *artilleryStats) error {
	if p := a.last; p != nil {
		to := millis(p.Last)
		if s != nil {
			to = max(to, s.period())
		}
		a.tell(p, a.from, max(to, a.from+1))
		a.from = to
	} else if s != nil {
		a.from = max(s.period(), millis(s.First))
	}
	a.last = s
	return a.err
}

// tell hands on what was counted between two times.
func (a *artilleryReader) tell(s *artilleryStats, from, to int64) {
	for _, name := range []string{"vusers.created", "vusers.completed", "vusers.failed", "vusers.skipped", "http.requests"} {
		if v, ok := s.Counters[name]; ok {
			a.point(name, "", sample.DeltaSum, sample.Point{Start: from, Time: to, Value: v})
		}
	}
	a.point(failedName, "{request}", sample.DeltaSum, sample.Point{Start: from, Time: to, Value: artilleryFailed(s.Counters)})
	if m, ok := s.Summaries["vusers.session_length"]; ok {
		a.point("vusers.session_length.mean", "ms", sample.Gauge, sample.Point{Time: to, Value: m.Mean})
	}
}

// artilleryFailed counts requests that failed: answers with a status of an error,
// and errors of the client. Checks that a script makes of answers are no errors
// of requests.
func artilleryFailed(counters map[string]float64) (n float64) {
	for name, v := range counters {
		if code, ok := strings.CutPrefix(name, "http.codes."); ok {
			if status, err := strconv.ParseInt(code, 10, 64); err == nil && answered(status) != sample.OK {
				n += v
			}
		}
		if kind, ok := strings.CutPrefix(name, "errors."); ok && !strings.HasPrefix(kind, "Failed ") {
			n += v
		}
	}
	return n
}

// whole hands on the percentiles of the whole run.
func (a *artilleryReader) whole(s *artilleryStats) error {
	m := s.Summaries["http.response_time"]
	from, to := millis(s.First), millis(s.Last)
	if m.Count < 1 || m.Count > 1e15 || to <= from {
		return nil
	}
	n := uint64(m.Count)
	table := []ranked{{n, max(0, m.Max-0.5) / 1e3, (m.Max + 0.5) / 1e3}}
	for q, v := range map[float64]float64{0.5: m.P50, 0.75: m.P75, 0.9: m.P90, 0.95: m.P95, 0.99: m.P99, 0.999: m.P999} {
		// Artillery keeps times to 1 %, and prints them to 0.1 ms.
		table = append(table, ranked{rankOf(q, n), max(0, v/1.01-0.05) / 1e3, (v/0.99 + 0.05) / 1e3})
	}
	d := ranks(n, table)
	if len(d.Bounds) == 0 {
		return fmt.Errorf("read %s: percentiles of http.response_time: %w", a.sink.format.Title, errNumber)
	}
	a.point(serviceSummaryName, "s", sample.DeltaHisto, sample.Point{Start: from, Time: to, Value: m.Mean * m.Count / 1e3, Histogram: d})
	return a.err
}
