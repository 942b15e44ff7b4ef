package pebble

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	engine "github.com/cockroachdb/pebble/v2"

	"github.com/plimsoll/plimsoll/collector/journal"
)

// get returns a copy of a value, or journal.ErrNotFound.
func (l *Log) get(key []byte) ([]byte, error) {
	value, closer, err := l.db.Get(key)
	if errors.Is(err, engine.ErrNotFound) {
		return nil, journal.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("get %x: %w", key, err)
	}
	return append([]byte{}, value...), closer.Close()
}

// has reports whether an append of this id is kept.
func (l *Log) has(id journal.ID) (bool, error) {
	l.mu.Lock()
	may := l.known.mayHold(id)
	l.mu.Unlock()
	if !may {
		return false, nil
	}
	switch _, err := l.get(idKey(id)); {
	case err == nil:
		return true, nil
	case errors.Is(err, journal.ErrNotFound):
		return false, nil
	default:
		return false, err
	}
}

// scan calls fn for the keys from lower to before upper. Key and value are
// valid until fn returns.
func (l *Log) scan(ctx context.Context, from engine.Reader, lower, upper []byte, fn func(key, value []byte) error) error {
	it, err := from.NewIterWithContext(ctx, &engine.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return err
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		if err = ctx.Err(); err != nil {
			break
		}
		var value []byte
		if value, err = it.ValueAndErr(); err == nil {
			err = fn(it.Key(), value)
		}
	}
	return errors.Join(err, it.Close())
}

// Metas implements journal.Log.
func (l *Log) Metas(ctx context.Context, stream string, from journal.Position, fn func(journal.Position, journal.Meta) error) error {
	if err := l.begin(ctx); err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	defer l.operations.Done()
	prefix := streamPrefix(stream)
	err := l.scan(ctx, l.db, withPosition(prefix, from), after(prefix), func(key, value []byte) error {
		m, err := parseMeta(value)
		if err != nil {
			return fmt.Errorf("entry %d: %w", position(key), err)
		}
		if err := fn(position(key), m.Meta); err != nil {
			return callback{err}
		}
		return nil
	})
	return outcome(err, "read journal")
}

// callback marks an error as the caller's own, to be returned as it is.
type callback struct{ error }

func (c callback) Unwrap() error { return c.error }

func outcome(err error, what string) error {
	if err == nil {
		return nil
	}
	if c, ok := errors.AsType[callback](err); ok {
		return c.error
	}
	return fmt.Errorf("%s: %w", what, err)
}

// Read implements journal.Log.
func (l *Log) Read(ctx context.Context, stream string, at []journal.Position, fn func(journal.Entry) error) error {
	if err := l.begin(ctx); err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	defer l.operations.Done()
	return outcome(l.read(ctx, stream, at, fn), "read journal")
}

func (l *Log) read(ctx context.Context, stream string, at []journal.Position, fn func(journal.Entry) error) (err error) {
	snapshot := l.db.NewSnapshot()
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	prefix := streamPrefix(stream)
	metas, err := snapshot.NewIterWithContext(ctx, &engine.IterOptions{LowerBound: prefix, UpperBound: after(prefix)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, metas.Close()) }()
	data, err := snapshot.NewIterWithContext(ctx, &engine.IterOptions{LowerBound: []byte{keyData}, UpperBound: []byte{keyData + 1}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	var key []byte
	for _, p := range at {
		if err := ctx.Err(); err != nil {
			return err
		}
		key = append(key[:0], prefix...)
		value, err := find(metas, withPosition(key, p))
		if errors.Is(err, journal.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		m, err := parseMeta(value)
		if err != nil {
			return fmt.Errorf("entry %d: %w", p, err)
		}
		key = dataKey(key[:0], p)
		if value, err = find(data, key); err != nil {
			return fmt.Errorf("data of entry %d: %w", p, err)
		}
		if err := fn(journal.Entry{Position: p, Meta: m.Meta, Data: value}); err != nil {
			return callback{err}
		}
	}
	return nil
}

// find moves it to key, which is usually the next, and returns its value.
func find(it *engine.Iterator, key []byte) ([]byte, error) {
	if !(it.Valid() && it.Next() && bytes.Equal(it.Key(), key)) && !it.SeekGE(key) || !bytes.Equal(it.Key(), key) {
		if err := it.Error(); err != nil {
			return nil, err
		}
		return nil, journal.ErrNotFound
	}
	return it.ValueAndErr()
}

// Streams implements journal.Log.
func (l *Log) Streams(ctx context.Context, fn func(string) error) error {
	if err := l.begin(ctx); err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	defer l.operations.Done()
	return outcome(l.streams(ctx, fn), "list streams of journal")
}

func (l *Log) streams(ctx context.Context, fn func(string) error) error {
	it, err := l.db.NewIterWithContext(ctx, &engine.IterOptions{LowerBound: []byte{keyMeta}, UpperBound: []byte{keyMeta + 1}})
	if err != nil {
		return err
	}
	for ok := it.First(); ok; {
		var name string
		if err = ctx.Err(); err != nil {
			break
		}
		if name, _, err = splitMetaKey(it.Key()); err != nil {
			break
		}
		if err = fn(name); err != nil {
			err = callback{err}
			break
		}
		ok = it.SeekGE(after(it.Key()[:len(it.Key())-8]))
	}
	return errors.Join(err, it.Close())
}
