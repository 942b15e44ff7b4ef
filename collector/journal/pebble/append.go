package pebble

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	engine "github.com/cockroachdb/pebble/v2"

	"github.com/plimsoll/plimsoll/collector/journal"
)

// pending is an append that has begun. Others with its id wait for its end.
type pending struct {
	done chan struct{}
	err  error // set before done is closed
}

// Append implements journal.Log. An append that is refused because the disk is
// full, or that is given up when ctx ends, may become durable nevertheless; it
// is a duplicate then when it is tried again.
func (l *Log) Append(ctx context.Context, id journal.ID, records []journal.Record) (bool, error) {
	duplicate, err := l.append(ctx, id, records)
	if err != nil {
		return false, fmt.Errorf("append to journal: %w", err)
	}
	return duplicate, nil
}

func (l *Log) append(ctx context.Context, id journal.ID, records []journal.Record) (bool, error) {
	for _, r := range records {
		if r.Stream == "" {
			return false, errors.New("a record names no stream")
		}
	}
	if err := l.begin(ctx); err != nil {
		return false, err
	}
	defer l.operations.Done()
	if len(records) == 0 {
		return false, nil
	}
	mine, err := l.claim(ctx, id)
	if mine == nil {
		return err == nil, err
	}
	known, err := l.has(id)
	if known || err != nil {
		l.settle(id, mine, err)
		return known, err
	}
	if err := l.room.check(records); err != nil {
		l.settle(id, mine, err)
		return false, err
	}
	return false, l.commit(ctx, func(b *engine.Batch) error {
		return l.fill(b, id, records)
	}, func(err error) { l.settle(id, mine, err) })
}

// claim registers an append of id. When another has it, it waits for that one:
// it returns nil when the other became durable, and tries again when not.
func (l *Log) claim(ctx context.Context, id journal.ID) (*pending, error) {
	for {
		l.mu.Lock()
		if err := l.failed; err != nil { // what is visible may not be durable
			l.mu.Unlock()
			return nil, fmt.Errorf("an earlier write failed: %w", err)
		}
		other := l.pending[id]
		if other == nil {
			mine := &pending{done: make(chan struct{})}
			l.pending[id] = mine
			l.mu.Unlock()
			return mine, nil
		}
		l.mu.Unlock()
		select {
		case <-other.done:
			if other.err == nil {
				return nil, nil //nolint:nilnil // neither ours nor failed: a duplicate
			}
		case <-l.room.stalled():
			return nil, journal.ErrFull
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// settle ends what claim began.
func (l *Log) settle(id journal.ID, mine *pending, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.pending, id)
	mine.err = err
	close(mine.done)
}

// fill puts the records into b at the next positions. l.mu is held.
func (l *Log) fill(b *engine.Batch, id journal.ID, records []journal.Record) error {
	var key, value [64]byte
	for i := range records {
		r := &records[i]
		m := meta{Meta: r.Meta, together: uint64(len(records)), id: id}
		if err := errors.Join(
			b.Set(dataKey(key[:0], l.next), r.Data, nil),
			b.Set(withPosition(streamPrefix(r.Stream), l.next), m.append(value[:0]), nil),
		); err != nil {
			return err
		}
		l.next++
	}
	l.known.add(id)
	return b.Set(idKey(id), binary.AppendUvarint(nil, uint64(len(records))), nil)
}
