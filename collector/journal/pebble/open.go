package pebble

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"syscall"

	engine "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/plimsoll/plimsoll/collector/journal"
)

// DefaultMinFree is room for the engine to flush and to compact.
const DefaultMinFree = 128 << 20

// ErrInUse says that the directory belongs to a log that is open.
var ErrInUse = errors.New("data directory is in use by another process")

// Options of a log. The zero value is usable.
type Options struct {
	// Logger receives what the engine says: its faults as warnings, its
	// progress at debug level. Nil discards it.
	Logger *slog.Logger
	// MinFree is the number of free bytes on the disk below which appends are
	// refused; 0 means DefaultMinFree, less than 0 no limit. Deletions and
	// documents, which help to make room, are refused below an eighth of it.
	MinFree int64
	// Fatal is called with the reason when the engine cannot go on, and must
	// not return. What was acknowledged is safe. Nil means to log it and exit.
	Fatal func(reason string)

	fs vfs.FS // nil but in tests
}

// The engine's memory. Its defaults are made for servers that own a machine.
const (
	cacheBytes    = 4 << 20
	memtableBytes = 1 << 20
	blockBytes    = 32 << 10 // several entries: each block is a write of its own
	memtables     = 2        // one being filled, the other being flushed
	openFiles     = 256
	bloomBits     = 10
	openBytes     = 1 << 20 // free bytes that opening a log takes, at most

	// Ids lie anywhere, so a compaction rewrites all of them: it waits for more
	// tables than is usual, and writes wait for it only far beyond that.
	compactAt, stopAt = 16, 64
)

// Open opens the log that is kept in dir, which is created when it is missing.
// Only one log can be open on a directory.
func Open(dir string, opt Options) (*Log, error) {
	l, err := open(dir, opt)
	if err != nil {
		if isNoSpace(err) {
			err = fmt.Errorf("%w: %w", journal.ErrFull, err)
		}
		return nil, fmt.Errorf("open journal %s: %w", dir, err)
	}
	return l, nil
}

func open(dir string, opt Options) (*Log, error) {
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	if opt.MinFree == 0 {
		opt.MinFree = DefaultMinFree
	}
	if opt.fs == nil {
		opt.fs = vfs.Default
	}
	if err := makeDir(opt.fs, dir); err != nil {
		return nil, err
	}
	lock, err := engine.LockDirectory(dir, opt.fs)
	if err != nil {
		return nil, lockError(err)
	}
	r := newRoom(dir, opt)
	if err := r.leaves(max(opt.MinFree/8, openBytes)); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	options := engineOptions(opt, r)
	options.Lock = lock
	db, err := openEngine(dir, options)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	l := &Log{db: db, lock: lock, room: r, log: opt.Logger, pending: map[journal.ID]*pending{}}
	if err := l.prepare(); err != nil {
		return nil, errors.Join(err, db.Close(), lock.Close())
	}
	r.open()
	return l, nil
}

// makeDir creates a directory that is missing, and makes that durable: what is
// synced in it is lost with it otherwise.
func makeDir(fs vfs.FS, dir string) error {
	if _, err := fs.Stat(dir); err == nil {
		return nil // if it is no directory, the lock says so
	}
	parent := fs.PathDir(dir)
	if parent != dir {
		if err := makeDir(fs, parent); err != nil {
			return err
		}
	}
	if err := fs.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	d, err := fs.OpenDir(parent)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// openEngine opens the engine and makes an error of what it holds for fatal.
func openEngine(dir string, options *engine.Options) (db *engine.DB, err error) {
	log := options.Logger.(*logger)
	log.opening.Store(true)
	defer func() {
		log.opening.Store(false)
		switch p := recover().(type) {
		case nil:
		case unopened:
			err = errors.New(p.reason)
		default:
			panic(p)
		}
	}()
	return engine.Open(dir, options)
}

// lockError tells a directory that is in use from one that cannot be used. The
// engine has no error of its own for a log that this process has open.
func lockError(err error) error {
	if errors.Is(err, syscall.EAGAIN) || err.Error() == "lock held by current process" {
		return ErrInUse
	}
	return fmt.Errorf("lock data directory: %w", err)
}

func engineOptions(opt Options, r *room) *engine.Options {
	log := &logger{log: opt.Logger, fatal: opt.Fatal}
	o := &engine.Options{
		FS:                          &patientFS{FS: opt.fs, room: r},
		FormatMajorVersion:          engine.FormatValueSeparation,
		CacheSize:                   cacheBytes,
		MemTableSize:                memtableBytes,
		MemTableStopWritesThreshold: memtables,
		MaxOpenFiles:                openFiles,
		Logger:                      log,
		EventListener: &engine.EventListener{
			BackgroundError: func(err error) { opt.Logger.Warn("journal background work failed", "error", err) },
			DataCorruption: func(info engine.DataCorruptionInfo) {
				opt.Logger.Error("journal is damaged", "path", info.Path, "error", info.Details)
			},
		},
	}
	o.L0CompactionThreshold, o.L0StopWritesThreshold = compactAt, stopAt
	o.Experimental.FileCacheShards = 1
	o.Experimental.SpanPolicyFunc = apart
	o.ApplyCompressionSettings(func() engine.DBCompressionSettings { return engine.DBCompressionNone })
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(bloomBits)
		o.Levels[i].BlockSize = blockBytes
	}
	return o
}

// apart keeps data in tables of their own. Data keys only grow, so such tables
// never overlap and are never written again by compactions; mixed with ids,
// which lie anywhere, each would be.
func apart(from []byte) (policy engine.SpanPolicy, end []byte, err error) {
	switch {
	case len(from) == 0 || from[0] < keyData:
		return policy, []byte{keyData}, nil
	case from[0] == keyData:
		return policy, []byte{keyData + 1}, nil
	}
	return policy, nil, nil
}

// prepare checks the layout of the log, or writes that of a new one, and finds
// the position to go on from.
func (l *Log) prepare() error {
	value, err := l.get([]byte{keyVersion})
	switch {
	case errors.Is(err, journal.ErrNotFound):
		if err := l.mustBeEmpty(); err != nil {
			return err
		}
		if err := l.db.Set([]byte{keyVersion}, []byte{layout}, engine.Sync); err != nil {
			return err
		}
	case err != nil:
		return err
	case len(value) != 1 || value[0] != layout:
		return fmt.Errorf("it has layout %x, this program knows layout %d", value, layout)
	}
	if err := l.findNext(); err != nil {
		return err
	}
	return l.learnIDs()
}

// learnIDs tells the filter of the ids that are kept.
func (l *Log) learnIDs() error {
	return l.scan(context.Background(), l.db, []byte{keyID}, []byte{keyID + 1}, func(key, _ []byte) error {
		var id journal.ID
		if copy(id[:], key[1:]) != len(id) {
			return fmt.Errorf("key %x is no id", key)
		}
		l.known.add(id)
		return nil
	})
}

func (l *Log) mustBeEmpty() error {
	return l.scan(context.Background(), l.db, nil, nil, func(_, _ []byte) error {
		return errors.New("it holds other data than a journal")
	})
}

// findNext sets the position after the newest that was ever used.
func (l *Log) findNext() error {
	l.next = 1
	value, err := l.get([]byte{keyNext})
	if err == nil && len(value) == 8 {
		l.next = position(value)
	} else if !errors.Is(err, journal.ErrNotFound) {
		return fmt.Errorf("read the next position %x: %w", value, err)
	}
	it, err := l.db.NewIter(&engine.IterOptions{LowerBound: []byte{keyData}, UpperBound: []byte{keyData + 1}})
	if err != nil {
		return err
	}
	if it.Last() {
		l.next = max(l.next, position(it.Key())+1)
	}
	return errors.Join(it.Error(), it.Close())
}
