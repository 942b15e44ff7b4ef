package runs

import (
	"cmp"
	"slices"
	"sort"
)

// sourceRuns divides the stream: in each stretch of entries, the stretches of
// rows are runs; where there are no rows, the points are one.
func (s *stream) sourceRuns() []*run {
	runs := make([]*run, 0, len(s.all))
	next := 0
	for _, piece := range s.all {
		first := next
		for next < len(s.rowed) && s.rowed[next].span.From <= piece.span.To {
			next++
		}
		for _, rows := range s.rowed[first:next] {
			r := &run{s: s, stretch: rows, piece: piece.span}
			if reach := around(rows.span); piece.span.From >= reach.From && piece.span.To <= reach.To { // all points are this run's
				r.arrived = max(r.arrived, piece.arrived)
			}
			runs = append(runs, r)
		}
		if first == next {
			runs = append(runs, &run{s: s, stretch: piece, piece: piece.span})
		}
	}
	s.countPoints(runs)
	return s.attach(runs)
}

// countPoints counts the entries of points within reach of each run with rows.
// Points between two runs may be within reach of both.
func (s *stream) countPoints(runs []*run) {
	for _, e := range s.entries {
		if e.rows > 0 {
			continue
		}
		i := sort.Search(len(runs), func(i int) bool { return runs[i].span.To+gap >= e.span.From })
		for ; i < len(runs) && runs[i].span.From-gap <= e.span.To; i++ {
			if runs[i].rowed > 0 {
				runs[i].pointed++
			}
		}
	}
}

// attach gives each run its documents. A document whose run has lost its rows
// to retention is a run by itself.
func (s *stream) attach(runs []*run) []*run {
	var whole document
	if d := s.document(0); d != nil {
		whole = *d
	}
	live := len(runs)
	for _, d := range s.docs {
		if d.Anchor == 0 {
			continue
		}
		if i := d.subject(runs[:live]); i >= 0 {
			if runs[i].about.Anchor == 0 {
				runs[i].about = *d
			} else {
				runs[i].about = runs[i].about.join(d)
			}
		} else if d.Gone != nil {
			runs = append(runs, &run{s: s, stretch: stretch{span: d.Gone.Span}, about: *d})
		}
	}
	for _, r := range runs {
		r.about.facts = whole.facts
		r.about.Base += whole.Base
		r.id = sourceRunID(s.slug, r.span.From)
	}
	slices.SortStableFunc(runs, func(a, b *run) int { return cmp.Compare(a.span.From, b.span.From) })
	return runs
}

// subject returns the index of the run that the document of a source is about,
// or -1.
func (d *document) subject(runs []*run) int {
	if d.Gone != nil { // only rows of that same run bring it back
		return slices.IndexFunc(runs, func(r *run) bool { return overlap(around(r.span), d.Gone.Span) })
	}
	return nearest(runs, d.Anchor, d.Anchor)
}

// nearest returns the index of the run that a moment within [from, to] belongs to:
// the run that holds it, else the nearest one that it could have been part of
// when less was known. It returns -1 when there is none.
func nearest(runs []*run, from, to int64) int {
	best, distance := -1, gap+1
	for i, r := range runs {
		d := max(r.span.From-to, from-r.span.To, 0)
		if d > gap && r.piece.From <= to && from <= r.piece.To {
			d = gap // same stretch of points: the run has moved
		}
		if d < distance {
			best, distance = i, d
		}
	}
	return best
}
