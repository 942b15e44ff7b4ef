package runs

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

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
	c.claim(b)
	name := streamName(b)
	l.window = c.window(name)
	seen := screen(b, l, refused)
	if b.Empty() {
		return
	}
	if b.RunID == sample.Telemetry {
		if n := b.Len(); n > 0 {
			refused.count[badID] += int64(n)
			refused.text = "rows of requests belong to no run"
		}
		if len(b.Points) == 0 {
			return
		}
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
		f.Source = least(f.Source, tidy(b.Groups[i].Source))
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
