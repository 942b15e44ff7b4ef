package fold

// recent remembers the keys that were added last, at least generation and at
// most twice as many of them.
type recent struct{ young, old map[uint64]struct{} }

const generation = 1 << 16

func (r *recent) add(key uint64) {
	if len(r.young) >= generation {
		r.old, r.young = r.young, nil
	}
	if r.young == nil {
		r.young = map[uint64]struct{}{}
	}
	r.young[key] = struct{}{}
}

func (r *recent) holds(key uint64) bool {
	if _, ok := r.young[key]; ok {
		return true
	}
	_, ok := r.old[key]
	return ok
}
