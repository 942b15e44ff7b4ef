package runs

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/journal"
)

// Retained says what retention removed.
type Retained struct {
	Runs      int   // whose rows went
	Rows      int64 //
	Telemetry int   // batches of server metrics
	Forgotten int   // runs without rows that left the list, to make room
}

// entryWeight is what a batch takes beside its rows, in rows.
const entryWeight = 64

// Retain removes the rows of finished runs, the oldest first: those without
// data for longer than maxAge, and as many as it takes to fit maxBytes; 0 is no
// limit. A live run is never touched. What is left of a run is its line in the
// list, its declaration and its saved verdict. Server metrics go by age, and
// when they are older than every run that has rows.
func (c *Catalogue) Retain(ctx context.Context, maxAge time.Duration, maxBytes int64) (Retained, error) {
	c.retaining.Lock()
	defer c.retaining.Unlock()
	var done Retained
	now := c.now().UnixNano()
	oldest := int64(0)
	if maxAge > 0 {
		oldest = now - int64(maxAge)
		if err := c.removeTelemetry(ctx, oldest, &done); err != nil {
			return done, err
		}
	}
	over, perWeight := c.excess(maxBytes)
	for _, r := range c.evictable(now) {
		if r.age() >= oldest && over <= 0 {
			break
		}
		evicted, err := c.evict(ctx, r, now)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return done, err
		}
		if evicted {
			freed := int64(float64(r.weight()) * perWeight)
			over -= freed
			c.owed += freed
			done.Runs++
			done.Rows += r.rows
			c.logger.Info("rows of run removed by retention", "run", r.id, "rows", r.rows)
		}
	}
	if done.Runs > 0 {
		if first, any := c.firstRow(); any {
			if err := c.removeTelemetry(ctx, first-int64(Gap), &done); err != nil {
				return done, err
			}
		}
	}
	return done, c.makeRoom(ctx, now, &done)
}

// age is when something was last heard of the run.
func (r *run) age() int64 { return max(r.arrived, r.about.Seen) }

// weight estimates the room that the run takes, in rows.
func (r *run) weight() int64 { return r.rows + entryWeight*int64(r.rowed+r.pointed) }

// excess estimates the bytes beyond the limit and the bytes that a row takes.
// An engine gives room back some time after rows are deleted; until then that
// room must not make more rows go.
func (c *Catalogue) excess(maxBytes int64) (over int64, perWeight float64) {
	size := c.log.Size()
	c.owed = max(0, c.owed-max(0, c.lastSize-size))
	c.owed -= c.owed / 8 // room that new data took at once cannot be seen; do not wait for it forever
	c.lastSize = size
	if maxBytes <= 0 {
		return 0, 0
	}
	size -= c.owed
	var weight int64
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, set := range []map[string]*stream{c.streams, c.telemetry} {
		for _, s := range set {
			weight += entryWeight * int64(len(s.entries))
			for i := range s.entries {
				weight += int64(s.entries[i].rows)
			}
		}
	}
	return size - maxBytes, float64(max(size, 0)) / float64(max(weight, 1))
}

// evictable lists the finished runs that have rows, oldest first.
func (c *Catalogue) evictable(now int64) []*run {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []*run
	for _, s := range c.streams {
		for _, r := range s.runs() {
			if r.hasData() && r.finished(now) {
				list = append(list, r)
			}
		}
	}
	slices.SortFunc(list, func(a, b *run) int {
		return cmp.Or(cmp.Compare(a.age(), b.age()), cmp.Compare(a.id, b.id))
	})
	return list
}

// evict removes the rows of a run, unless it has become live again.
func (c *Catalogue) evict(ctx context.Context, r *run, now int64) (bool, error) {
	s := c.hold(r.s.name)
	defer c.release(s)
	s.gate.Lock()
	defer s.gate.Unlock()
	if err := c.place(ctx, s); err != nil {
		return false, err
	}
	s.doc.Lock()
	defer s.doc.Unlock()
	r, err := c.again(s, r.id)
	if err != nil || !r.hasData() || !r.finished(now) {
		return false, err
	}
	d := c.own(r)
	others := slices.DeleteFunc(slices.Clone(c.documentsOf(r)), func(o *document) bool { return o.Anchor == d.Anchor })
	for _, o := range others { // without rows, nothing shows that they are about one run
		d = d.join(o)
	}
	d.Base += uint64(r.rowed) + uint64(r.pointed) + 1
	g := gone{At: now, Span: r.span, Rows: r.rows}
	if before := r.about.Gone; before != nil {
		g.Span, g.Rows = g.Span.Union(before.Span), g.Rows+before.Rows
	}
	d.Gone = &g
	if err := c.write(ctx, &d); err != nil {
		return false, err
	}
	if err := c.removeRows(ctx, r, &d); err != nil {
		return false, err
	}
	return true, c.forget(ctx, s, others)
}

// removeTelemetry deletes server metrics from before a time.
func (c *Catalogue) removeTelemetry(ctx context.Context, before int64, done *Retained) error {
	c.mu.Lock()
	var names []string
	for name, s := range c.telemetry {
		if len(s.all) > 0 && s.all[0].span.From < before {
			names = append(names, name)
		}
	}
	c.mu.Unlock()
	for _, name := range names {
		n, err := c.removeBefore(ctx, name, before)
		if err != nil {
			return err
		}
		done.Telemetry += n
	}
	return nil
}

func (c *Catalogue) removeBefore(ctx context.Context, name string, before int64) (int, error) {
	s := c.hold(name)
	defer c.release(s)
	s.gate.Lock()
	defer s.gate.Unlock()
	if err := c.place(ctx, s); err != nil {
		return 0, err
	}
	var list []journal.Position
	removed := map[journal.Position]bool{}
	c.mu.Lock()
	for i := range s.entries {
		if e := &s.entries[i]; e.span.To < before {
			list = append(list, e.at)
			removed[e.at] = true
		}
	}
	c.mu.Unlock()
	if len(list) == 0 {
		return 0, nil
	}
	if err := c.log.Delete(ctx, name, list); err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.remove(removed)
	return len(list), nil
}

// firstRow returns the earliest time of any run that has rows.
func (c *Catalogue) firstRow() (first int64, any bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all sample.Span
	for _, s := range c.streams {
		for i := range s.all {
			all = all.Union(s.all[i].span)
		}
	}
	return all.From, !all.IsZero()
}

// makeRoom takes the oldest runs without rows out of the list while it is
// nearly full, so that new runs need not be refused.
func (c *Catalogue) makeRoom(ctx context.Context, now int64, done *Retained) error {
	c.mu.Lock()
	excess := c.total - c.cfg.MaxRuns*9/10
	var list []*run
	if excess > 0 {
		for _, s := range c.streams {
			for _, r := range s.runs() {
				if !r.hasData() && r.finished(now) {
					list = append(list, r)
				}
			}
		}
	}
	c.mu.Unlock()
	slices.SortFunc(list, func(a, b *run) int { return newestFirst(b, a) })
	for _, r := range list[:min(max(excess, 0), len(list))] {
		switch err := c.Delete(ctx, r.id); {
		case errors.Is(err, ErrNotFound):
		case err != nil:
			return err
		default:
			done.Forgotten++
		}
	}
	return nil
}
