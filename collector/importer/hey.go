package importer

import (
	"bytes"
	"context"
	"fmt"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

const heyHeader = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset"

// heyCSV is what hey prints with "-o csv": requests that were answered, with
// times in seconds from its start. hey is a closed loop; a tick of -q that finds
// its worker busy is lost, and counted nowhere.
func heyCSV() Format {
	return Format{
		Name: "hey-csv", Title: "hey CSV", Generator: "hey", Document: true,
		Sniff: func(head []byte) bool { return bytes.HasPrefix(head, []byte(heyHeader)) },
		Read:  readHeyCSV,
	}
}

// Columns of hey.
const (
	heyTook = iota
	heyDial
	_
	heyWrite
	heyDelay
	_
	heyStatus
	heyOffset
	heyColumns
)

func readHeyCSV(_ context.Context, src *Source, sink *Sink) error {
	o := offsets{columns: heyColumns, start: heyOffset, took: heyTook}
	g, row := &sample.Group{Model: sample.Closed}, sample.Row{}
	err := o.read(src, sink, func(base int64, f [][]byte, sent, took int64) error {
		var first int64
		for _, i := range []int{heyDial, heyWrite, heyDelay} {
			v, err := decimal(f[i], 1e9)
			if err != nil {
				return err
			}
			first += v
		}
		status, err := integer(f[heyStatus])
		if err != nil {
			return err
		}
		sent += base
		row = sample.Row{
			Sent: sent, Done: sent + took, FirstByte: sent + min(took, first),
			Index: sample.NoIndex, Outcome: answered(status), Status: statusOf(status),
		}
		return stop(sink.Row(g, &row))
	})
	sink.Warn("hey writes no request that failed without an answer, and with -q (per worker) a missed tick is lost: what was not sent is counted nowhere")
	sink.Advise("an open generator (Vegeta, oha -q with --latency-correction --db-url, k6 arrival rates) sends whatever the service does")
	return err
}

// heySummary is what hey prints without -o.
func heySummary() Format {
	return Format{
		Name: "hey", Title: "hey summary", Generator: "hey", Document: true,
		Sniff: func(head []byte) bool {
			at := lineWith(head, "Summary:")
			return at >= 0 && bytes.Contains(head[at:], []byte("  Slowest:\t")) && bytes.Contains(head[at:], []byte("  Requests/sec:\t"))
		},
		Read: readHeySummary,
	}
}

// heyTotals is what the summary says.
type heyTotals struct {
	seconds, average      float64
	answers, failed, lost float64  // with a status; of those, failed; without one
	table                 []ranked // rank is the percentage
	max                   ranked
}

func readHeySummary(_ context.Context, src *Source, sink *Sink) error {
	var r heyTotals
	section := ""
	err := lines(src, sink, func(line []byte) error {
		line = bytes.TrimSpace(line)
		if bytes.HasSuffix(line, []byte(":")) {
			section = string(line)
			return nil
		}
		return r.line(section, bytes.Fields(line))
	})
	if err != nil {
		return err
	}
	return r.tell(sink)
}

func (r *heyTotals) line(section string, f [][]byte) error {
	var v float64
	switch {
	case section == "Summary:" && len(f) == 3 && string(f[2]) == "secs":
		if err := number(string(f[1]), &v); err != nil {
			return err
		}
		switch string(f[0]) {
		case "Total:":
			r.seconds = v
		case "Average:":
			r.average = v
		case "Slowest:":
			r.max.lo, r.max.hi = printed(v, 4, 1)
		}
	case section == "Latency distribution:" && len(f) == 4 && string(f[1]) == "in" && bytes.HasSuffix(f[0], []byte("%")):
		q, err := integer(bytes.TrimSuffix(f[0], []byte("%")))
		if err != nil || q > 100 {
			return fmt.Errorf("%w %q", errNumber, trimmed(f[0]))
		}
		if err := number(string(f[2]), &v); err != nil {
			return err
		}
		if v > 0 { // a percentile that there are too few requests for
			lo, hi := printed(v, 4, 1)
			r.table = append(r.table, ranked{uint64(q), lo, hi})
		}
	case section == "Status code distribution:" && len(f) == 3 && string(f[2]) == "responses":
		status, err := integer(bytes.Trim(f[0], "[]"))
		if err != nil {
			return err
		}
		if err := number(string(f[1]), &v); err != nil {
			return err
		}
		r.answers += v
		if answered(status) != sample.OK {
			r.failed += v
		}
	case section == "Error distribution:" && len(f) >= 2 && bytes.HasPrefix(f[0], []byte("[")):
		if err := number(string(bytes.Trim(f[0], "[]")), &v); err != nil {
			return err
		}
		r.lost += v
	}
	return nil
}

func (r *heyTotals) tell(sink *Sink) error {
	if r.seconds <= 0 || r.answers+r.lost == 0 {
		return fmt.Errorf("read %s: %w", sink.format.Title, errNoTotal)
	}
	end, err := sink.End()
	if err != nil {
		return err
	}
	t := tally{sink: sink, tool: "hey", from: end - nanos(r.seconds), to: end}
	t.count(sentName, r.answers+r.lost)
	t.count(endedName, r.answers+r.lost)
	t.count(failedName, r.failed+r.lost)
	if r.lost == 0 {
		t.count(inFlightTimeName, r.average*r.answers)
	}
	n := uint64(r.answers)
	table := []ranked{{n, r.max.lo, r.max.hi}}
	for _, row := range r.table {
		table = append(table, ranked{rankOf(float64(row.rank)/100, n), row.lo, row.hi})
	}
	t.times(serviceSummaryName, ranks(n, table), r.average*r.answers)
	sink.Advise("-o csv writes every request that was answered")
	return t.err
}
