package generator

import "sync"

// budget bounds retries to a share of requests: each request earns share of a
// retry, each retry costs one, and at most ten are saved up. It is what keeps a
// slow server from being sent three times its load.
type budget struct {
	share float64 // 0: unlimited

	mu     sync.Mutex
	earned float64
}

const maxSaved = 10

func (b *budget) request() {
	b.mu.Lock()
	b.earned = min(maxSaved, b.earned+b.share)
	b.mu.Unlock()
}

func (b *budget) take() bool {
	if b.share == 0 {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	// A hair of tolerance: ten tenths do not add up to one in binary.
	if b.earned < 1-1e-9 {
		return false
	}
	b.earned--
	return true
}
