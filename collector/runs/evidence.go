package runs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/batch"
	"github.com/plimsoll/plimsoll/collector/journal"
)

// evidence is a snapshot of one run. It satisfies fold.Evidence.
type evidence struct {
	c       *Catalogue
	stream  string
	about   fold.Run
	entries []fold.Entry
	at      []journal.Position
	// reach bounds the points of a source's run; points beyond it belong to
	// other runs. It is zero where there is no bound.
	reach sample.Span

	once      sync.Once
	telemetry []telemetryEntry
	err       error
}

// telemetryEntry is a kept batch of server metrics.
type telemetryEntry struct {
	stream string
	entry
}

var _ fold.Evidence = (*evidence)(nil)

// Open takes a snapshot of a run. Rows that retention or Delete removes later
// make Read fail with ErrRemoved.
func (c *Catalogue) Open(ctx context.Context, ref string) (fold.Evidence, error) {
	return c.OpenFrom(ctx, ref, 0)
}

// OpenFrom is Open for what was kept at a place or later: what a look at a run
// that goes on has not seen yet. Place 0 is everything.
func (c *Catalogue) OpenFrom(ctx context.Context, ref string, place uint64) (fold.Evidence, error) {
	r, err := c.find(ref)
	if err != nil {
		return nil, err
	}
	s, id := r.s, r.id
	defer c.release(s)
	now := c.now().UnixNano()
	s.gate.Lock() // nothing is appended between listing positions and copying
	defer s.gate.Unlock()
	if err := c.place(ctx, s); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r = c.lookup(id); r == nil || r.s != s {
		return nil, notFound(ref)
	}
	return c.snapshot(r, now, journal.Position(place)), nil
}

// snapshot copies what the index says of a run, from a position on. The caller
// holds mu and the stream's gate, and has placed its entries.
func (c *Catalogue) snapshot(r *run, now int64, from journal.Position) *evidence {
	e := &evidence{c: c, stream: r.s.name, about: r.describe(now)}
	if !r.s.explicit && r.rowed > 0 {
		e.reach = around(r.span)
	}
	first, _ := slices.BinarySearchFunc(r.s.entries, from, func(x entry, p journal.Position) int { return cmp.Compare(x.at, p) })
	n := min(r.rowed+r.pointed, len(r.s.entries)-first)
	e.entries, e.at = make([]fold.Entry, 0, n), make([]journal.Position, 0, n)
	for i := first; i < len(r.s.entries); i++ {
		if kept := &r.s.entries[i]; r.holds(kept) {
			e.entries = append(e.entries, fold.Entry{Span: kept.span, Rows: int(kept.rows), Place: uint64(kept.at)})
			e.at = append(e.at, kept.at)
		}
	}
	return e
}

func (e *evidence) Run() fold.Run { return e.about }

func (e *evidence) Entries() []fold.Entry { return e.entries }

func (e *evidence) Read(ctx context.Context, at []int, fn func(i int, b *sample.Batch) error) error {
	positions := make([]journal.Position, len(at))
	for k, i := range at {
		positions[k] = e.at[i]
	}
	next := 0
	err := e.c.read(ctx, e.stream, positions, func(p journal.Position, b *sample.Batch) error {
		if next >= len(at) || positions[next] != p {
			return ErrRemoved
		}
		i := at[next]
		next++
		if span := e.entries[i].Span; e.entries[i].Rows == 0 && !e.reach.IsZero() &&
			(span.From < e.reach.From || span.To > e.reach.To) {
			clip(b, e.reach)
		}
		return fn(i, b)
	})
	if err == nil && next < len(at) {
		err = ErrRemoved
	}
	if err != nil {
		return fmt.Errorf("read run %q: %w", e.about.ID, err)
	}
	return nil
}

// read decodes entries of a stream. The batch is valid until fn returns.
func (c *Catalogue) read(ctx context.Context, stream string, at []journal.Position,
	fn func(journal.Position, *sample.Batch) error,
) error {
	b := c.batches.Get().(*sample.Batch)
	defer func() {
		b.Reset()
		c.batches.Put(b)
	}()
	return c.log.Read(ctx, stream, at, func(e journal.Entry) error {
		if err := batch.Decode(b, e.Data); err != nil {
			return fmt.Errorf("decode entry %d: %w", e.Position, err)
		}
		return fn(e.Position, b)
	})
}

// clip takes out the points beyond a span.
func clip(b *sample.Batch, span sample.Span) {
	b.Points = slices.DeleteFunc(b.Points, func(p sample.Point) bool {
		return p.Time < span.From || p.Time > span.To
	})
}

func (e *evidence) Telemetry(ctx context.Context, span sample.Span, fn func(b *sample.Batch) error) error {
	e.once.Do(func() { e.telemetry, e.err = e.c.telemetryEntries(ctx) })
	if e.err != nil {
		return fmt.Errorf("read telemetry of run %q: %w", e.about.ID, e.err)
	}
	var targets []string
	if e.about.Declaration != nil {
		targets = e.about.Declaration.Targets
	}
	for i := 0; i < len(e.telemetry); {
		stream := e.telemetry[i].stream
		var at []journal.Position
		for ; i < len(e.telemetry) && e.telemetry[i].stream == stream; i++ {
			if overlap(e.telemetry[i].span, span) {
				at = append(at, e.telemetry[i].at)
			}
		}
		if len(at) == 0 {
			continue
		}
		err := e.c.read(ctx, stream, at, func(_ journal.Position, b *sample.Batch) error {
			if keepServices(b, targets); len(b.Points) == 0 {
				return nil
			}
			return fn(b)
		})
		if err != nil {
			return fmt.Errorf("read telemetry of run %q: %w", e.about.ID, err)
		}
	}
	return nil
}

// telemetryEntries lists all telemetry that is kept now, in a fixed order.
func (c *Catalogue) telemetryEntries(ctx context.Context) ([]telemetryEntry, error) {
	c.mu.Lock()
	held := make([]*stream, 0, len(c.telemetry))
	for _, s := range c.telemetry {
		s.users++
		held = append(held, s)
	}
	c.mu.Unlock()
	defer func() {
		for _, s := range held {
			c.release(s)
		}
	}()
	slices.SortFunc(held, func(a, b *stream) int { return cmp.Compare(a.name, b.name) })
	var list []telemetryEntry
	for _, s := range held {
		if err := c.placeAll(ctx, s); err != nil {
			return nil, err
		}
		c.mu.Lock()
		for _, e := range s.entries[:s.placed] {
			list = append(list, telemetryEntry{s.name, e})
		}
		c.mu.Unlock()
	}
	return list, nil
}

// keepServices takes out the series of services that are not among the targets,
// unless there are no targets.
func keepServices(b *sample.Batch, targets []string) {
	if len(targets) == 0 {
		return
	}
	place := make([]int, len(b.Series))
	kept := 0
	for i := range b.Series {
		place[i] = -1
		if slices.Contains(targets, b.Series[i].Service) || slices.Contains(targets, b.Series[i].Source) {
			b.Series[kept] = b.Series[i]
			place[i] = kept
			kept++
		}
	}
	clear(b.Series[kept:])
	b.Series = b.Series[:kept]
	b.Points = slices.DeleteFunc(b.Points, func(p sample.Point) bool { return place[p.Series] < 0 })
	for i := range b.Points {
		b.Points[i].Series = uint32(place[b.Points[i].Series])
	}
}
