package runs

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Sizes of a page of runs.
const (
	defaultLimit = 50
	maxLimit     = 1000
)

// Query asks for a page of runs.
type Query struct {
	Limit  int    // 0 = 50, at most 1000
	Cursor string // from the page before; empty for the first
	Q      string // part of the id or the name, in any case
}

// List returns runs, newest first, and the cursor of the next page, which is
// empty after the last one. A run that begins between two calls does not move
// the others.
func (c *Catalogue) List(_ context.Context, q Query) (items []Info, next string, err error) {
	limit := q.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	limit = min(limit, maxLimit)
	after, err := parseCursor(q.Cursor)
	if err != nil {
		return nil, "", err
	}
	now := c.now().UnixNano()
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.match(strings.ToLower(q.Q), after)
	slices.SortFunc(found, newestFirst)
	if len(found) > limit {
		found = found[:limit]
		next = cursorOf(found[limit-1])
	}
	items = make([]Info, len(found))
	for i, r := range found {
		items[i] = r.info(now)
	}
	return items, next, nil
}

// match lists the runs with part in their id or name that come after a place.
// The caller holds mu.
func (c *Catalogue) match(part string, after *place) []*run {
	var found []*run
	for _, s := range c.streams {
		for _, r := range s.runs() {
			if after != nil && r.place().compare(*after) <= 0 {
				continue
			}
			if part == "" || strings.Contains(strings.ToLower(r.id), part) ||
				strings.Contains(strings.ToLower(r.name()), part) {
				found = append(found, r)
			}
		}
	}
	return found
}

// place is where a run stands in the list.
type place struct {
	start int64
	id    string
}

func (r *run) place() place { return place{r.start(), r.id} }

func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(o.start, p.start), cmp.Compare(p.id, o.id))
}

func newestFirst(a, b *run) int { return a.place().compare(b.place()) }

func cursorOf(r *run) string {
	p := r.place()
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(p.start, 10) + "|" + p.id))
}

func parseCursor(s string) (*place, error) {
	if s == "" {
		return nil, nil //nolint:nilnil // no cursor is no place and no error
	}
	text, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return nil, ErrBadCursor
	}
	start, id, ok := strings.Cut(string(text), "|")
	ns, err := strconv.ParseInt(start, 10, 64)
	if err != nil || !ok {
		return nil, ErrBadCursor
	}
	return &place{ns, id}, nil
}

// Live lists the runs that go on, in no order.
func (c *Catalogue) Live() []Info {
	now := c.now().UnixNano()
	c.mu.Lock()
	defer c.mu.Unlock()
	var live []Info
	for _, s := range c.streams {
		for _, r := range s.runs() {
			if r.hasData() && !r.finished(now) {
				live = append(live, r.info(now))
			}
		}
	}
	return live
}

// Resolve finds a run by its id, by "latest" or by "latest:NAME". The id of a
// source's run goes on to find it when late rows have moved its start.
func (c *Catalogue) Resolve(_ context.Context, ref string) (Info, error) {
	now := c.now().UnixNano()
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.lookup(ref)
	if r == nil {
		return Info{}, notFound(ref)
	}
	return r.info(now), nil
}

func notFound(ref string) error { return fmt.Errorf("find run %q: %w", ref, ErrNotFound) }

// lookup is Resolve within the index. The caller holds mu.
func (c *Catalogue) lookup(ref string) *run {
	if ref == latest {
		return c.latest("")
	}
	if name, ok := strings.CutPrefix(ref, latest+":"); ok {
		return c.latest(name)
	}
	if s := c.streams[runPrefix+ref]; s != nil {
		if runs := s.runs(); len(runs) > 0 {
			return runs[0]
		}
	}
	slug, start, ok := parseSourceRunID(ref)
	if !ok {
		return nil
	}
	var best *run
	for _, s := range c.slugs[slug] {
		runs := s.runs()
		i := nearest(runs, start, start+int64(time.Second)-1)
		if i >= 0 && (best == nil || runs[i].id == ref) {
			best = runs[i]
		}
	}
	return best
}

// latest returns the newest run with the name, or of any name when it is empty.
// Runs that have begun come before runs that are only declared.
func (c *Catalogue) latest(name string) *run {
	var best *run
	for _, s := range c.streams {
		for _, r := range s.runs() {
			if name != "" && r.name() != name {
				continue
			}
			if best == nil || r.begun() && !best.begun() || r.begun() == best.begun() && newestFirst(r, best) < 0 {
				best = r
			}
		}
	}
	return best
}

func (r *run) begun() bool { return r.hasData() || r.about.Gone != nil }
