package pebble

import (
	"context"
	"fmt"

	engine "github.com/cockroachdb/pebble/v2"
)

// Put implements journal.Log.
func (l *Log) Put(ctx context.Context, key string, value []byte) error {
	if err := l.begin(ctx); err != nil {
		return fmt.Errorf("put document: %w", err)
	}
	defer l.operations.Done()
	var err error
	if value != nil { // removing makes room
		err = l.room.checkUrgent()
	}
	if err == nil {
		err = l.commit(ctx, func(b *engine.Batch) error {
			if value == nil {
				return b.Delete(documentKey(key), nil)
			}
			return b.Set(documentKey(key), value, nil)
		}, func(error) {})
	}
	if err != nil {
		return fmt.Errorf("put document %q: %w", key, err)
	}
	return nil
}

// Get implements journal.Log.
func (l *Log) Get(ctx context.Context, key string) ([]byte, error) {
	if err := l.begin(ctx); err != nil {
		return nil, fmt.Errorf("get document: %w", err)
	}
	defer l.operations.Done()
	value, err := l.get(documentKey(key))
	if err != nil {
		return nil, fmt.Errorf("get document %q: %w", key, err)
	}
	return value, nil
}

// Documents implements journal.Log.
func (l *Log) Documents(ctx context.Context, prefix string, fn func(string, []byte) error) error {
	if err := l.begin(ctx); err != nil {
		return fmt.Errorf("read documents: %w", err)
	}
	defer l.operations.Done()
	lower := documentKey(prefix)
	err := l.scan(ctx, l.db, lower, after(lower), func(key, value []byte) error {
		if err := fn(string(key[1:]), value); err != nil {
			return callback{err}
		}
		return nil
	})
	return outcome(err, "read documents")
}
