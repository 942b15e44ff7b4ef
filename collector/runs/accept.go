package runs

import (
	"context"
	"fmt"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/batch"
	"github.com/plimsoll/plimsoll/collector/journal"
)

// part is what one batch adds to one stream: rows or points.
type part struct {
	s     *stream
	b     *sample.Batch
	span  sample.Span
	facts facts
}

// workspace is the memory of one Accept, reused.
type workspace struct {
	parts   []part
	streams []*stream // of the parts, each once, in order of name
	buf     []byte
	ends    []int
	records []journal.Record
}

func (w *workspace) reset() {
	clear(w.parts)
	clear(w.streams)
	clear(w.records)
	w.parts, w.streams, w.records = w.parts[:0], w.streams[:0], w.records[:0]
	w.buf, w.ends = w.buf[:0], w.ends[:0]
}

// maxPooledBytes bounds the encoding buffers that are kept for reuse.
const maxPooledBytes = 4 << 20

// Accept keeps the batches of one request: all that is not refused, or nothing.
// When it returns without an error they are durable. Rows that are too old or
// too far ahead, and batches with an unusable run id, are refused and counted
// in the receipt. Batches may be changed; they are not used after Accept.
func (c *Catalogue) Accept(ctx context.Context, id journal.ID, batches []*sample.Batch) (journal.Receipt, error) {
	return c.accept(ctx, id, batches, true)
}

// Import is Accept without the rules on age, for files of earlier runs.
func (c *Catalogue) Import(ctx context.Context, id journal.ID, batches []*sample.Batch) (journal.Receipt, error) {
	return c.accept(ctx, id, batches, false)
}

func (c *Catalogue) accept(ctx context.Context, id journal.ID, batches []*sample.Batch, aged bool) (journal.Receipt, error) {
	w := c.workspaces.Get().(*workspace)
	defer func() {
		if cap(w.buf) <= maxPooledBytes {
			w.reset()
			c.workspaces.Put(w)
		}
	}()
	now := c.now().UnixNano()
	var refused refusals
	for _, b := range batches {
		c.plan(w, b, c.limitsAt(now, aged), &refused)
	}
	c.collect(w)
	defer func() {
		for _, s := range w.streams {
			c.release(s)
		}
	}()
	receipt := journal.Receipt{Rejected: refused.total()}
	if receipt.Rejected > 0 {
		receipt.Message = refused.message(c.cfg)
		refused.addTo(&c.refused)
	}
	if len(w.parts) == 0 {
		return receipt, nil
	}
	w.encode()
	var err error
	receipt.Duplicate, err = c.commit(ctx, id, w, now)
	return receipt, err
}

// encode writes all parts into one buffer and makes the records.
func (w *workspace) encode() {
	for i := range w.parts {
		w.buf = batch.Append(w.buf, w.parts[i].b)
		w.ends = append(w.ends, len(w.buf))
	}
	start := 0
	for i := range w.parts {
		p := &w.parts[i]
		w.records = append(w.records, journal.Record{
			Stream: p.s.name,
			Meta:   journal.Meta{Span: p.span, Rows: uint32(p.b.Len())},
			Data:   w.buf[start:w.ends[i]:w.ends[i]],
		})
		start = w.ends[i]
	}
}

// commit makes the records durable and then shows them in the index.
func (c *Catalogue) commit(ctx context.Context, id journal.ID, w *workspace, now int64) (duplicate bool, err error) {
	if duplicate, err = c.keep(ctx, id, w, now); err == nil {
		return duplicate, nil
	}
	// What was given up may be durable all the same, and will be a duplicate
	// when it is tried again: the index must have it by then.
	for _, s := range w.streams {
		if err := c.adopt(context.WithoutCancel(ctx), s); err != nil {
			c.logger.Warn("journal cannot be listed after a failed append", "stream", s.name, "error", err)
		}
	}
	return false, err
}

func (c *Catalogue) keep(ctx context.Context, id journal.ID, w *workspace, now int64) (duplicate bool, err error) {
	for _, s := range w.streams {
		s.gate.RLock()
	}
	defer func() {
		for _, s := range w.streams {
			s.gate.RUnlock()
		}
	}()
	for i := range w.parts {
		if err := c.note(ctx, w.parts[i].s, w.parts[i].facts, now); err != nil {
			return false, err
		}
	}
	duplicate, err = c.log.Append(ctx, id, w.records)
	if err != nil {
		return false, fmt.Errorf("append to journal: %w", err)
	}
	if duplicate {
		return true, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range w.parts {
		p := &w.parts[i]
		p.s.add(entry{span: p.span, rows: uint32(p.b.Len())}, now)
	}
	for _, s := range w.streams {
		c.changed(s)
	}
	return false, nil
}
