package runs_test

import (
	"context"
	"encoding/binary"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/journal"
	"github.com/plimsoll/plimsoll/collector/journal/memory"
	"github.com/plimsoll/plimsoll/collector/runs"
)

const (
	second = int64(time.Second)
	minute = int64(time.Minute)
	hour   = int64(time.Hour)
)

// noon is when tests begin.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// clock is a clock that tests set.
type clock struct{ ns atomic.Int64 }

func (c *clock) now() time.Time        { return time.Unix(0, c.ns.Load()) }
func (c *clock) set(t time.Time)       { c.ns.Store(t.UnixNano()) }
func (c *clock) pass(d time.Duration)  { c.ns.Add(int64(d)) }
func at(d time.Duration) int64         { return noon.Add(d).UnixNano() }
func (f *fixture) id() (id journal.ID) { binary.BigEndian.PutUint64(id[:], f.ids.Add(1)); return id }

func config(maxAge time.Duration) (c runs.Config) {
	c = runs.DefaultConfig()
	c.MaxAge = maxAge
	return c
}

type fixture struct {
	*runs.Catalogue
	*clock
	t   testing.TB
	ctx context.Context
	log journal.Log
	cfg runs.Config
	ids atomic.Uint64
}

// start opens a catalogue over a new log in memory, at noon.
func start(t testing.TB) *fixture {
	t.Helper()
	return startWith(t, memory.New(), config(24*time.Hour))
}

func startWith(t testing.TB, log journal.Log, cfg runs.Config) *fixture {
	t.Helper()
	f := &fixture{t: t, ctx: t.Context(), clock: &clock{}, cfg: cfg}
	f.set(noon)
	f.open(log)
	return f
}

// open builds the index anew, as a restart does.
func (f *fixture) open(log journal.Log) {
	f.t.Helper()
	c, err := runs.New(log, f.cfg, f.now, slog.New(slog.DiscardHandler))
	if err != nil {
		f.t.Fatalf("open catalogue: %v", err)
	}
	f.log, f.Catalogue = log, c
}

// send accepts batches and wants nothing refused.
func (f *fixture) send(batches ...*sample.Batch) {
	f.t.Helper()
	got, err := f.Accept(f.ctx, f.id(), batches)
	if err != nil || got != (journal.Receipt{}) {
		f.t.Fatalf("Accept = %+v, %v; want nothing refused", got, err)
	}
}

// get wants the run to exist.
func (f *fixture) get(ref string) runs.Info {
	f.t.Helper()
	info, err := f.Resolve(f.ctx, ref)
	if err != nil {
		f.t.Fatalf("Resolve(%q): %v", ref, err)
	}
	return info
}

// list wants all runs.
func (f *fixture) list() []runs.Info {
	f.t.Helper()
	items, next, err := f.List(f.ctx, runs.Query{Limit: 1000})
	if err != nil || next != "" {
		f.t.Fatalf("List: next %q, %v", next, err)
	}
	return items
}

// ids lists the ids of all runs, newest first.
func ids(items []runs.Info) []string {
	out := make([]string, 0, len(items))
	for _, i := range items {
		out = append(out, i.ID)
	}
	return out
}

// rowed makes a batch of rows of a source that are sent at the given times and
// take 100 ms each.
func rowed(run, source string, sent ...int64) *sample.Batch {
	b := &sample.Batch{RunID: run, Groups: []sample.Group{{Source: source, Generator: "gen", Scenario: "s"}}}
	for _, s := range sent {
		b.Append(sample.Row{Sent: s, Done: s + second/10, Index: sample.NoIndex, Outcome: sample.OK, Status: 200})
	}
	return b
}

// pointed makes a batch of points of a source at the given times.
func pointed(run, source, service string, times ...int64) *sample.Batch {
	b := &sample.Batch{RunID: run, Series: []sample.Series{{Source: source, Service: service, Name: "queue"}}}
	for i, t := range times {
		b.Points = append(b.Points, sample.Point{Time: t, Value: float64(i)})
	}
	return b
}

// every lists times from begin to end.
func every(step, begin, end time.Duration) []int64 {
	var times []int64
	for d := begin; d <= end; d += step {
		times = append(times, at(d))
	}
	return times
}

// evidence reads all of a run.
func (f *fixture) evidence(ref string) (rows []sample.Row, points []sample.Point) {
	f.t.Helper()
	ev, err := f.Open(f.ctx, ref)
	if err != nil {
		f.t.Fatalf("Open(%q): %v", ref, err)
	}
	entries := ev.Entries()
	order := make([]int, len(entries))
	for i := range order {
		order[i] = len(order) - 1 - i
	}
	next := 0
	err = ev.Read(f.ctx, order, func(i int, b *sample.Batch) error {
		if i != order[next] || b.Len() != entries[i].Rows {
			f.t.Errorf("Read gave entry %d with %d rows, want %d with %d", i, b.Len(), order[next], entries[i].Rows)
		}
		next++
		for k := range b.Len() {
			rows = append(rows, b.Row(k))
		}
		points = append(points, b.Points...)
		return nil
	})
	if err != nil {
		f.t.Fatalf("Read(%q): %v", ref, err)
	}
	return rows, points
}
