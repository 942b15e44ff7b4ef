package pebble

import (
	"fmt"
	"time"

	engine "github.com/cockroachdb/pebble/v2"
)

// linger is how long a group waits for commits that it expects, at most.
const linger = time.Millisecond

// group is commits that are made durable by one sync, which costs more than what
// it writes. While one group is synced the next one forms.
type group struct {
	settled []func(error)
	full    chan struct{} // holds something when as many have joined as are expected
	done    chan struct{} // closed when it is durable, or has failed
	err     error         // set before done is closed
}

// crowd gathers commits into groups. Clients that wait for their answers come
// back together: a group waits for as many as were under way at once lately,
// and so costs one sync for all of them instead of one for each.
type crowd struct {
	next     *group // that commits join, or nil
	synced   int    // commits of the group that is being synced
	expected int    // commits that were under way at once lately
	running  bool   // a goroutine syncs the groups
}

// join adds a commit, which has been applied, to the next group. l.mu is held.
func (l *Log) join(settled func(error)) *group {
	c := &l.crowd
	if c.next == nil {
		c.next = &group{full: make(chan struct{}, 1), done: make(chan struct{})}
	}
	g := c.next
	g.settled = append(g.settled, settled)
	c.expected = max(c.expected, len(g.settled)+c.synced)
	if len(g.settled) == c.expected {
		select {
		case g.full <- struct{}{}:
		default:
		}
	}
	if !c.running {
		c.running = true
		l.syncs.Go(l.syncGroups)
	}
	return g
}

// syncGroups makes groups durable, one after another, until there is none.
func (l *Log) syncGroups() {
	for g := l.gather(); g != nil; g = l.gather() {
		// The sync covers all that was applied before; a log file that was ended
		// in between has been synced by the engine.
		if g.err = l.db.LogData(nil, engine.Sync); g.err != nil {
			g.err = fmt.Errorf("sync: %w", g.err)
			l.fail(g.err)
		}
		for _, settled := range g.settled {
			settled(g.err)
		}
		close(g.done)
	}
}

// gather waits until the next group has all that is expected, or long enough,
// and closes it to others.
func (l *Log) gather() *group {
	c := &l.crowd
	l.mu.Lock()
	defer l.mu.Unlock()
	c.synced = 0
	g := c.next
	if g == nil {
		c.running = false
		return nil
	}
	if len(g.settled) < c.expected {
		l.mu.Unlock()
		timer := time.NewTimer(linger)
		select {
		case <-g.full:
		case <-timer.C:
		}
		timer.Stop()
		l.mu.Lock()
	}
	if n := len(g.settled); n < c.expected {
		c.expected = (c.expected + n) / 2
	}
	c.next, c.synced = nil, len(g.settled)
	return g
}
