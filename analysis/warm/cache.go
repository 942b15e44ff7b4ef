package warm

import (
	"container/list"
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
)

// Patience says what becomes of a computation when the last caller has gone.
type Patience int

// Patience of computations that are shared keeps to the longest.
const (
	Awaited   Patience = iota // it is called off
	Lingering                 // it goes on for a later caller, until another one lingers
	Kept                      // it goes on
)

// Cache remembers values that were computed, within a budget of bytes, oldest
// use out first. Callers with the same question share one computation, and only so
// many run at once.
type Cache[V any] struct {
	ctx   context.Context // ends when the cache is closed
	stop  context.CancelFunc
	slots chan struct{} // nil where any number may run
	cost  func(key string, v V) int64
	wg    sync.WaitGroup

	mu      sync.Mutex
	budget  int64
	used    int64
	order   *list.List // of *kept[V], most recently used first
	byKey   map[string]*list.Element
	flights map[string]*flight[V]
	lingers *flight[V] // goes on though nobody waits, until another does
}

type kept[V any] struct {
	key   string
	cost  int64
	value V
}

// flight is a computation under way. Its fields but done are guarded by
// Cache.mu until done is closed.
type flight[V any] struct {
	key      string
	done     chan struct{}
	cancel   context.CancelFunc
	waiters  int
	patience Patience
	stale    bool // forgotten meanwhile; do not keep the value
	value    V
	err      error
}

// PanicError is a panic of a computation, brought back to the caller.
type PanicError struct {
	Value any
	Stack []byte
}

// Error implements error.
func (p *PanicError) Error() string { return fmt.Sprintf("panic: %v\n%s", p.Value, p.Stack) }

// NewCache returns an empty cache of so many bytes, by the cost of values, that
// computes so many values at once; atOnce 0 sets no bound.
func NewCache[V any](budget int64, atOnce int, cost func(key string, v V) int64) *Cache[V] {
	ctx, stop := context.WithCancel(context.Background()) //nolint:gosec // Close calls it
	c := &Cache[V]{
		ctx: ctx, stop: stop, cost: cost, budget: budget, order: list.New(),
		byKey: map[string]*list.Element{}, flights: map[string]*flight[V]{},
	}
	if atOnce > 0 {
		c.slots = make(chan struct{}, atOnce)
	}
	return c
}

// Close calls off what is under way and waits for it.
func (c *Cache[V]) Close() {
	c.stop()
	c.wg.Wait()
}

// Peek returns a value if it is remembered.
func (c *Cache[V]) Peek(key string) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lookup(key)
}

func (c *Cache[V]) lookup(key string) (v V, ok bool) {
	e, ok := c.byKey[key]
	if !ok {
		return v, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*kept[V]).value, true
}

// Get returns the value of the key, computing it when it is not remembered.
func (c *Cache[V]) Get(ctx context.Context, key string, patience Patience, compute func(context.Context) (V, error)) (v V, err error) {
	c.mu.Lock()
	if got, ok := c.lookup(key); ok {
		c.mu.Unlock()
		return got, nil
	}
	f, ok := c.flights[key]
	if !ok {
		if c.ctx.Err() != nil {
			c.mu.Unlock()
			return v, context.Canceled
		}
		runCtx, cancel := context.WithCancel(c.ctx) //nolint:gosec // fly calls it when it has ended
		f = &flight[V]{key: key, done: make(chan struct{}), cancel: cancel}
		c.flights[key] = f
		c.wg.Go(func() { c.fly(runCtx, key, f, compute) })
	}
	f.waiters++
	f.patience = max(f.patience, patience)
	if c.lingers == f {
		c.lingers = nil
	}
	c.mu.Unlock()

	select {
	case <-f.done:
		return f.value, f.err
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.waiters--; f.waiters == 0 {
		c.leave(f)
	}
	return v, ctx.Err()
}

// leave decides what becomes of a computation that nobody waits for.
func (c *Cache[V]) leave(f *flight[V]) {
	if f.patience == Kept {
		return
	}
	if f.patience == Lingering && c.flights[f.key] == f { // not over, nor forgotten
		f, c.lingers = c.lingers, f
	}
	if f == nil {
		return
	}
	f.cancel()
	if c.flights[f.key] == f { // a later caller starts afresh
		delete(c.flights, f.key)
	}
}

// fly runs one computation, when its turn has come.
func (c *Cache[V]) fly(ctx context.Context, key string, f *flight[V], compute func(context.Context) (V, error)) {
	defer f.cancel()
	got, err := c.run(ctx, compute)
	c.mu.Lock()
	defer c.mu.Unlock()
	f.value, f.err = got, err
	if c.lingers == f {
		c.lingers = nil
	}
	if c.flights[key] == f {
		delete(c.flights, key)
	}
	if err == nil && !f.stale {
		c.keep(key, got)
	}
	close(f.done)
}

func (c *Cache[V]) run(ctx context.Context, compute func(context.Context) (V, error)) (got V, err error) {
	if c.slots != nil {
		select {
		case c.slots <- struct{}{}:
			defer func() { <-c.slots }()
		case <-ctx.Done():
			return got, ctx.Err()
		}
	}
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{v, debug.Stack()}
		}
	}()
	return compute(ctx)
}

// keep remembers a value.
func (c *Cache[V]) keep(key string, got V) {
	cost := c.cost(key, got)
	if e, ok := c.byKey[key]; ok {
		c.drop(e)
	}
	if cost > c.budget {
		return
	}
	for c.used+cost > c.budget {
		c.drop(c.order.Back())
	}
	c.used += cost
	c.byKey[key] = c.order.PushFront(&kept[V]{key, cost, got})
}

func (c *Cache[V]) drop(e *list.Element) {
	k := e.Value.(*kept[V])
	c.used -= k.cost
	delete(c.byKey, k.key)
	c.order.Remove(e)
}

// Forget drops all values whose keys begin with prefix, also those under way.
func (c *Cache[V]) Forget(prefix string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, e := range c.byKey {
		if strings.HasPrefix(key, prefix) {
			c.drop(e)
		}
	}
	for key, f := range c.flights {
		if strings.HasPrefix(key, prefix) {
			f.stale = true
			delete(c.flights, key)
		}
	}
}

// Busy returns how many computations are under way, where that is bounded.
func (c *Cache[V]) Busy() int { return len(c.slots) }

// Used returns the bytes that the values take, by their cost.
func (c *Cache[V]) Used() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used
}
