package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

const locustRequestHeader = "timestamp,request_type,name,response_time_ms,response_length,status_code,exception"

// locustRequests is what locust.contrib.csv_request_logger writes: every request
// with the time of its start in seconds since 1970.
func locustRequests() Format {
	return Format{
		Name: "locust-requests", Title: "Locust request log", Generator: "locust",
		Sniff: func(head []byte) bool { return bytes.HasPrefix(head, []byte(locustRequestHeader)) },
		Read:  readLocustRequests,
	}
}

// mostQuoted bounds a record whose quoted text runs over several lines.
const mostQuoted = 64 << 10

// quotedRecords calls fn with the fields of every record, whose quoted fields
// may hold commas, quotes and ends of lines.
func quotedRecords(src *Source, sink *Sink, fn func(f [][]byte) error) error {
	var fields [][]byte
	var begun []byte
	err := lines(src, sink, func(line []byte) (err error) {
		if len(begun) > 0 {
			begun = append(append(begun, '\n'), line...)
			line = begun
		}
		if fields, err = unquote(fields[:0], line, ','); errors.Is(err, errQuote) && len(line) < mostQuoted && !src.Torn() {
			if len(begun) == 0 {
				begun = append(begun, line...)
			}
			return nil
		}
		begun = begun[:0]
		switch {
		case err != nil:
			return err
		case src.Torn():
			return errTornLine
		}
		return fn(fields)
	})
	if err == nil && len(begun) > 0 {
		return sink.Bad(errQuote)
	}
	return err
}

func readLocustRequests(_ context.Context, src *Source, sink *Sink) error {
	if _, err := header(src, sink); err != nil {
		return err
	}
	return quotedRecords(src, sink, func(f [][]byte) error {
		if len(f) != 7 {
			return fmt.Errorf("%w: %d", errColumns, len(f))
		}
		sent, err := decimal(f[0], 1e9)
		if err != nil {
			return err
		}
		took, err := decimal(f[3], 1e6)
		if err != nil {
			return err
		}
		status, err := integer(f[5])
		if err != nil {
			return err
		}
		r := sample.Row{Sent: sent, Done: sent + took, Index: sample.NoIndex, Status: statusOf(status)}
		switch {
		case status >= 100:
			r.Outcome = answered(status)
		case len(f[6]) > 0:
			r.Outcome = failedWith(f[6])
		}
		if len(f[6]) > 0 && r.Outcome == sample.OK {
			r.Outcome = sample.Error // a check of the script
		}
		return stop(sink.Row(&sample.Group{Scenario: string(f[2]), Model: sample.Closed}, &r))
	})
}

// locustHistory is PREFIX_stats_history.csv, which grows while Locust runs: totals
// so far, every second or so. Its percentiles are over the last ten seconds and
// cannot be merged, so they are not used.
func locustHistory() Format {
	return Format{
		Name: "locust-history", Title: "Locust stats history", Generator: "locust",
		Sniff: func(head []byte) bool { return bytes.HasPrefix(head, []byte("Timestamp,User Count,Type,Name,")) },
		Read:  readLocustHistory,
	}
}

// locustStats is PREFIX_stats.csv: totals and percentiles of the whole run.
func locustStats() Format {
	return Format{
		Name: "locust-stats", Title: "Locust stats", Generator: "locust",
		Sniff: func(head []byte) bool {
			return bytes.HasPrefix(head, []byte("Type,Name,Request Count,Failure Count,")) || bytes.HasPrefix(head, []byte(`"Type","Name",`))
		},
		Read: readLocustStats,
	}
}

// table reads a file with a header and calls fn for the lines of the sum of all
// requests, with a function that reads a column by its name.
func locustTable(src *Source, sink *Sink, fn func(column func(name string) ([]byte, error)) error) error {
	line, err := header(src, sink)
	if err != nil {
		return err
	}
	columns, err := unquote(nil, line, ',')
	if err != nil {
		return fmt.Errorf("read header: %w", err)
	}
	names := map[string]int{}
	for i, n := range columns {
		names[string(n)] = i
	}
	return quotedRecords(src, sink, func(f [][]byte) error {
		if len(f) != len(columns) {
			return fmt.Errorf("%w: %d", errColumns, len(f))
		}
		column := func(name string) ([]byte, error) {
			i, ok := names[name]
			if !ok {
				return nil, fmt.Errorf("%w: no column %q", errColumns, name)
			}
			return f[i], nil
		}
		name, err := column("Name")
		if err != nil || string(name) != "Aggregated" {
			return err
		}
		return fn(column)
	})
}

// numbers reads columns by their names.
func numbers(column func(string) ([]byte, error), names ...string) ([]float64, error) {
	out := make([]float64, len(names))
	for i, name := range names {
		b, err := column(name)
		if err == nil && string(b) != "N/A" {
			err = number(string(b), &out[i])
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// locustSource names what the files of one run come from, so that they add up.
const locustSource = "locust"

func readLocustHistory(_ context.Context, src *Source, sink *Sink) error {
	err := locustTable(src, sink, func(column func(string) ([]byte, error)) error {
		v, err := numbers(column, "Timestamp", "User Count", "Total Request Count", "Total Failure Count", "Total Average Response Time")
		if err != nil {
			return err
		}
		p := locustPoints{sink: sink, to: nanos(v[0])}
		p.totals(v[2], v[3], v[4]/1e3)
		p.add("locust.users.count", "{user}", sample.Gauge, sample.Point{Value: v[1]})
		return stop(p.err)
	})
	sink.Warn("the file holds totals by second: requests are counted, and PREFIX_stats.csv has their percentiles")
	locustLate(sink)
	return err
}

func locustLate(sink *Sink) {
	sink.Warn("Locust writes this file every few seconds and not at its very end: the last requests may be missing")
	sink.Advise("locust.contrib.csv_request_logger writes every request")
}

// locustPoints hands on what both files say. Totals have no start, so that those
// of both files are one series.
type locustPoints struct {
	sink *Sink
	to   int64
	err  error
}

func (p *locustPoints) add(name, unit string, kind sample.Kind, at sample.Point) {
	if p.err != nil {
		return
	}
	s := sample.Series{Source: locustSource, Service: "locust", Scope: "locust", Name: name, Unit: unit, Kind: kind}
	at.Time = p.to
	p.err = p.sink.Point(&s, at)
}

// totals adds what has been counted so far.
func (p *locustPoints) totals(requests, failures, meanS float64) {
	p.add(endedName, "{request}", sample.Counter, sample.Point{Value: requests})
	p.add(failedName, "{request}", sample.Counter, sample.Point{Value: failures})
	p.add(inFlightTimeName, "s", sample.Counter, sample.Point{Value: requests * meanS})
}

func readLocustStats(_ context.Context, src *Source, sink *Sink) error {
	found := false
	err := locustTable(src, sink, func(column func(string) ([]byte, error)) error {
		v, err := numbers(column, "Request Count", "Failure Count", "Average Response Time", "Requests/s", "Max Response Time")
		if err != nil {
			return err
		}
		if v[3] <= 0 {
			return fmt.Errorf("%w: no requests per second", errNumber)
		}
		end, err := sink.End()
		if err != nil {
			return stop(err)
		}
		n := uint64(v[0])
		table := []ranked{}
		for _, q := range []string{"50%", "66%", "75%", "80%", "90%", "95%", "98%", "99%", "99.9%", "99.99%", "100%"} {
			ms, err := numbers(column, q)
			if err != nil {
				continue // an older version
			}
			share, _ := strconv.ParseFloat(q[:len(q)-1], 64)
			lo, hi := locustRounded(ms[0])
			table = append(table, ranked{rankOf(share/100, max(n, 1)), lo, hi})
		}
		found = true
		p := locustPoints{sink: sink, to: end}
		p.totals(v[0], v[1], v[2]/1e3)
		if d := ranks(n, table); n > 0 && slices.Max(d.Buckets) > 0 {
			p.add(serviceSummaryName, "s", sample.DeltaHisto, sample.Point{Start: end - nanos(v[0]/v[3]), Value: v[0] * v[2] / 1e3, Histogram: d})
		}
		return stop(p.err)
	})
	if err == nil && !found {
		err = fmt.Errorf("read %s: no line for the sum of all requests: %w", sink.format.Title, io.ErrUnexpectedEOF)
	}
	sink.Warn("Locust rounds its percentiles to two digits: the bucket says between which values they lie")
	locustLate(sink)
	return err
}

// locustRounded is where a time lies that Locust rounded: to 1 ms below 100 ms,
// to two digits above.
func locustRounded(ms float64) (lo, hi float64) {
	step := 1.0
	for ms >= 100*step {
		step *= 10
	}
	return max(0, ms-step/2) / 1e3, (ms + step/2) / 1e3
}
