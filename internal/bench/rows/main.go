// Command rows measures what it costs to keep a run: it makes synthetic rows,
// encodes them in batches, appends each batch durably to a journal in a
// directory of its own, opens the journal again, reads and decodes them all, and
// folds them into a verdict.
//
//	go run ./internal/bench/rows -rows 86000000
//
//	go run ./internal/bench/rows -rows 86400000 -rate 1000 -streams 10
//
// 86 million rows are a run of 20,000 requests a second over 72 minutes, or of
// 1,000 over a day. It then asks the folded state further questions, and prints time per row (of the wall clock and of all cores), bytes per row and
// the peak of resident memory. The rows repeat from run to run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/verdict"
	"github.com/plimsoll/plimsoll/analysis/warm"
	"github.com/plimsoll/plimsoll/collector/batch"
	"github.com/plimsoll/plimsoll/collector/journal"
	"github.com/plimsoll/plimsoll/collector/journal/pebble"
	"github.com/plimsoll/plimsoll/collector/runs"
)

// The run, and the stream that the catalogue of runs keeps it in.
const (
	runID  = "0197f3c2-5a53-7cc1-a5b4-6c2f9d1e8a77"
	stream = "run/" + runID
)

type config struct {
	rows        int
	rate        float64
	streams     int
	batchRows   int
	concurrency int
	dir         string
	keep        string
}

func main() {
	var c config
	flag.IntVar(&c.rows, "rows", 1_000_000, "number of rows")
	flag.Float64Var(&c.rate, "rate", 20_000, "requests a second")
	flag.IntVar(&c.streams, "streams", 4, "scenarios of the run")
	flag.IntVar(&c.batchRows, "batch", 512, "rows in a batch")
	flag.IntVar(&c.concurrency, "commit-concurrency", 4, "appends under way at a time")
	flag.StringVar(&c.dir, "dir", "", "directory for the journal's; the system's for temporary files when empty")
	flag.StringVar(&c.keep, "keep", "", "data directory of a server in which the run stays afterwards")
	flag.Parse()
	if err := run(context.Background(), c, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "rows:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, c config, out io.Writer) (err error) {
	if c.rows <= 0 || c.rate <= 0 || c.streams <= 0 || c.batchRows <= 0 || c.concurrency <= 0 || flag.NArg() > 0 {
		return errors.New("all numbers must be positive, and there are no arguments")
	}
	dir := c.keep
	if dir == "" {
		if dir, err = os.MkdirTemp(c.dir, "rows-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}

	p := printer{out: out, rows: c.rows}
	if err := generateOnly(&p, c); err != nil {
		return err
	}
	log, err := pebble.Open(dir, pebble.Options{})
	if err != nil {
		return err
	}
	if err := write(ctx, &p, c, log); err != nil {
		return errors.Join(err, log.Close())
	}
	p.line("peak memory, writing", "%d MiB resident", peakMemory()>>20)
	start := time.Now()
	if err := log.Close(); err != nil {
		return err
	}
	p.line("close", "%.3f s", time.Since(start).Seconds())
	start = time.Now()
	if log, err = pebble.Open(dir, pebble.Options{}); err != nil {
		return err
	}
	p.line("open again", "%.3f s", time.Since(start).Seconds())
	p.line("on disk", "%.2f B/row", float64(log.Size())/float64(c.rows))
	for _, pass := range passes() {
		err = errors.Join(err, p.measure(pass.name, func() error { return pass.over(ctx, log, c.rows) }))
	}
	err = errors.Join(err, p.warm(ctx, log))
	p.line("peak memory, all", "%d MiB resident", peakMemory()>>20)
	return errors.Join(err, log.Close())
}

// pass goes over all rows of the run in the journal.
type pass struct {
	name string
	over func(ctx context.Context, log journal.Log, rows int) error
}

func passes() []pass {
	return []pass{{"list metas", listMetas}, {"read and decode", readAndDecode}, {"read, decode, fold, judge", judge}}
}

// open opens the finished run through the catalogue, as a question over the API
// does.
func open(ctx context.Context, log journal.Log) (fold.Evidence, error) {
	cat, err := runs.New(log, runs.DefaultConfig(), time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	if _, err := cat.Finish(ctx, runID); err != nil {
		return nil, err
	}
	return cat.Open(ctx, runID)
}

// warm folds the run once and then asks further questions of its state.
func (p *printer) warm(ctx context.Context, log journal.Log) error {
	ev, err := open(ctx, log)
	if err != nil {
		return err
	}
	states := warm.NewStates(fold.Build, 1<<30, time.Now)
	defer states.Close()
	a := verdict.Analysis{Fold: states.Of}
	if _, err := a.Judge(ctx, ev, query.Options{}); err != nil {
		return err
	}
	p.line("state", "%.1f MiB", float64(states.Used())/(1<<20))
	quantile, limit := 0.99, 0.3
	for _, q := range []struct {
		name string
		ask  func() error
	}{
		{"warm verdict", func() error {
			_, err := a.Judge(ctx, ev, query.Options{Objectives: []wire.Objective{{Quantile: &quantile, MaxS: &limit}}})
			return err
		}},
		{"warm series", func() error { _, err := a.Series(ctx, ev, query.Options{MaxPoints: 1000}); return err }},
		{"warm heatmap", func() error { _, err := a.Heatmap(ctx, ev, query.Options{MaxPoints: 200}); return err }},
	} {
		start := time.Now()
		if err := q.ask(); err != nil {
			return err
		}
		p.line(q.name, "%.1f ms", time.Since(start).Seconds()*1e3)
	}
	return nil
}

// judge judges the run.
func judge(ctx context.Context, log journal.Log, rows int) error {
	ev, err := open(ctx, log)
	if err != nil {
		return err
	}
	v, err := verdict.Analysis{}.Judge(ctx, ev, query.Options{})
	if err != nil {
		return err
	}
	if n := v.Totals.ResponseTime.N; n != int64(rows) {
		return fmt.Errorf("the verdict is about %d of %d rows", n, rows)
	}
	return nil
}

func listMetas(ctx context.Context, log journal.Log, rows int) error {
	_, err := positions(ctx, log, rows)
	return err
}

func positions(ctx context.Context, log journal.Log, rows int) ([]journal.Position, error) {
	var at []journal.Position
	err := log.Metas(ctx, stream, 0, func(p journal.Position, m journal.Meta) error {
		at = append(at, p)
		rows -= int(m.Rows)
		return nil
	})
	if err == nil && rows != 0 {
		err = fmt.Errorf("%d rows are missing from the metas", rows)
	}
	return at, err
}

func readAndDecode(ctx context.Context, log journal.Log, rows int) error {
	at, err := positions(ctx, log, rows)
	if err != nil {
		return err
	}
	b := &sample.Batch{}
	err = log.Read(ctx, stream, at, func(e journal.Entry) error {
		if err := batch.Decode(b, e.Data); err != nil {
			return fmt.Errorf("entry %d: %w", e.Position, err)
		}
		rows -= b.Len()
		return nil
	})
	if err == nil && rows != 0 {
		err = fmt.Errorf("%d rows are missing from the data", rows)
	}
	return err
}
