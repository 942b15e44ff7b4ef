package pebble

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestCrowd drives the groups by hand: they grow to what was under way at once
// and shrink again when that does not come any more.
func TestCrowd(t *testing.T) {
	t.Parallel()
	l := mustOpen(t, "/data", Options{fs: roomyFS{vfs.NewMem()}})
	step := func(commits, expected int) {
		t.Helper()
		l.mu.Lock()
		l.crowd.running = true // so that no goroutine takes the group
		for range commits {
			l.join(func(error) {})
		}
		l.mu.Unlock()
		if g := l.gather(); len(g.settled) != commits {
			t.Errorf("a group of %d, want %d", len(g.settled), commits)
		}
		if l.crowd.expected != expected {
			t.Errorf("after %d commits %d are expected, want %d", commits, l.crowd.expected, expected)
		}
		if g := l.gather(); g != nil || l.crowd.running {
			t.Errorf("a group of %d is left, running %v", len(g.settled), l.crowd.running)
		}
	}
	step(1, 1)
	step(4, 4)
	step(4, 4)
	step(1, 2)
	step(1, 1)
	step(1, 1)

	// What joins while others are synced was under way together with them.
	l.mu.Lock()
	l.crowd.running = true
	l.join(func(error) {})
	l.mu.Unlock()
	l.gather()
	l.mu.Lock()
	l.join(func(error) {})
	l.mu.Unlock()
	if l.crowd.expected != 2 {
		t.Errorf("%d expected of two under way, want 2", l.crowd.expected)
	}
	l.gather()
	l.gather()
}
