package service

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// verdict is what became of an order.
type verdict uint8

const (
	served  verdict = iota
	expired         // its deadline passed, or its client left, before its turn
	shed            // the queue was full
	stopped         // the service shut down first
)

// order is one piece of work.
type order struct {
	ctx      context.Context // of the client; only looked at when expired orders are dropped
	arrived  time.Time
	deadline time.Time // zero when the client stated none
	done     chan verdict
}

// pool serves orders first come, first served, in a fixed number of slots.
type pool struct {
	cfg  Config
	stop chan struct{}
	wg   sync.WaitGroup

	mu      sync.Mutex
	ready   *sync.Cond // queue is not empty, or closed
	rng     *rand.Rand
	queue   []*order
	busy    int
	closed  bool
	deepest int
}

func newPool(cfg Config) *pool {
	p := &pool{cfg: cfg, stop: make(chan struct{}), rng: rand.New(rand.NewPCG(cfg.Seed, 0))}
	p.ready = sync.NewCond(&p.mu)
	for range cfg.Slots {
		p.wg.Go(p.slot)
	}
	return p
}

// submit queues the order. Its verdict arrives on done, at once when it is refused.
func (p *pool) submit(o *order) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		o.done <- stopped
	case p.cfg.QueueLimit > 0 && len(p.queue) >= p.cfg.QueueLimit:
		o.done <- shed
	default:
		p.queue = append(p.queue, o)
		p.deepest = max(p.deepest, len(p.queue))
		p.ready.Signal()
	}
}

// slot serves one order after another. A slot that has just finished takes the
// next order as of the moment when it was due to finish, not when its timer
// woke it: the capacity is slots / service time exactly, whatever the machine's
// timers do.
func (p *pool) slot() {
	var free time.Time
	for {
		o, need := p.next()
		if o == nil {
			return
		}
		begin := o.arrived
		if free.After(begin) {
			begin = free
		}
		if p.cfg.DropExpired && o.hopeless(begin) {
			p.release()
			o.done <- expired
			continue
		}
		free = begin.Add(need)
		ok := p.sleepUntil(free)
		p.release()
		if !ok {
			o.done <- stopped
			return
		}
		o.done <- served
	}
}

// next waits for an order and occupies a slot with it; nil when the pool closes.
func (p *pool) next() (*order, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.queue) == 0 && !p.closed {
		p.ready.Wait()
	}
	if p.closed {
		return nil, 0
	}
	o := p.queue[0]
	p.queue[0] = nil
	p.queue = p.queue[1:]
	p.busy++
	factor := 1 + p.cfg.Jitter*(2*p.rng.Float64()-1)
	return o, time.Duration(float64(p.cfg.ServiceTime) * factor)
}

func (p *pool) release() {
	p.mu.Lock()
	p.busy--
	p.mu.Unlock()
}

func (p *pool) sleepUntil(t time.Time) bool {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.stop:
		return false
	}
}

// hopeless says that nobody will take the answer any more.
func (o *order) hopeless(now time.Time) bool {
	return o.ctx.Err() != nil || (!o.deadline.IsZero() && now.After(o.deadline))
}

// load returns the orders waiting, the slots busy and the longest queue so far.
func (p *pool) load() (waiting, busy, deepest int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.queue), p.busy, p.deepest
}

// close stops all slots and answers every waiting order.
func (p *pool) close() {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.closed = true
	rest := p.queue
	p.queue = nil
	close(p.stop)
	p.ready.Broadcast()
	p.mu.Unlock()
	for _, o := range rest {
		o.done <- stopped
	}
	p.wg.Wait()
}
