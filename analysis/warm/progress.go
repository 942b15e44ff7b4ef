package warm

import (
	"context"
	"sync/atomic"

	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// passes is how often an ordinary fold reads each row: to find the extent of the
// run, and to fill its steps.
const passes = 2

// progress is evidence that counts what is read of it.
type progress struct {
	fold.Evidence
	rows int64
	read atomic.Int64
}

func newProgress(ev fold.Evidence) *progress {
	p := &progress{Evidence: ev}
	for _, e := range ev.Entries() {
		p.rows += int64(e.Rows)
	}
	return p
}

// Read implements fold.Evidence.
func (p *progress) Read(ctx context.Context, at []int, fn func(i int, b *sample.Batch) error) error {
	return p.Evidence.Read(ctx, at, func(i int, b *sample.Batch) error {
		p.read.Add(int64(b.Len()))
		return fn(i, b)
	})
}

// share is about how much of the fold is done, below 1.
func (p *progress) share() float64 {
	if p.rows == 0 {
		return 0
	}
	return min(0.99, float64(p.read.Load())/float64(passes*p.rows))
}

// Progress returns about which share of a run has been folded, and whether it is
// being folded at all.
func (s *States) Progress(id string) (share float64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.under[id]
	if p == nil {
		return 0, false
	}
	return p.share(), true
}

// follow makes the progress of a fold visible until done is called.
func (s *States) follow(ev fold.Evidence) (p *progress, done func()) {
	p = newProgress(ev)
	id := ev.Run().ID
	s.mu.Lock()
	s.under[id] = p
	s.mu.Unlock()
	return p, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.under[id] == p {
			delete(s.under, id)
		}
	}
}
