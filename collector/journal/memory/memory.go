// Package memory is a journal.Log that keeps everything in memory: the fake for
// tests of whatever stands on a log, and the reference for what the conformance
// suite means. It is honest about what it is asked to keep (it copies data and
// answers after Close as the others do) and makes nothing fast.
package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/plimsoll/plimsoll/collector/journal"
)

// Log is a journal.Log in memory.
type Log struct {
	*contents
	closed bool // guarded by contents.mu
}

// contents outlive the Log that holds them, so that it can be opened again.
type contents struct {
	mu        sync.Mutex
	next      journal.Position
	streams   map[string][]entry // in order of position, never empty
	ids       map[journal.ID]int // entries left of each append
	documents map[string][]byte
}

type entry struct {
	journal.Entry
	id journal.ID
}

var _ journal.Log = (*Log)(nil)

// New returns an empty log.
func New() *Log {
	return &Log{contents: &contents{
		next: 1, streams: map[string][]entry{}, ids: map[journal.ID]int{}, documents: map[string][]byte{},
	}}
}

// Reopen closes l and returns a log with the same contents, as an engine on
// disk would after a restart.
func (l *Log) Reopen() *Log {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return &Log{contents: l.contents}
}

// lock locks the contents unless ctx or the log has ended.
func (l *Log) lock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return journal.ErrClosed
	}
	return nil
}

// Append implements journal.Log.
func (l *Log) Append(ctx context.Context, id journal.ID, records []journal.Record) (bool, error) {
	for _, r := range records {
		if r.Stream == "" {
			return false, errors.New("append to journal: a record names no stream")
		}
	}
	if err := l.lock(ctx); err != nil {
		return false, fmt.Errorf("append to journal: %w", err)
	}
	defer l.mu.Unlock()
	if l.ids[id] > 0 {
		return true, nil
	}
	for _, r := range records {
		e := entry{id: id, Entry: journal.Entry{Position: l.next, Meta: r.Meta, Data: bytes.Clone(r.Data)}}
		l.streams[r.Stream] = append(l.streams[r.Stream], e)
		l.ids[id]++
		l.next++
	}
	return false, nil
}

// snapshot returns the entries of a stream as they are now.
func (l *Log) snapshot(ctx context.Context, stream string) ([]entry, error) {
	if err := l.lock(ctx); err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	defer l.mu.Unlock()
	return slices.Clone(l.streams[stream]), nil
}

// Metas implements journal.Log.
func (l *Log) Metas(ctx context.Context, stream string, from journal.Position, fn func(journal.Position, journal.Meta) error) error {
	entries, err := l.snapshot(ctx, stream)
	if err != nil {
		return err
	}
	first, _ := find(entries, from)
	for _, e := range entries[first:] {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("read journal: %w", err)
		}
		if err := fn(e.Position, e.Meta); err != nil {
			return err
		}
	}
	return nil
}

// Read implements journal.Log.
func (l *Log) Read(ctx context.Context, stream string, at []journal.Position, fn func(journal.Entry) error) error {
	entries, err := l.snapshot(ctx, stream)
	if err != nil {
		return err
	}
	for _, p := range at {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("read journal: %w", err)
		}
		i, ok := find(entries, p)
		if !ok {
			continue
		}
		e := entries[i].Entry
		e.Data = bytes.Clone(e.Data) // the reader may write into it
		if err := fn(e); err != nil {
			return err
		}
	}
	return nil
}

func find(entries []entry, p journal.Position) (int, bool) {
	return slices.BinarySearchFunc(entries, p, func(e entry, p journal.Position) int {
		return int(int64(e.Position) - int64(p))
	})
}

// Streams implements journal.Log.
func (l *Log) Streams(ctx context.Context, fn func(string) error) error {
	if err := l.lock(ctx); err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	names := slices.Sorted(maps.Keys(l.streams))
	l.mu.Unlock()
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("read journal: %w", err)
		}
		if err := fn(name); err != nil {
			return err
		}
	}
	return nil
}

// Delete implements journal.Log.
func (l *Log) Delete(ctx context.Context, stream string, at []journal.Position) error {
	if err := l.lock(ctx); err != nil {
		return fmt.Errorf("delete from journal: %w", err)
	}
	defer l.mu.Unlock()
	gone := make(map[journal.Position]bool, len(at))
	for _, p := range at {
		gone[p] = true
	}
	var entries []entry // new memory: a reader may hold the old
	for _, e := range l.streams[stream] {
		if !gone[e.Position] {
			entries = append(entries, e)
			continue
		}
		if l.ids[e.id]--; l.ids[e.id] == 0 {
			delete(l.ids, e.id)
		}
	}
	if l.streams[stream] = entries; len(entries) == 0 {
		delete(l.streams, stream)
	}
	return nil
}

// Put implements journal.Log.
func (l *Log) Put(ctx context.Context, key string, value []byte) error {
	if err := l.lock(ctx); err != nil {
		return fmt.Errorf("put document: %w", err)
	}
	defer l.mu.Unlock()
	if value == nil {
		delete(l.documents, key)
		return nil
	}
	l.documents[key] = bytes.Clone(value)
	return nil
}

// Get implements journal.Log.
func (l *Log) Get(ctx context.Context, key string) ([]byte, error) {
	if err := l.lock(ctx); err != nil {
		return nil, fmt.Errorf("get document: %w", err)
	}
	defer l.mu.Unlock()
	value, ok := l.documents[key]
	if !ok {
		return nil, fmt.Errorf("get document %q: %w", key, journal.ErrNotFound)
	}
	return bytes.Clone(value), nil
}

// Documents implements journal.Log.
func (l *Log) Documents(ctx context.Context, prefix string, fn func(string, []byte) error) error {
	if err := l.lock(ctx); err != nil {
		return fmt.Errorf("read documents: %w", err)
	}
	documents := maps.Clone(l.documents)
	l.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(documents)) {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("read documents: %w", err)
		}
		if err := fn(key, bytes.Clone(documents[key])); err != nil {
			return err
		}
	}
	return nil
}

// Size implements journal.Log: the bytes of all data and documents.
func (l *Log) Size() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	size := 0
	for _, entries := range l.streams {
		for _, e := range entries {
			size += len(e.Data)
		}
	}
	for _, value := range l.documents {
		size += len(value)
	}
	return int64(size)
}

// Close implements journal.Log. Closing again does nothing.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return nil
}
