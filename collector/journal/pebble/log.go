// Package pebble keeps a journal on one machine, in a directory of its own, on
// the embedded key-value engine of the same name. Nothing outside this package
// knows that engine.
//
// An Append is one batch of the engine and is acknowledged after its write-ahead
// log has been synced; concurrent appends share a sync (see sync.go). Positions count over
// the whole log and entries become visible in their order, so a reader may
// resume after the last position that it saw. The metas have a key space of
// their own, so listing a stream reads none of its data (see keys.go).
//
// The engine does not survive a failed write of its log. So an append is
// refused with journal.ErrFull while the disk has less than Options.MinFree,
// and should the disk fill up nevertheless, writes wait for room instead of
// failing (see full.go). Both end by themselves when there is room again.
package pebble

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	engine "github.com/cockroachdb/pebble/v2"

	"github.com/plimsoll/plimsoll/collector/journal"
)

// Log is a journal.Log in a directory.
type Log struct {
	db   *engine.DB
	lock *engine.Lock
	room *room
	log  *slog.Logger

	operations sync.WaitGroup // calls that use db
	syncs      sync.WaitGroup // groups that wait for their sync

	mu      sync.Mutex
	closed  bool
	next    journal.Position        // of the next entry
	known   filter                  // ids of appends that are kept, and some others
	pending map[journal.ID]*pending // appends that are not yet durable
	failed  error                   // a write of the log failed: nothing can be promised any more
	crowd   crowd
}

var _ journal.Log = (*Log)(nil)

// begin counts a call in, unless ctx or the log has ended. The caller must
// call l.operations.Done when it has ended.
func (l *Log) begin(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return journal.ErrClosed
	}
	l.operations.Add(1)
	return nil
}

// commit applies b and makes it durable. From the return of the function that
// it calls with l.mu held, which fills b, to the application of b no other
// batch is applied, so what is visible is always a prefix of what was appended.
// It returns early when ctx ends or the disk is full; b may still become
// durable then. Settled is called when that is decided.
func (l *Log) commit(ctx context.Context, fill func(b *engine.Batch) error, settled func(error)) error {
	g, err := l.apply(fill, settled)
	if err != nil {
		settled(err)
		return err
	}
	select {
	case <-g.done:
		return g.err
	case <-l.room.stalled():
		return journal.ErrFull
	case <-ctx.Done():
		return ctx.Err()
	}
}

// apply makes a batch visible and lets it join a group that will be synced.
func (l *Log) apply(fill func(b *engine.Batch) error, settled func(error)) (*group, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return nil, fmt.Errorf("an earlier write failed: %w", l.failed)
	}
	b := l.db.NewBatch()
	err := fill(b)
	if err == nil {
		err = l.db.Apply(b, engine.NoSync)
	}
	if err := errors.Join(err, b.Close()); err != nil {
		return nil, fmt.Errorf("apply batch: %w", err)
	}
	return l.join(settled), nil
}

func (l *Log) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = err
	l.log.Error("journal cannot be written any more", "error", err)
}

// Size implements journal.Log.
func (l *Log) Size() int64 {
	if l.begin(context.Background()) != nil {
		return 0
	}
	defer l.operations.Done()
	m := l.db.Metrics()
	// The engine counts a log file's bytes on disk only once it is full.
	return int64(m.DiskSpaceUsage() + max(m.WAL.Size, m.WAL.PhysicalSize) - m.WAL.PhysicalSize)
}

// Close implements journal.Log. It waits for the calls under way, so it must
// not be called by a callback. Closing again does nothing.
func (l *Log) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	l.mu.Unlock()
	l.room.close()
	l.operations.Wait()
	l.syncs.Wait()
	if err := errors.Join(l.db.Close(), l.lock.Close()); err != nil {
		return fmt.Errorf("close journal: %w", err)
	}
	return nil
}
