package api

import (
	"container/list"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
)

// answer is a computed value and its encoding.
type answer struct {
	value any
	body  []byte
}

// answers remembers what was computed, within a budget of bytes, oldest use
// out first. Callers with the same question share one computation; it is
// called off when the last of them has gone, and only so many run at once.
type answers struct {
	ctx   context.Context // ends when the server closes
	stop  context.CancelFunc
	slots chan struct{}
	wg    sync.WaitGroup

	mu      sync.Mutex
	budget  int64
	used    int64
	order   *list.List // of *kept, most recently used first
	byKey   map[string]*list.Element
	flights map[string]*flight
}

type kept struct {
	key  string
	cost int64
	answer
}

// flight is a computation under way. Its fields but done are guarded by
// answers.mu until done is closed.
type flight struct {
	done    chan struct{}
	cancel  context.CancelFunc
	waiters int
	sticky  bool // goes on without waiters
	stale   bool // the run was deleted; do not keep the answer
	answer  answer
	err     error
}

// panicError is a panic of a computation, brought back to the caller.
type panicError struct {
	value any
	stack []byte
}

func (p *panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", p.value, p.stack) }

func newAnswers(budget int64, atOnce int) *answers {
	ctx, stop := context.WithCancel(context.Background())
	return &answers{
		ctx: ctx, stop: stop, slots: make(chan struct{}, atOnce), budget: budget, order: list.New(),
		byKey: map[string]*list.Element{}, flights: map[string]*flight{},
	}
}

// close calls off what is under way and waits for it.
func (a *answers) close() {
	a.stop()
	a.wg.Wait()
}

// peek returns an answer if it is remembered.
func (a *answers) peek(key string) (answer, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lookup(key)
}

func (a *answers) lookup(key string) (answer, bool) {
	e, ok := a.byKey[key]
	if !ok {
		return answer{}, false
	}
	a.order.MoveToFront(e)
	return e.Value.(*kept).answer, true
}

// get returns the answer of the key, computing it when it is not remembered. A
// sticky computation goes on when ctx ends, for a later caller.
func (a *answers) get(ctx context.Context, key string, sticky bool, compute func(context.Context) (any, error)) (answer, error) {
	a.mu.Lock()
	if got, ok := a.lookup(key); ok {
		a.mu.Unlock()
		return got, nil
	}
	f, ok := a.flights[key]
	if !ok {
		if a.ctx.Err() != nil {
			a.mu.Unlock()
			return answer{}, context.Canceled
		}
		runCtx, cancel := context.WithCancel(a.ctx)
		f = &flight{done: make(chan struct{}), cancel: cancel}
		a.flights[key] = f
		a.wg.Go(func() { a.fly(runCtx, key, f, compute) })
	}
	f.waiters++
	f.sticky = f.sticky || sticky
	a.mu.Unlock()

	select {
	case <-f.done:
		return f.answer, f.err
	case <-ctx.Done():
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if f.waiters--; f.waiters == 0 && !f.sticky {
		f.cancel()
		if a.flights[key] == f { // a later caller starts afresh
			delete(a.flights, key)
		}
	}
	return answer{}, ctx.Err()
}

// fly runs one computation, when its turn has come.
func (a *answers) fly(ctx context.Context, key string, f *flight, compute func(context.Context) (any, error)) {
	defer f.cancel()
	got, err := a.run(ctx, compute)
	a.mu.Lock()
	defer a.mu.Unlock()
	f.answer, f.err = got, err
	if a.flights[key] == f {
		delete(a.flights, key)
	}
	if err == nil && !f.stale {
		a.keep(key, got)
	}
	close(f.done)
}

func (a *answers) run(ctx context.Context, compute func(context.Context) (any, error)) (got answer, err error) {
	select {
	case a.slots <- struct{}{}:
		defer func() { <-a.slots }()
	case <-ctx.Done():
		return got, ctx.Err()
	}
	defer func() {
		if v := recover(); v != nil {
			err = &panicError{v, debug.Stack()}
		}
	}()
	value, err := compute(ctx)
	if err != nil {
		return got, err
	}
	body, err := json.Marshal(value)
	if err != nil {
		return got, fmt.Errorf("encode answer: %w", err)
	}
	return answer{value, append(body, '\n')}, nil
}

// keep remembers an answer. A decoded document takes about twice its encoding.
func (a *answers) keep(key string, got answer) {
	cost := int64(3*len(got.body) + len(key))
	if e, ok := a.byKey[key]; ok {
		a.drop(e)
	}
	if cost > a.budget {
		return
	}
	for a.used+cost > a.budget {
		a.drop(a.order.Back())
	}
	a.used += cost
	a.byKey[key] = a.order.PushFront(&kept{key, cost, got})
}

func (a *answers) drop(e *list.Element) {
	k := e.Value.(*kept)
	a.used -= k.cost
	delete(a.byKey, k.key)
	a.order.Remove(e)
}

// forget drops all answers about a run, also those under way.
func (a *answers) forget(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	prefix := id + "\x00"
	for key, e := range a.byKey {
		if strings.HasPrefix(key, prefix) {
			a.drop(e)
		}
	}
	for key, f := range a.flights {
		if strings.HasPrefix(key, prefix) {
			f.stale = true
			delete(a.flights, key)
		}
	}
}
