package warm_test

import (
	"context"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/warm"
)

// asked is a computation under way, of which the test says when it ends.
type asked struct {
	leave   context.CancelFunc // its caller gives up
	left    chan error         // what the caller got
	called  chan struct{}      // it was called off
	release chan struct{}
}

// begin begins a computation that waits for its release, and waits until it has begun.
func begin(t *testing.T, c *warm.Cache[string], key string, patience warm.Patience) *asked {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	a := &asked{leave: cancel, left: make(chan error, 1), called: make(chan struct{}), release: make(chan struct{})}
	begun := make(chan struct{})
	go func() {
		_, err := c.Get(ctx, key, patience, func(ctx context.Context) (string, error) {
			close(begun)
			select {
			case <-a.release:
				return "value of " + key, nil
			case <-ctx.Done():
				close(a.called)
				return "", ctx.Err()
			}
		})
		a.left <- err
	}()
	<-begun
	return a
}

// giveUp ends the patience of the caller.
func (a *asked) giveUp() {
	a.leave()
	<-a.left
}

func TestPatience(t *testing.T) {
	t.Parallel()
	c := warm.NewCache(1<<20, 0, func(key, v string) int64 { return int64(len(key) + len(v)) })
	defer c.Close()
	never := func(context.Context) (string, error) {
		t.Error("computed again")
		return "", nil
	}

	awaited := begin(t, c, "awaited", warm.Awaited)
	awaited.giveUp()
	<-awaited.called

	kept := begin(t, c, "kept", warm.Kept)
	kept.giveUp()
	first := begin(t, c, "first", warm.Lingering)
	first.giveUp()
	second := begin(t, c, "second", warm.Lingering)
	second.giveUp()
	<-first.called // one lingers at a time, the newest

	close(second.release)
	close(kept.release)
	for _, key := range []string{"second", "kept"} { // a later caller finds them where they are
		if got, err := c.Get(t.Context(), key, warm.Awaited, never); err != nil || got != "value of "+key {
			t.Errorf("%s: %q, %v", key, got, err)
		}
	}
}

// A computation that is awaited again lingers no more: it is not called off for another.
func TestAwaitedAgain(t *testing.T) {
	t.Parallel()
	c := warm.NewCache(1<<20, 0, func(key, v string) int64 { return int64(len(key) + len(v)) })
	defer c.Close()
	first := begin(t, c, "first", warm.Lingering)
	first.giveUp()
	again := make(chan string, 1)
	ready := make(chan struct{})
	go func() {
		close(ready)
		got, _ := c.Get(t.Context(), "first", warm.Lingering, func(context.Context) (string, error) { return "computed again", nil })
		again <- got
	}()
	<-ready
	second := begin(t, c, "second", warm.Lingering)
	close(first.release)
	if got := <-again; got != "value of first" {
		t.Errorf("the first gives %q", got)
	}
	second.giveUp()
}
