package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/journal"
)

// Catalogue is the index of the runs in a journal. All methods may be called
// concurrently.
type Catalogue struct {
	log    journal.Log
	cfg    Config
	now    func() time.Time
	logger *slog.Logger

	workspaces sync.Pool // of *workspace
	batches    sync.Pool // of *sample.Batch
	refused    [reasons]atomic.Int64

	declaring sync.Mutex // one Declare at a time
	retaining sync.Mutex // one Retain at a time
	owed      int64      // bytes of deleted rows that the journal has not given back; guarded by retaining
	lastSize  int64      // size of the journal at the last Retain; guarded by retaining

	mu        sync.Mutex // guards what follows, and the fields of streams that say so
	streams   map[string]*stream
	slugs     map[string][]*stream
	telemetry map[string]*stream // by hour of event time
	watchers  map[string]map[*watcher]struct{}
	total     int    // runs
	sources   int    // source streams
	floor     uint64 // no deleted run had more changes than this
}

// New rebuilds the index of what the log holds.
func New(log journal.Log, cfg Config, now func() time.Time, logger *slog.Logger) (*Catalogue, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("configure runs: %w", err)
	}
	c := &Catalogue{
		log: log, cfg: cfg, now: now, logger: logger,
		streams: map[string]*stream{}, slugs: map[string][]*stream{}, telemetry: map[string]*stream{},
		watchers: map[string]map[*watcher]struct{}{},
	}
	c.workspaces.New = func() any { return new(workspace) }
	c.batches.New = func() any { return new(sample.Batch) }
	if err := c.load(context.Background()); err != nil {
		return nil, fmt.Errorf("index runs: %w", err)
	}
	return c, nil
}

func (c *Catalogue) load(ctx context.Context) error {
	if err := c.loadDocuments(ctx); err != nil {
		return err
	}
	var names []string
	if err := c.log.Streams(ctx, func(name string) error {
		names = append(names, name)
		return nil
	}); err != nil {
		return fmt.Errorf("list streams: %w", err)
	}
	for _, name := range names {
		if !known(name) {
			c.logger.Warn("journal has a stream of unknown kind", "stream", name)
			continue
		}
		s := c.stream(name)
		if err := c.log.Metas(ctx, name, 0, func(p journal.Position, m journal.Meta) error {
			s.add(entry{at: p, span: m.Span, rows: m.Rows}, 0)
			return nil
		}); err != nil {
			return fmt.Errorf("list entries of %q: %w", name, err)
		}
		s.placed = len(s.entries)
		c.changed(s)
	}
	for _, s := range c.streams {
		c.drop(s) // those with nothing but facts
	}
	return nil
}

func (c *Catalogue) loadDocuments(ctx context.Context) error {
	err := c.log.Documents(ctx, docPrefix, func(key string, value []byte) error {
		d := new(document)
		if err := json.Unmarshal(value, d); err != nil || d.key() != key || !known(d.Stream) {
			c.logger.Error("document of a run cannot be read and is passed over", "key", key, "error", err)
			return nil
		}
		s := c.stream(d.Stream)
		s.setDocument(d)
		c.changed(s)
		return nil
	})
	if err != nil {
		return fmt.Errorf("list documents: %w", err)
	}
	return nil
}

func known(stream string) bool {
	return strings.HasPrefix(stream, runPrefix) || strings.HasPrefix(stream, sourcePrefix) || isTelemetry(stream)
}

func isTelemetry(stream string) bool { return strings.HasPrefix(stream, telemetryPrefix) }

// stream returns the stream with the name, making it when it is new. The caller
// holds mu, and drops the stream again if it stays empty.
func (c *Catalogue) stream(name string) *stream {
	set := c.streams
	if isTelemetry(name) {
		set = c.telemetry
	}
	s := set[name]
	if s == nil {
		s = newStream(name)
		set[name] = s
		if strings.HasPrefix(name, sourcePrefix) {
			c.slugs[s.slug] = append(c.slugs[s.slug], s)
			c.sources++
		}
	}
	return s
}

// hold returns the stream with the name for use outside of mu.
func (c *Catalogue) hold(name string) *stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stream(name)
	s.users++
	return s
}

// release ends the use of a stream.
func (c *Catalogue) release(s *stream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.users--
	c.drop(s)
}

// drop takes a stream out of the index if nothing is kept of it and no call
// uses it. The caller holds mu.
func (c *Catalogue) drop(s *stream) {
	if s.users > 0 || !s.empty() {
		return
	}
	if isTelemetry(s.name) {
		delete(c.telemetry, s.name)
		return
	}
	delete(c.streams, s.name)
	if same := c.slugs[s.slug]; slices.Contains(same, s) {
		c.sources--
		if same = slices.DeleteFunc(same, func(o *stream) bool { return o == s }); len(same) > 0 {
			c.slugs[s.slug] = same
		} else {
			delete(c.slugs, s.slug)
		}
	}
}

// changed counts the runs of a stream again and wakes who watches it. The
// caller holds mu.
func (c *Catalogue) changed(s *stream) {
	s.cached = nil
	if isTelemetry(s.name) {
		return
	}
	n := s.count()
	c.total += n - s.counted
	s.counted = n
	for w := range c.watchers[s.name] {
		w.wake()
	}
}

// place learns the positions of entries that were appended since it was last
// called. The caller holds s.gate exclusively.
func (c *Catalogue) place(ctx context.Context, s *stream) error {
	c.mu.Lock()
	pending := len(s.entries) > s.placed
	c.mu.Unlock()
	if !pending {
		return nil
	}
	return c.list(ctx, s)
}

// list brings the entries of a stream in line with the journal. The caller
// holds s.gate exclusively.
func (c *Catalogue) list(ctx context.Context, s *stream) error {
	c.mu.Lock()
	placed, pending := s.placed, len(s.entries)-s.placed
	var from journal.Position
	if placed > 0 {
		from = s.entries[placed-1].at + 1
	}
	c.mu.Unlock()
	fresh := make([]entry, 0, pending)
	err := c.log.Metas(ctx, s.name, from, func(p journal.Position, m journal.Meta) error {
		fresh = append(fresh, entry{at: p, span: m.Span, rows: m.Rows})
		return nil
	})
	if err != nil {
		return fmt.Errorf("list entries of %q: %w", s.name, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.entries = append(s.entries[:placed], fresh...)
	s.placed = len(s.entries)
	if len(fresh) != pending { // an append that failed was durable all the same
		s.replace(s.entries)
		c.changed(s)
	}
	return nil
}

// adopt is list for a caller that holds no gate.
func (c *Catalogue) adopt(ctx context.Context, s *stream) error {
	s.gate.Lock()
	defer s.gate.Unlock()
	return c.list(ctx, s)
}

// placeAll is place for a caller that holds no gate.
func (c *Catalogue) placeAll(ctx context.Context, s *stream) error {
	s.gate.Lock()
	defer s.gate.Unlock()
	return c.place(ctx, s)
}

// Stats are numbers for metrics.
type Stats struct {
	Live, Finished int // runs
	Sources        int // sources that name no run
	Batches        int
	Rows           int64
	Bytes          int64 // of the journal
}

// Stats counts what the catalogue holds.
func (c *Catalogue) Stats() Stats {
	t := Stats{Bytes: c.log.Size()}
	now := c.now().UnixNano()
	c.mu.Lock()
	defer c.mu.Unlock()
	t.Sources = c.sources
	for _, s := range c.streams {
		t.Batches += len(s.entries)
		for _, r := range s.runs() {
			t.Rows += r.rows
			if r.finished(now) {
				t.Finished++
			} else {
				t.Live++
			}
		}
	}
	for _, s := range c.telemetry {
		t.Batches += len(s.entries)
	}
	return t
}
