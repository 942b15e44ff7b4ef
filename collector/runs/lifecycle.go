package runs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/collector/journal"
)

// find looks a run up and holds its stream.
func (c *Catalogue) find(ref string) (*run, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.lookup(ref)
	if r == nil {
		return nil, notFound(ref)
	}
	r.s.users++
	return r, nil
}

// again looks up, in the stream that is held, the run that id means by now.
func (c *Catalogue) again(s *stream, id string) (*run, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.lookup(id); r != nil && r.s == s {
		return r, nil
	}
	return nil, notFound(id)
}

// own returns a copy of the document of the run to write changes to.
func (c *Catalogue) own(r *run) document {
	c.mu.Lock()
	defer c.mu.Unlock()
	anchor := int64(0)
	if !r.s.explicit {
		if anchor = r.about.Anchor; anchor == 0 {
			anchor = r.span.From
		}
	}
	if d := r.s.document(anchor); d != nil {
		return *d
	}
	return document{Stream: r.s.name, Anchor: anchor}
}

// amend changes the document of a run. The change says whether anything changed.
func (c *Catalogue) amend(ctx context.Context, ref string, change func(*run, *document) (bool, error)) (Info, error) {
	r, err := c.find(ref)
	if err != nil {
		return Info{}, err
	}
	s, id := r.s, r.id
	defer c.release(s)
	s.doc.Lock()
	defer s.doc.Unlock()
	if r, err = c.again(s, id); err != nil {
		return Info{}, err
	}
	d := c.own(r)
	changed, err := change(r, &d)
	if err != nil {
		return Info{}, err
	}
	if changed {
		if err := c.put(ctx, s, &d); err != nil {
			return Info{}, err
		}
	}
	if r, err = c.again(s, id); err != nil {
		return Info{}, err
	}
	return r.info(c.now().UnixNano()), nil
}

// Finish says that no more data will come. Rows that come all the same reopen
// the run; points do so only where there are no rows.
func (c *Catalogue) Finish(ctx context.Context, ref string) (Info, error) {
	now := c.now().UnixNano()
	return c.amend(ctx, ref, func(r *run, d *document) (bool, error) {
		if r.finished(now) {
			return false, nil
		}
		d.Finish = &finish{At: now, Rowed: r.rowed, Pointed: r.pointed}
		d.Base++
		return true, nil
	})
}

// Mark adds an event that readers should see. A mark without a time is now; the
// same mark twice is one.
func (c *Catalogue) Mark(ctx context.Context, ref string, m wire.Mark) (Info, error) {
	var problems []string
	switch {
	case strings.TrimSpace(m.Name) == "":
		problems = append(problems, "mark has no name")
	case len(m.Name) > maxNameBytes || !printable(m.Name):
		problems = append(problems, fmt.Sprintf("name of the mark is longer than %d bytes or has control characters", maxNameBytes))
	}
	if m.At.IsZero() {
		m.At = c.now()
	}
	m.At = m.At.Round(0).UTC()
	if y := m.At.Year(); y < 1970 || y >= 2200 {
		problems = append(problems, "time of the mark is not plausible")
	}
	if len(problems) > 0 {
		return Info{}, &InvalidError{problems}
	}
	return c.amend(ctx, ref, func(r *run, d *document) (bool, error) {
		if slices.ContainsFunc(r.about.Marks, func(o wire.Mark) bool { return o.At.Equal(m.At) && o.Name == m.Name }) {
			return false, nil
		}
		if len(r.about.Marks) >= c.cfg.MaxMarks {
			return false, fmt.Errorf("mark run %q: %w: it has %d marks", r.id, ErrTooMany, len(r.about.Marks))
		}
		d.Marks = sorted(append(slices.Clone(d.Marks), m))
		d.Base++
		return true, nil
	})
}

// SaveSummary keeps the verdict of a run in short. It is not a change of the
// evidence, so the revision stays. A summary of an earlier revision than the
// one kept is passed over. Each call is a durable write: meant for finished
// runs, not for every look at a live one.
func (c *Catalogue) SaveSummary(ctx context.Context, ref string, sum Summary) error {
	_, err := c.amend(ctx, ref, func(r *run, d *document) (bool, error) {
		if kept := r.about.Summary; kept != nil && kept.Revision > sum.Revision {
			return false, nil
		}
		if len(sum.Verdict) > 0 {
			if err := c.log.Put(ctx, d.verdictKey(), sum.Verdict); err != nil {
				return false, fmt.Errorf("keep verdict of %q: %w", r.id, err)
			}
		}
		d.Summary = &sum
		return true, nil
	})
	return err
}

// Verdict returns the whole verdict that SaveSummary kept last, or ErrNotFound.
// It stays when retention removes the rows.
func (c *Catalogue) Verdict(ctx context.Context, ref string) ([]byte, error) {
	r, err := c.find(ref)
	if err != nil {
		return nil, err
	}
	defer c.release(r.s)
	d := c.own(r)
	value, err := c.log.Get(ctx, d.verdictKey())
	switch {
	case errors.Is(err, journal.ErrNotFound):
		return nil, fmt.Errorf("find verdict of %q: %w", ref, ErrNotFound)
	case err != nil:
		return nil, fmt.Errorf("read verdict of %q: %w", ref, err)
	}
	return slices.Clone(value), nil
}

// Delete removes a run: rows, points, declaration, marks and summary. Data that
// come later under the same id are a new run.
func (c *Catalogue) Delete(ctx context.Context, ref string) error {
	r, err := c.find(ref)
	if err != nil {
		return err
	}
	s, id := r.s, r.id
	defer c.release(s)
	s.gate.Lock()
	defer s.gate.Unlock()
	if err := c.place(ctx, s); err != nil {
		return err
	}
	s.doc.Lock()
	defer s.doc.Unlock()
	if r, err = c.again(s, id); err != nil {
		return err
	}
	docs := c.documentsOf(r)
	if err := c.removeRows(ctx, r, nil); err != nil {
		return err
	}
	if err := c.forget(ctx, s, docs); err != nil {
		return err
	}
	if err := c.outgrow(ctx, r); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed(s)
	c.logger.Info("run deleted", "run", id, "rows", r.rows)
	return nil
}

// documentsOf lists the documents that are about the run alone.
func (c *Catalogue) documentsOf(r *run) []*document {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.s.explicit {
		return r.s.docs
	}
	runs := slices.DeleteFunc(slices.Clone(r.s.runs()), func(o *run) bool { return !o.hasData() })
	var docs []*document
	for _, d := range r.s.docs {
		if d.Anchor == 0 {
			continue
		}
		if i := d.subject(runs); d.Anchor == r.about.Anchor || i >= 0 && runs[i] == r {
			docs = append(docs, d)
		}
	}
	return docs
}

// removeRows deletes what only this run keeps, and shows d, unless it is nil, in
// the place of what it replaces. The caller holds s.gate exclusively and s.doc,
// and all positions are known.
func (c *Catalogue) removeRows(ctx context.Context, r *run, d *document) error {
	c.mu.Lock()
	positions := r.owned()
	c.mu.Unlock()
	if len(positions) > 0 {
		if err := c.log.Delete(ctx, r.s.name, positions); err != nil {
			return fmt.Errorf("delete rows of %q: %w", r.id, err)
		}
	}
	removed := make(map[journal.Position]bool, len(positions))
	for _, p := range positions {
		removed[p] = true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r.s.remove(removed)
	if d != nil {
		r.s.setDocument(d)
	}
	c.changed(r.s)
	return nil
}

// outgrow sees to it that a new run in the place of a deleted one has a higher
// revision than that ever had, so that no one takes an old answer for a new one.
func (c *Catalogue) outgrow(ctx context.Context, r *run) error {
	s := r.s
	c.mu.Lock()
	changes := uint64(r.rowed) + uint64(r.pointed) + r.about.Base + 1
	c.floor = max(c.floor, changes)
	whole := s.document(0)
	idle := len(s.entries) == 0 && len(s.docs) == 1 // with facts alone
	c.mu.Unlock()
	switch {
	case s.explicit || whole == nil:
		return nil
	case idle:
		return c.forget(ctx, s, []*document{whole})
	}
	d := *whole
	d.Base += changes
	return c.put(ctx, s, &d)
}
