// Package foldtest holds evidence in memory, so that tests of the fold and of
// everything behind it need no journal. It judges nothing.
package foldtest

import (
	"context"

	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Evidence is a run held in memory.
type Evidence struct {
	Of       fold.Run
	Batches  []*sample.Batch
	Servers  []*sample.Batch // telemetry of the servers under test
	Failures error           // returned by Read when set
}

var _ fold.Evidence = (*Evidence)(nil)

// Run implements fold.Evidence.
func (e *Evidence) Run() fold.Run { return e.Of }

// Entries implements fold.Evidence.
func (e *Evidence) Entries() []fold.Entry {
	out := make([]fold.Entry, len(e.Batches))
	for i, b := range e.Batches {
		out[i] = fold.Entry{Span: b.Span(), Rows: b.Len(), Place: uint64(i) + 1}
	}
	return out
}

// Read implements fold.Evidence.
func (e *Evidence) Read(_ context.Context, at []int, fn func(int, *sample.Batch) error) error {
	for _, i := range at {
		if err := fn(i, e.Batches[i]); err != nil {
			return err
		}
	}
	return e.Failures
}

// Telemetry implements fold.Evidence.
func (e *Evidence) Telemetry(_ context.Context, span sample.Span, fn func(*sample.Batch) error) error {
	for _, b := range e.Servers {
		if s := b.Span(); s.To < span.From || s.From > span.To {
			continue
		}
		if err := fn(b); err != nil {
			return err
		}
	}
	return nil
}

// Batches divides rows of one group into batches of the given size, in order.
func Batches(g sample.Group, rows []sample.Row, size int) []*sample.Batch {
	var out []*sample.Batch
	for len(rows) > 0 {
		n := min(size, len(rows))
		b := &sample.Batch{Groups: []sample.Group{g}}
		for _, r := range rows[:n] {
			r.Group = 0
			b.Append(r)
		}
		out = append(out, b)
		rows = rows[n:]
	}
	return out
}

// Row is an answered request: due, sent and done in Unix nanoseconds.
func Row(due, sent, done int64) sample.Row {
	return sample.Row{Intended: due, Sent: sent, Done: done, Index: sample.NoIndex}
}
