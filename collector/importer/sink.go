package importer

import (
	"context"
	"fmt"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/journal"
)

const (
	batchRows   = 8192
	batchTime   = int64(5e9) // of ends: who follows a pipe does not wait longer
	batchPoints = 2048
	batchGroups = 4096 // a batch with more groups is handed on early
	mostBad     = 100  // lines that may always be bad
	badShare    = 0.05 // of all lines and rows
	mostNotes   = 20   // warnings, and pieces of advice
)

// Keep keeps the batches of one chunk: all or nothing, durably. The same id
// again is a duplicate. Catalogue.Import of collector/runs is one.
type Keep func(ctx context.Context, id journal.ID, batches []*sample.Batch) (journal.Receipt, error)

// Sink takes what a format reads. Its methods return the error with which the
// import fails; a format returns it as it is.
type Sink struct {
	// Scheduled says that the user has declared a schedule: rows with an index
	// should not bring a rate that was estimated.
	Scheduled bool
	// OTLP decodes OTLP messages.
	OTLP Decoder

	ctx    context.Context //nolint:containedctx // one sink lives within one call of Import
	src    *Source
	keep   Keep
	oneRun bool // all belongs to the run of the import
	format *Format
	source string // of the rows: name and fingerprint, as two hosts may use one name
	batch  sample.Batch
	chunk  digest
	last   sample.Group // given and completed, of the row before
	given  sample.Group
	index  uint16
	oldest int64   // end of the first row of the batch
	newest int64   // of all rows
	back   bool    // rows go back in time
	drops  []drops // one per stream, in order of appearance
	series map[sample.Series]uint32
	report *Report
	pulse  func()

	passing []string // warnings that are about this import, not about the file
}

// Row adds a request, or one attempt of it. Source and Generator of the group
// are filled in where they are empty; r.Group is set here. Rows that end before
// they begin are counted as bad.
func (k *Sink) Row(g *sample.Group, r *sample.Row) error {
	if r.Done < r.Sent || r.Sent <= 0 {
		return k.Bad(fmt.Errorf("request ended at %d ns and was sent at %d ns", r.Done, r.Sent))
	}
	if k.batch.Len() == 0 || *g != k.given {
		k.given, k.last = *g, k.complete(*g)
		k.index = k.batch.GroupIndex(&k.last)
	}
	r.Group = k.index
	k.batch.Append(*r)
	k.report.row(&k.last, r, k.Scheduled)
	if k.batch.Len() >= batchRows || len(k.batch.Groups) >= batchGroups || k.due(r.Done) {
		return k.flush()
	}
	return nil
}

// due reports whether the batch spans so much time that it is handed on. Files
// whose rows go back in time are read as files: their batches would be small.
// Like all that divides batches it depends on the content alone, so that a pipe
// and the file that was made of it are the same import.
func (k *Sink) due(done int64) bool {
	k.back = k.back || done < k.newest-batchTime
	k.newest = max(k.newest, done)
	if k.batch.Len() == 1 {
		k.oldest = done
	}
	return !k.back && done > k.oldest+batchTime
}

// complete fills in what is the same for the whole file.
func (k *Sink) complete(g sample.Group) sample.Group {
	if g.Source == "" {
		g.Source = k.source
	}
	if g.Generator == "" {
		g.Generator = k.format.Generator
	}
	return g
}

// Point adds an observation of a metric; p.Series is set here.
func (k *Sink) Point(s *sample.Series, p sample.Point) error {
	if p.Time <= 0 {
		return k.Bad(fmt.Errorf("time %d ns of metric %q is not plausible", p.Time, s.Name))
	}
	full := *s
	if full.Source == "" {
		full.Source = k.complete(sample.Group{}).Source
	}
	i, ok := k.series[full]
	if !ok {
		i = uint32(len(k.batch.Series))
		k.batch.Series = append(k.batch.Series, full)
		k.series[full] = i
	}
	p.Series = i
	k.batch.Points = append(k.batch.Points, p)
	from := p.Time
	if s.Kind == sample.DeltaSum || s.Kind == sample.DeltaHisto {
		from = p.Start // what was counted since
	}
	k.report.point(from, p.Time)
	if len(k.batch.Points) >= batchPoints {
		return k.flush()
	}
	return nil
}

// Batch hands on a batch that was made elsewhere. It is kept under the run of
// the import unless it is telemetry of a server, or names a run of its own and
// the user has named none.
func (k *Sink) Batch(b *sample.Batch) error {
	for i := range b.Sent {
		r := b.Row(i)
		k.report.row(&b.Groups[r.Group], &r, k.Scheduled)
	}
	for i := range b.Points {
		k.report.point(b.Points[i].Time, b.Points[i].Time)
	}
	switch {
	case b.RunID == sample.Telemetry:
	case b.RunID != "" && !k.oneRun:
		k.report.run(b.RunID)
	default:
		k.report.run(k.report.RunID)
		b.RunID, b.RunName = k.report.RunID, k.report.RunName
	}
	return k.send(b)
}

// Warn tells the reader of the import what to know about the file. The same
// text twice is one.
func (k *Sink) Warn(format string, args ...any) {
	k.report.Warnings = note(k.report.Warnings, fmt.Sprintf(format, args...))
}

// keepNotes keeps what the reader was told with the run, as far as it is of the
// content of the file: not what is about this import.
func (k *Sink) keepNotes() error {
	if !slices.Contains(k.report.Runs, k.report.RunID) {
		return nil
	}
	b := &sample.Batch{RunID: k.report.RunID, RunName: k.report.RunName}
	for _, text := range k.report.Warnings {
		if slices.Contains(k.passing, text) {
			continue
		}
		s := sample.NoteOf(text)
		s.Source = k.complete(sample.Group{}).Source
		b.Points = append(b.Points, sample.Point{Series: uint32(len(b.Series)), Time: k.report.Span.To, Value: 1})
		b.Series = append(b.Series, s)
	}
	if len(b.Points) == 0 {
		return nil
	}
	if _, err := k.keep(k.ctx, k.chunk.id(b), []*sample.Batch{b}); err != nil {
		return fmt.Errorf("keep notes: %w", err)
	}
	return nil
}

// Advise says what would give better evidence the next time.
func (k *Sink) Advise(format string, args ...any) {
	k.report.Advice = note(k.report.Advice, fmt.Sprintf(format, args...))
}

func note(notes []string, text string) []string {
	if slices.Contains(notes, text) || len(notes) >= mostNotes {
		return notes
	}
	return append(notes, text)
}

// Bad counts a line or record that cannot be read; the place of the source is
// added to the error. A last line without an end is a warning instead. It
// returns an error when too many are bad: then the file is of another kind, or
// what is left of it is not the run.
func (k *Sink) Bad(err error) error {
	if k.src.torn {
		k.report.Torn = true
		return nil
	}
	r := k.report
	r.Bad++
	if r.FirstBad == "" {
		r.FirstBad = fmt.Sprintf("%s: %v", k.src.place(), err)
	}
	if r.Bad > mostBad && float64(r.Bad) > badShare*float64(r.Rows+r.Points+r.Bad) {
		return k.tooBad()
	}
	return nil
}

func (k *Sink) tooBad() error {
	return fmt.Errorf("read %s: %d records cannot be read, the first at %s", k.format.Title, k.report.Bad, k.report.FirstBad)
}

// Flush hands on what has been read so far, for formats that wait for more.
func (k *Sink) Flush() error { return k.flush() }

func (k *Sink) flush() error {
	if err := k.flushDrops(); err != nil {
		return err
	}
	if k.batch.Empty() {
		return k.ctx.Err()
	}
	err := k.send(&k.batch)
	k.batch.Reset()
	clear(k.series)
	return err
}

func (k *Sink) send(b *sample.Batch) error {
	if err := k.ctx.Err(); err != nil {
		return err
	}
	if b != &k.batch { // keep the order of the file
		if err := k.flush(); err != nil {
			return err
		}
	} else {
		k.report.run(k.report.RunID)
		b.RunID, b.RunName = k.report.RunID, k.report.RunName
	}
	rows, points := int64(b.Len()), int64(len(b.Points))
	receipt, err := k.keep(k.ctx, k.chunk.id(b), []*sample.Batch{b})
	if err != nil {
		return fmt.Errorf("keep rows: %w", err)
	}
	k.report.receipt(receipt, rows+points)
	k.pulse()
	return nil
}
