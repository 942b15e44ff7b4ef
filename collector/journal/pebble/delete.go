package pebble

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	engine "github.com/cockroachdb/pebble/v2"

	"github.com/plimsoll/plimsoll/collector/journal"
)

// deleteStep bounds the entries that one batch deletes, and with it how long
// appends wait for it.
const deleteStep = 2048

// Delete implements journal.Log. Entries go in steps; each is durable or not
// done at all.
func (l *Log) Delete(ctx context.Context, stream string, at []journal.Position) error {
	if err := l.begin(ctx); err != nil {
		return fmt.Errorf("delete from journal: %w", err)
	}
	defer l.operations.Done()
	at = slices.Compact(slices.Sorted(slices.Values(at)))
	for step := range slices.Chunk(at, deleteStep) {
		err := l.room.checkUrgent()
		if err == nil {
			err = l.commit(ctx, func(b *engine.Batch) error {
				d := deletion{log: l, batch: b, prefix: streamPrefix(stream), left: map[journal.ID]uint64{}}
				return d.run(step)
			}, func(error) {})
		}
		if err != nil {
			return fmt.Errorf("delete from journal: %w", err)
		}
	}
	if len(at) == 0 {
		return nil
	}
	// Only deletions that have reached the tables give room back, and on a full
	// disk no append will come that would push them there.
	if _, err := l.db.AsyncFlush(); err != nil {
		return fmt.Errorf("delete from journal: flush: %w", err)
	}
	return nil
}

// deletion fills a batch that deletes entries. l.mu is held.
type deletion struct {
	log    *Log
	batch  *engine.Batch
	prefix []byte
	left   map[journal.ID]uint64 // entries left of appends that had several
	metas  positions             // entries without another of the stream between
	data   positions             // entries without another of any stream between
}

// positions is a range of positions, both included; empty when first is 0.
type positions struct{ first, last journal.Position }

func (d *deletion) run(at []journal.Position) (err error) {
	it, err := d.log.db.NewIter(&engine.IterOptions{LowerBound: d.prefix, UpperBound: after(d.prefix)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	ok := it.SeekGE(withPosition(d.prefix, at[0]))
	for len(at) > 0 && ok {
		switch p := position(it.Key()); {
		case p > at[0]:
			at = at[1:]
			continue
		case p < at[0]:
			d.metas, err = d.drop(d.metas, d.metaKey)
			ok = it.SeekGE(withPosition(d.prefix, at[0]))
		default:
			err = d.entry(p, it)
			ok = it.Next()
			at = at[1:]
		}
		if err != nil {
			return err
		}
	}
	_, metaErr := d.drop(d.metas, d.metaKey)
	_, dataErr := d.drop(d.data, d.dataKey)
	next := binary.BigEndian.AppendUint64(nil, uint64(d.log.next))
	return errors.Join(metaErr, dataErr, d.batch.Set([]byte{keyNext}, next, nil))
}

func (d *deletion) metaKey(p journal.Position) []byte { return withPosition(d.prefix, p) }
func (d *deletion) dataKey(p journal.Position) []byte { return dataKey(nil, p) }

// entry deletes the entry at p, on which it stands.
func (d *deletion) entry(p journal.Position, it *engine.Iterator) (err error) {
	value, err := it.ValueAndErr()
	if err != nil {
		return err
	}
	m, err := parseMeta(value)
	if err != nil {
		return fmt.Errorf("entry %d: %w", p, err)
	}
	if d.data.first != 0 && p != d.data.last+1 {
		if d.data, err = d.drop(d.data, d.dataKey); err != nil {
			return err
		}
	}
	d.metas.extend(p)
	d.data.extend(p)
	if m.together == 1 {
		return d.batch.Delete(idKey(m.id), nil)
	}
	return d.release(m.id)
}

func (r *positions) extend(p journal.Position) {
	if r.first == 0 {
		r.first = p
	}
	r.last = p
}

// release takes one from the entries left of an append, and frees its id when
// none are.
func (d *deletion) release(id journal.ID) error {
	left, known := d.left[id]
	if !known {
		value, err := d.log.get(idKey(id))
		if err != nil {
			return fmt.Errorf("entries left of an append: %w", err)
		}
		left, _ = binary.Uvarint(value)
	}
	if left <= 1 {
		delete(d.left, id)
		return d.batch.Delete(idKey(id), nil)
	}
	d.left[id] = left - 1
	return d.batch.Set(idKey(id), binary.AppendUvarint(nil, left-1), nil)
}

// drop deletes the keys of a range and returns the empty one.
func (d *deletion) drop(r positions, key func(journal.Position) []byte) (positions, error) {
	switch {
	case r.first == 0:
		return r, nil
	case r.first == r.last:
		return positions{}, d.batch.Delete(key(r.first), nil)
	default:
		return positions{}, d.batch.DeleteRange(key(r.first), key(r.last+1), nil)
	}
}
