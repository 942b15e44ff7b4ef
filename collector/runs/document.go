package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Prefixes of the keys of journal documents.
const (
	docPrefix     = "runs/"
	verdictPrefix = "verdicts/"
)

// document is what is known of a run beside its rows. Anchor 0 is about the
// whole stream; other anchors are a moment of the run of a source that the
// document is about, so that late rows may move the run's bounds. A document
// is never changed once it is in the index: changes go to a copy.
type document struct {
	Stream string `json:"stream"`
	Anchor int64  `json:"anchor,omitempty"`
	Base   uint64 `json:"base,omitempty"` // changes that are not entries; part of the revision

	facts

	Seen        int64             `json:"seen,omitempty"` // wall time of the first arrival or declaration
	Declaration *wire.Declaration `json:"declaration,omitempty"`
	Marks       []wire.Mark       `json:"marks,omitempty"`
	Finish      *finish           `json:"finish,omitempty"`
	Summary     *Summary          `json:"summary,omitempty"`
	Gone        *gone             `json:"gone,omitempty"`
}

// facts are what batches say about their run or source.
type facts struct {
	Name      string `json:"name,omitempty"`
	Service   string `json:"service,omitempty"`
	Generator string `json:"generator,omitempty"`
	Source    string `json:"source,omitempty"`  // of rows
	Longest   int64  `json:"longest,omitempty"` // response time, up to the minute; 0 when too short to matter
}

// finish is a call that said no more data will come. It holds for as long as
// the counts are what they were.
type finish struct {
	At      int64 `json:"at"`
	Rowed   int   `json:"rowed"`
	Pointed int   `json:"pointed"`
}

// gone says that retention removed the rows.
type gone struct {
	At   int64       `json:"at"`
	Span sample.Span `json:"span"`
	Rows int64       `json:"rows"`
}

// Summary is the verdict of a run in short, kept so that lists need not judge
// again and so that it outlives the rows.
type Summary struct {
	Revision uint64 `json:"revision"` // revision of the run that was judged
	Outcome  string `json:"outcome"`
	Headline string `json:"headline"`
	Grade    string `json:"grade,omitempty"`
	// Verdict is the whole document; optional. It is read back by Verdict and
	// not held in memory.
	Verdict json.RawMessage `json:"-"`
}

// join merges what two batches said. It is commutative, so that names do not
// depend on the order of arrival.
func (f facts) join(o facts) facts {
	return facts{
		Name:      least(f.Name, o.Name),
		Service:   least(f.Service, o.Service),
		Generator: least(f.Generator, o.Generator),
		Source:    least(f.Source, o.Source),
		Longest:   max(f.Longest, o.Longest),
	}
}

func least(a, b string) string {
	if a == "" || b != "" && b < a {
		return b
	}
	return a
}

// rounded keeps a response time only where it lengthens the silence that
// finishes a run, and to the minute, so that it is seldom written.
func rounded(response int64) int64 {
	if response*3 <= silence {
		return 0
	}
	minute := int64(time.Minute)
	return (response + minute - 1) / minute * minute
}

// join merges two documents that late rows showed to be about the same run.
// The earlier one wins where only one can.
func (d document) join(o *document) document {
	d.Base += o.Base
	d.facts = d.facts.join(o.facts)
	if d.Seen == 0 || o.Seen != 0 && o.Seen < d.Seen {
		d.Seen = o.Seen
	}
	if d.Declaration == nil {
		d.Declaration = o.Declaration
	}
	if len(o.Marks) > 0 {
		d.Marks = sorted(append(slices.Clone(d.Marks), o.Marks...))
	}
	if d.Finish == nil || o.Finish != nil && o.Finish.At > d.Finish.At {
		d.Finish = o.Finish
	}
	if d.Summary == nil || o.Summary != nil && o.Summary.Revision > d.Summary.Revision {
		d.Summary = o.Summary
	}
	if d.Gone == nil {
		d.Gone = o.Gone
	}
	return d
}

// sorted puts marks in order of time, each once.
func sorted(marks []wire.Mark) []wire.Mark {
	slices.SortFunc(marks, func(a, b wire.Mark) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Name, b.Name))
	})
	return slices.CompactFunc(marks, func(a, b wire.Mark) bool { return a.At.Equal(b.At) && a.Name == b.Name })
}

// about reports whether the document is about a run, and not just facts.
func (d *document) about() bool {
	return d.Declaration != nil || d.Gone != nil
}

func (d *document) key() string {
	return docPrefix + strconv.FormatInt(d.Anchor, 10) + "/" + d.Stream
}

func (d *document) verdictKey() string {
	return verdictPrefix + strconv.FormatInt(d.Anchor, 10) + "/" + d.Stream
}

// put keeps a document and then shows it in the index. The caller holds s.doc.
func (c *Catalogue) put(ctx context.Context, s *stream, d *document) error {
	if err := c.write(ctx, d); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.setDocument(d)
	c.changed(s)
	return nil
}

// write keeps a document.
func (c *Catalogue) write(ctx context.Context, d *document) error {
	value, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("encode document of %q: %w", d.Stream, err)
	}
	if err := c.log.Put(ctx, d.key(), value); err != nil {
		return fmt.Errorf("keep document of %q: %w", d.Stream, err)
	}
	return nil
}

// forget removes documents from the journal and the index. The caller holds s.doc.
func (c *Catalogue) forget(ctx context.Context, s *stream, docs []*document) error {
	for _, d := range docs {
		for _, key := range []string{d.verdictKey(), d.key()} {
			if err := c.log.Put(ctx, key, nil); err != nil {
				return fmt.Errorf("remove document of %q: %w", s.name, err)
			}
		}
		c.mu.Lock()
		s.docs = slices.DeleteFunc(slices.Clone(s.docs), func(o *document) bool { return o.Anchor == d.Anchor })
		s.cached = nil
		c.mu.Unlock()
	}
	return nil
}
