package runs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

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

// plan screens a batch, names its stream and adds its parts to the workspace.
func (c *Catalogue) plan(w *workspace, b *sample.Batch, l limits, refused *refusals) {
	size := int64(b.Len() + len(b.Points))
	if size == 0 {
		return
	}
	if b.RunID != "" && b.RunID != sample.Telemetry {
		if problem := checkID(b.RunID); problem != "" {
			refused.count[badID] += size
			refused.text = problem
			return
		}
	}
	name := streamName(b)
	l.window = c.window(name)
	seen := screen(b, l, refused)
	if b.Empty() {
		return
	}
	if b.RunID == sample.Telemetry {
		// Rows do not occur here; were there any, they would belong to no run.
		splitPoints(pointsOf(b), seen.points, func(b *sample.Batch, span sample.Span) {
			c.addPart(w, telemetryStream(span), part{b: b, span: span}, refused)
		})
		return
	}
	f := factsOf(b)
	f.Longest = rounded(seen.longest)
	add := func(b *sample.Batch, span sample.Span) {
		c.addPart(w, name, part{b: b, span: span, facts: f}, refused)
	}
	if b.Len() > 0 {
		splitRows(rowsOf(b), seen.rows, add)
	}
	if len(b.Points) > 0 {
		splitPoints(pointsOf(b), seen.points, add)
	}
}

// addPart holds the stream of a part, unless that would pass a bound.
func (c *Catalogue) addPart(w *workspace, name string, p part, refused *refusals) {
	c.mu.Lock()
	defer c.mu.Unlock()
	size := int64(p.b.Len() + len(p.b.Points))
	if !isTelemetry(name) {
		known := c.streams[name]
		switch {
		case known == nil && name[0] == sourcePrefix[0] && c.sources >= c.cfg.MaxSources:
			refused.count[tooManySources] += size
			return
		case c.total >= c.cfg.MaxRuns && (known == nil || !known.covers(p.span)):
			refused.count[tooManyRuns] += size
			return
		}
	}
	p.s = c.stream(name)
	p.s.users++
	w.parts = append(w.parts, p)
}

// covers reports whether an entry would belong to a run that exists.
func (s *stream) covers(span sample.Span) bool {
	if s.explicit {
		return !s.empty()
	}
	return s.all.near(span)
}

// collect lists the streams of the parts, each once and held once, in an order
// that all calls share, so that they can be locked one after another.
func (c *Catalogue) collect(w *workspace) {
	for i := range w.parts {
		w.streams = append(w.streams, w.parts[i].s)
	}
	slices.SortFunc(w.streams, func(a, b *stream) int { return cmp.Compare(a.name, b.name) })
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := w.streams[:0]
	for i, s := range w.streams {
		if i > 0 && s == kept[len(kept)-1] {
			s.users--
			continue
		}
		kept = append(kept, s)
	}
	w.streams = kept
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

// note keeps what a batch says of its run or source, if it says anything new.
func (c *Catalogue) note(ctx context.Context, s *stream, f facts, now int64) error {
	if isTelemetry(s.name) {
		return nil
	}
	news := func() (document, bool) {
		c.mu.Lock()
		defer c.mu.Unlock()
		d := s.document(0)
		if d == nil {
			return document{Stream: s.name, Base: c.floor, Seen: now, facts: f}, true
		}
		next := *d
		next.facts = next.facts.join(f)
		return next, next.facts != d.facts
	}
	if _, any := news(); !any {
		return nil
	}
	s.doc.Lock()
	defer s.doc.Unlock()
	if d, any := news(); any {
		return c.put(ctx, s, &d)
	}
	return nil
}

// factsOf reads what a batch says of its run or source.
func factsOf(b *sample.Batch) facts {
	f := facts{Name: b.RunName}
	for i := range b.Groups {
		f.Generator = least(f.Generator, b.Groups[i].Generator)
	}
	for i := range b.Series {
		f.Service = least(f.Service, b.Series[i].Service)
	}
	f.Name, f.Generator, f.Service = tidy(f.Name), tidy(f.Generator), tidy(f.Service)
	return f
}

// streamName says where a batch is kept. Telemetry is divided further by time.
func streamName(b *sample.Batch) string {
	switch {
	case b.RunID == sample.Telemetry:
		return telemetryPrefix
	case b.RunID != "":
		return runPrefix + b.RunID
	case len(b.Groups) > 0 && b.Groups[0].Source != "":
		return sourceStream(b.Groups[0].Source)
	case len(b.Series) > 0 && b.Series[0].Source != "":
		return sourceStream(b.Series[0].Source)
	}
	return sourcePrefix + "unknown"
}

// telemetryStream names the stream of an hour of telemetry, so that a look at a
// live run need not list all of it.
func telemetryStream(span sample.Span) string {
	return telemetryPrefix + strconv.FormatInt(span.From/int64(time.Hour), 10)
}

// window is the stretch of time in which a declared run takes rows of any age.
func (c *Catalogue) window(name string) sample.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.streams[name]
	if s == nil {
		return sample.Span{}
	}
	var all sample.Span
	for _, d := range s.docs {
		if d.Declaration == nil {
			continue
		}
		length := scheduleLength(d.Declaration) + int64(Grace)
		switch start := d.Declaration.Start; {
		case start != nil:
			all = all.Union(sample.Span{From: start.UnixNano(), To: start.UnixNano() + length})
		case len(s.all) == 0: // it begins with the first row
			return sample.Span{From: 1, To: plausible}
		default:
			first := s.all[0].span.From
			if d.Anchor != 0 {
				first = d.Anchor
			}
			all = all.Union(sample.Span{From: first - int64(Grace), To: first + length})
		}
	}
	return all
}
