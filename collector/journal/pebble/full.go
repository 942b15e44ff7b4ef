package pebble

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/plimsoll/plimsoll/collector/journal"
)

// room knows whether the disk has room. While a write waits for it, the log is
// stalled.
type room struct {
	dir     string
	fs      vfs.FS
	minFree int64
	log     *slog.Logger
	ended   chan struct{} // closed when the log is closed

	mu      sync.Mutex
	credit  int64 // bytes that may be appended before the disk is asked again
	opened  bool
	waiting int           // writes that wait for room
	full    chan struct{} // closed while waiting > 0
}

// Pace of writes that found the disk full.
const (
	retryEvery = 100 * time.Millisecond
	giveUp     = 10 // retries of work that can be done again later
)

func newRoom(dir string, opt Options) *room {
	return &room{dir: dir, fs: opt.fs, minFree: opt.MinFree, log: opt.Logger, ended: make(chan struct{}), full: make(chan struct{})}
}

// mostCredit is the most that is appended between two looks at the disk.
const mostCredit = 4 << 20

// check refuses an append when it might not leave room enough for the engine.
// A look at the disk is good for an eighth of the room that it found.
func (r *room) check(records []journal.Record) error {
	var size int64
	for i := range records {
		size += int64(len(records[i].Data))
	}
	r.mu.Lock()
	r.credit -= size
	good := r.credit > 0 && r.waiting == 0
	r.mu.Unlock()
	if good {
		return nil
	}
	return r.leaves(r.minFree)
}

// checkUrgent refuses what helps to make room later than the rest.
func (r *room) checkUrgent() error { return r.leaves(r.minFree / 8) }

func (r *room) leaves(minFree int64) error {
	select {
	case <-r.stalled():
		return fmt.Errorf("%w: %s has no free bytes", journal.ErrFull, r.dir)
	default:
	}
	if minFree <= 0 {
		return nil
	}
	usage, err := r.fs.GetDiskUsage(r.dir)
	if err != nil {
		return fmt.Errorf("free bytes of %s: %w", r.dir, err)
	}
	if usage.AvailBytes < uint64(minFree) {
		return fmt.Errorf("%w: %s has %d free bytes, %d are needed", journal.ErrFull, r.dir, usage.AvailBytes, minFree)
	}
	r.mu.Lock()
	r.credit = min(max(0, int64(usage.AvailBytes)-r.minFree)/8, mostCredit)
	r.mu.Unlock()
	return nil
}

// stalled returns a channel that is closed while a write waits for room.
func (r *room) stalled() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.full
}

// open lets writes wait from now on. Opening a log on a full disk fails.
func (r *room) open() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opened = true
}

// close ends all waiting: writes that find the disk full fail from now on.
func (r *room) close() { close(r.ended) }

// retry repeats a write while it finds the disk full, at most limit times, for
// ever when limit is less than 0.
func (r *room) retry(limit int, write func() error) error {
	err := write()
	if !isNoSpace(err) || !r.enter() {
		return err
	}
	defer r.leave()
	tick := time.NewTicker(retryEvery)
	defer tick.Stop()
	for ; limit != 0 && isNoSpace(err); limit-- {
		select {
		case <-tick.C:
			err = write()
		case <-r.ended:
			return err
		}
	}
	return err
}

func (r *room) enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.opened {
		return false
	}
	if r.waiting++; r.waiting == 1 {
		close(r.full)
		r.log.Warn("journal waits for room on the disk", "dir", r.dir)
	}
	return true
}

func (r *room) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting--; r.waiting == 0 {
		r.full = make(chan struct{})
		r.log.Info("journal has stopped waiting for room", "dir", r.dir)
	}
}

func isNoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// patientFS makes writes wait while the disk is full. The engine would lose
// its log or its manifest, and with them the process, if they failed. A
// compaction is given up after a while instead, since its own unfinished output
// may be what fills the disk; the engine removes that and tries again.
type patientFS struct {
	vfs.FS
	room *room
}

// Unwrap returns the file system beneath.
func (f *patientFS) Unwrap() vfs.FS { return f.FS }

func patience(category vfs.DiskWriteCategory) int {
	switch category {
	case "pebble-compaction", "pebble-blob-file-rewrite":
		return giveUp
	default:
		return -1
	}
}

func (f *patientFS) file(category vfs.DiskWriteCategory, open func() (vfs.File, error)) (file vfs.File, err error) {
	limit := patience(category)
	err = f.room.retry(limit, func() error {
		file, err = open()
		return err
	})
	if err != nil {
		return nil, err
	}
	return &patientFile{File: file, room: f.room, limit: limit}, nil
}

// Create implements vfs.FS.
func (f *patientFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return f.file(category, func() (vfs.File, error) { return f.FS.Create(name, category) })
}

// ReuseForWrite implements vfs.FS.
func (f *patientFS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return f.file(category, func() (vfs.File, error) { return f.FS.ReuseForWrite(oldname, newname, category) })
}

// patientFile is a file whose writes wait.
type patientFile struct {
	vfs.File
	room  *room
	limit int
}

// Write implements vfs.File.
func (f *patientFile) Write(p []byte) (n int, err error) {
	err = f.room.retry(f.limit, func() error {
		m, err := f.File.Write(p[n:])
		n += m
		return err
	})
	return n, err
}

// WriteAt implements vfs.File.
func (f *patientFile) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.room.retry(f.limit, func() error {
		m, err := f.File.WriteAt(p[n:], off+int64(n))
		n += m
		return err
	})
	return n, err
}
