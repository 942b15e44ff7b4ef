package runs

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/journal"
)

// entry is a kept batch. It carries either rows or points, never both, so Rows
// tells which.
type entry struct {
	at   journal.Position // known for the first stream.placed entries only
	span sample.Span
	rows uint32
}

// stream is what the index knows of one stream of the journal. Fields below the
// locks are guarded by Catalogue.mu.
type stream struct {
	name     string
	explicit bool   // named by id, never splits
	slug     string // of a source

	gate sync.RWMutex // shared while appending; exclusive to list positions or delete
	doc  sync.Mutex   // held while changing a document; taken after gate

	users   int // calls that hold the stream; it is not dropped while there are any
	entries []entry
	placed  int       // the first entries, whose positions are known; never changed in place
	rowed   stretches // of entries with rows
	all     stretches // of all entries
	docs    []*document
	cached  []*run // valid when not nil
	counted int    // runs, as counted in Catalogue.total
}

func newStream(name string) *stream {
	s := &stream{name: name, explicit: strings.HasPrefix(name, runPrefix)}
	if !s.explicit {
		s.slug = slug(strings.TrimPrefix(name, sourcePrefix))
	}
	return s
}

// add accounts for an entry.
func (s *stream) add(e entry, arrived int64) {
	s.entries = append(s.entries, e)
	s.account(e, arrived)
}

func (s *stream) account(e entry, arrived int64) {
	x := stretch{span: e.span, rows: int64(e.rows), arrived: max(arrived, e.span.To)}
	if e.rows > 0 {
		x.rowed = 1
		s.rowed = s.include(s.rowed, x)
	} else {
		x.pointed = 1
	}
	s.all = s.include(s.all, x)
	s.cached = nil
}

// include adds x to t; all of an explicit run is one stretch.
func (s *stream) include(t stretches, x stretch) stretches {
	switch {
	case !s.explicit:
		return t.add(x)
	case len(t) == 0:
		return append(t, x)
	}
	t[0] = t[0].merge(x)
	return t
}

// remove takes entries out, by position, and accounts for the rest anew.
func (s *stream) remove(gone map[journal.Position]bool) {
	kept := make([]entry, 0, len(s.entries))
	for i, e := range s.entries {
		if i >= s.placed || !gone[e.at] {
			kept = append(kept, e)
		}
	}
	s.placed -= len(s.entries) - len(kept)
	s.replace(kept)
}

// replace accounts for another list of entries, keeping times of arrival.
func (s *stream) replace(entries []entry) {
	rowed, all := s.rowed, s.all
	s.entries, s.rowed, s.all, s.cached = entries, nil, nil, nil
	for _, e := range entries {
		was := all
		if e.rows > 0 {
			was = rowed
		}
		arrived := e.span.To
		if i := was.at(e.span.From); i >= 0 {
			arrived = was[i].arrived
		}
		s.account(e, arrived)
	}
}

// setDocument puts d in the place of the document with its anchor.
func (s *stream) setDocument(d *document) {
	i, found := slices.BinarySearchFunc(s.docs, d.Anchor, func(o *document, at int64) int {
		return cmp.Compare(o.Anchor, at)
	})
	docs := slices.Clone(s.docs)
	if found {
		docs[i] = d
	} else {
		docs = slices.Insert(docs, i, d)
	}
	s.docs, s.cached = docs, nil
}

// document returns the document with the anchor, or nil.
func (s *stream) document(anchor int64) *document {
	for _, d := range s.docs {
		if d.Anchor == anchor {
			return d
		}
	}
	return nil
}

// empty reports whether the stream can be dropped from the index.
func (s *stream) empty() bool {
	return len(s.entries) == 0 && !slices.ContainsFunc(s.docs, (*document).about)
}

// runs lists the runs of the stream in order of time.
func (s *stream) runs() []*run {
	if s.cached == nil {
		if s.explicit {
			s.cached = s.explicitRun()
		} else {
			s.cached = s.sourceRuns()
		}
	}
	return s.cached
}

func (s *stream) explicitRun() []*run {
	if s.empty() {
		return []*run{}
	}
	r := &run{s: s, id: strings.TrimPrefix(s.name, runPrefix)}
	if len(s.all) > 0 {
		r.stretch = s.all[0]
	}
	if len(s.rowed) > 0 { // the rows say when it was, where there are any
		r.span = s.rowed[0].span
	}
	if d := s.document(0); d != nil {
		r.about = *d
	}
	return []*run{r}
}

// count returns how many runs the stream holds, without listing them.
func (s *stream) count() int {
	if s.explicit {
		if s.empty() {
			return 0
		}
		return 1
	}
	n, next := 0, 0
	for _, piece := range s.all {
		first := next
		for next < len(s.rowed) && s.rowed[next].span.From <= piece.span.To {
			next++
		}
		n += max(next-first, 1)
	}
	for _, d := range s.docs {
		if d.Gone != nil && d.Anchor != 0 {
			n++
		}
	}
	return n
}

// holds reports whether an entry is evidence of the run.
func (r *run) holds(e *entry) bool {
	switch {
	case r.s.explicit:
		return true
	case r.rowed == 0:
		return r.pointed > 0 && overlap(e.span, r.piece)
	case e.rows > 0:
		return overlap(e.span, r.span)
	}
	return overlap(e.span, around(r.span))
}

// owned lists the positions of entries that go when the run goes: its evidence,
// but for points that another run needs, and points around it that only it kept
// from being a run by themselves. All positions must be known.
func (r *run) owned() []journal.Position {
	var others []sample.Span
	for _, o := range r.s.runs() {
		if o.rowed > 0 && o.span != r.span {
			others = append(others, around(o.span))
		}
	}
	var list []journal.Position
	for i := range r.s.entries {
		e := &r.s.entries[i]
		switch {
		case r.holds(e) && e.rows > 0, r.s.explicit:
		case !overlap(e.span, r.piece) || e.rows > 0:
			continue
		case slices.ContainsFunc(others, func(o sample.Span) bool { return overlap(o, e.span) }):
			continue
		}
		list = append(list, e.at)
	}
	return list
}
