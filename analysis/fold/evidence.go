package fold

import (
	"context"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Run is what is known of a run beside its rows.
type Run struct {
	ID          string
	Name        string            // human name; the id when nothing better is known
	Finished    bool              // no more data are expected
	Declaration *wire.Declaration // nil when the run was not declared
	Marks       []wire.Mark       // in order of time
	Revision    uint64            // grows with every change of the evidence
}

// Entry describes one kept batch without its rows.
type Entry struct {
	Span  sample.Span // event time covered by the batch
	Rows  int
	Place uint64 // grows with every batch that is kept of the run
}

// Evidence is a snapshot of what is kept of one run. Successive calls answer
// for the same snapshot. It is satisfied by the catalogue of runs.
type Evidence interface {
	// Run describes the run.
	Run() Run
	// Entries lists the batches of the run, in any order.
	Entries() []Entry
	// Read decodes the batches at the given indices into Entries, in the order
	// asked for. The batch is valid until fn returns.
	Read(ctx context.Context, at []int, fn func(i int, b *sample.Batch) error) error
	// Telemetry reads the server metrics that overlap the span, from all
	// resources that the run's targets allow. The batch is valid until fn returns.
	Telemetry(ctx context.Context, span sample.Span, fn func(b *sample.Batch) error) error
}
