package importer

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// ohaDB is what oha writes with --db-url: requests that were answered, with
// when each was due if it ran with --latency-correction (grade A). The file is
// read in the order of its pages, through a temporary file.
func ohaDB() Format {
	return Format{
		Name: "oha-sqlite", Title: "oha SQLite database", Generator: "oha", Document: true,
		Sniff: func(head []byte) bool { return bytes.HasPrefix(head, []byte(sqliteMagic)) },
		Read:  readOhaDB,
	}
}

// Columns of the table, in this order below.
const (
	ohaRun = iota
	ohaStart
	ohaDue
	ohaEnd
	ohaStatus
	ohaColumns
)

func readOhaDB(_ context.Context, src *Source, sink *Sink) (err error) {
	f, err := src.Spool(mostSpooled)
	if err != nil {
		return err
	}
	defer func() {
		if closing := f.Close(); err == nil {
			err = closing
		}
	}()
	db, err := openSQLite(f, f.Size)
	if err != nil {
		return err
	}
	root, names, err := db.table("oha")
	if err != nil {
		return err
	}
	var at [ohaColumns]int
	for i, name := range [ohaColumns]string{"run", "start", "start_latency_correction", "end", "status"} {
		if at[i] = slices.Index(names, name); at[i] < 0 && i != ohaDue {
			return fmt.Errorf("read SQLite database: table oha has no column %q", name)
		}
	}
	run, runs := int64(math.MinInt64), map[int64]bool{}
	err = db.rows(root, func(v []sqliteValue) error {
		if at[ohaRun] < len(v) && len(runs) < 1000 {
			runs[v[at[ohaRun]].whole] = true
			run = max(run, v[at[ohaRun]].whole)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(runs) > 1 {
		sink.Warn("the database holds %d runs: only the newest was read", len(runs))
	}
	if db.wal {
		sink.Warn("the database was left open by its writer: what lies in its -wal file is missing")
	}
	err = db.rows(root, func(v []sqliteValue) error { return ohaRow(sink, run, &at, v) })
	ohaNotes(sink)
	return err
}

// ohaNotes says what both files of oha lack.
func ohaNotes(sink *Sink) {
	sink.Warn("oha writes no request that failed without an answer: how many did is in its summary alone")
}

func ohaRow(sink *Sink, run int64, at *[ohaColumns]int, v []sqliteValue) error {
	get := func(i int) sqliteValue {
		if at[i] < 0 || at[i] >= len(v) {
			return sqliteValue{null: true}
		}
		return v[at[i]]
	}
	if get(ohaRun).whole != run {
		return nil
	}
	base, _ := epoch(run)
	r := sample.Row{
		Sent: base + nanos(get(ohaStart).real), Done: base + nanos(get(ohaEnd).real), Index: sample.NoIndex,
		Outcome: answered(get(ohaStatus).whole), Status: statusOf(get(ohaStatus).whole),
	}
	g := sample.Group{}
	if due := get(ohaDue); !due.null {
		r.Intended, g.Model = base+nanos(due.real), sample.Open
	} else {
		sink.Advise("-q with --latency-correction writes when each request was due")
	}
	return sink.Row(&g, &r)
}

const ohaHeader = "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status"

// ohaCSV is what oha writes with "--output-format csv": requests that were
// answered, in the order of their starts, with times in seconds from its start.
// With --latency-correction the duration is counted from when a request was due,
// though the start is when it was sent, and nothing in the file tells.
func ohaCSV() Format {
	return Format{
		Name: "oha-csv", Title: "oha CSV", Generator: "oha", Document: true,
		Sniff: func(head []byte) bool { return bytes.HasPrefix(head, []byte(ohaHeader)) },
		Read:  readOhaCSV,
	}
}

func readOhaCSV(_ context.Context, src *Source, sink *Sink) error {
	o := offsets{columns: 7, start: 0, took: 4}
	g, r := &sample.Group{}, sample.Row{}
	err := o.read(src, sink, func(base int64, f [][]byte, sent, took int64) error {
		first, err := decimal(f[3], 1e9)
		if err != nil {
			return err
		}
		status, err := integer(f[6])
		if err != nil {
			return err
		}
		r = sample.Row{Sent: base + sent, Done: base + sent + took, Index: sample.NoIndex, Outcome: answered(status), Status: statusOf(status)}
		if first > 0 {
			r.FirstByte = r.Sent + min(first, took)
		}
		return stop(sink.Row(g, &r))
	})
	ohaNotes(sink)
	sink.Warn("with --latency-correction oha's durations begin before its starts: this file does not tell, and is read as if without")
	sink.Advise("--db-url writes when each request was due")
	return err
}
