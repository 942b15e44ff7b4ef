package pebble

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll/plimsoll/collector/journal"
)

// smallDisk mounts a file system of its own with this many bytes.
func smallDisk(t *testing.T, size int) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprint("size=", size)); err != nil {
		t.Skipf("a full disk needs the right to mount one: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return dir
}

func openOn(t *testing.T, dir string, minFree int64) *Log {
	t.Helper()
	l, err := Open(filepath.Join(dir, "data"), Options{
		MinFree: minFree, Fatal: func(reason string) { panic("the engine died: " + reason) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// noise does not compress.
func noise(n int) []byte {
	rng := rand.New(rand.NewPCG(uint64(n), 1))
	data := make([]byte, 32<<10)
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	return data
}

func appendNoise(ctx context.Context, l *Log, n int) (bool, error) {
	return l.Append(ctx, crashID(n), []journal.Record{{Stream: "s", Data: noise(n)}})
}

// fill appends until the log is full and returns the number of appends that
// were acknowledged.
func fillUp(t *testing.T, l *Log) int {
	t.Helper()
	for n := range 10_000 {
		if _, err := appendNoise(t.Context(), l, n); err != nil {
			if !errors.Is(err, journal.ErrFull) {
				t.Fatalf("a full disk gives %v, want ErrFull", err)
			}
			return n
		}
	}
	t.Fatal("the disk does not fill up")
	return 0
}

// recover waits until an append succeeds again.
func waitForRoom(t *testing.T, l *Log, n int) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		_, err := appendNoise(t.Context(), l, n)
		if err == nil {
			return
		}
		if !errors.Is(err, journal.ErrFull) || time.Now().After(deadline) {
			t.Fatalf("there is room again, append still returns: %v", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func wantAll(t *testing.T, l *Log, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		if duplicate, err := appendNoise(t.Context(), l, n); err != nil || !duplicate {
			t.Fatalf("append %d was acknowledged and is not known: %v", n, err)
		}
	}
	seen := 0
	var at []journal.Position
	err := l.Metas(t.Context(), "s", 0, func(p journal.Position, _ journal.Meta) error {
		at = append(at, p)
		return nil
	})
	err = errors.Join(err, l.Read(t.Context(), "s", at, func(e journal.Entry) error {
		seen++
		return nil
	}))
	if err != nil || seen < to-from {
		t.Errorf("read %d of %d entries: %v", seen, to-from, err)
	}
}

// TestFullIsRefused fills a disk up to the guard, makes room by deleting
// entries and goes on.
func TestFullIsRefused(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t, 96<<20)
	l := openOn(t, dir, 24<<20)
	n := fillUp(t, l)
	wantAll(t, l, 0, n) // duplicates are known and data can be read on a full disk
	if err := l.Put(t.Context(), "frozen result", []byte("kept")); err != nil {
		t.Errorf("a document on a full disk: %v", err)
	}
	var at []journal.Position
	if err := l.Metas(t.Context(), "s", 0, func(p journal.Position, _ journal.Meta) error {
		at = append(at, p)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := l.Delete(t.Context(), "s", at[:n*3/4]); err != nil {
		t.Fatalf("delete on a full disk: %v", err)
	}
	waitForRoom(t, l, n)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = openOn(t, dir, 24<<20)
	wantAll(t, l, n*3/4, n+1)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestFullUnderneath lets another program take the last byte, which no guard
// can foresee: the engine's own writes find the disk full.
func TestFullUnderneath(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t, 48<<20)
	l := openOn(t, dir, -1)
	if _, err := appendNoise(t.Context(), l, 0); err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		other := filepath.Join(dir, "other")
		takeAll(t, other)
		n := 1000 * (round + 1)
		for err := error(nil); err == nil; n++ {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			_, err = appendNoise(ctx, l, n)
			cancel()
			if err != nil && !errors.Is(err, journal.ErrFull) {
				t.Fatalf("a full disk gives %v, want ErrFull", err)
			}
		}
		if _, err := appendNoise(t.Context(), l, n); !errors.Is(err, journal.ErrFull) {
			t.Errorf("a second append on the full disk gives %v, want ErrFull", err)
		}
		if err := os.Remove(other); err != nil {
			t.Fatal(err)
		}
		waitForRoom(t, l, n)
		// The append before n was refused while it was under way: it may have
		// become durable or not.
		wantAll(t, l, 1000*(round+1), n-1)
		wantAll(t, l, n, n+1)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = openOn(t, dir, -1)
	wantAll(t, l, 0, 1)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// takeAll writes a file until the disk is full.
func takeAll(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int{1 << 20, 4096} {
		for block := make([]byte, size); err == nil; {
			_, err = f.Write(block)
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		err = nil
	}
}

// TestOpenOnFullDisk fails at once, and says why.
func TestOpenOnFullDisk(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t, 1<<20)
	takeAll(t, filepath.Join(dir, "other"))
	_, err := Open(filepath.Join(dir, "data"), Options{Fatal: func(reason string) { panic(reason) }})
	if !errors.Is(err, journal.ErrFull) {
		t.Errorf("opening a log on a full disk gives %v, want ErrFull", err)
	}
}
