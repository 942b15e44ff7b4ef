package runs

// watcher is one call of Watch.
type watcher struct{ ch chan struct{} }

// wake never waits: a watcher that has not looked yet has one wake-up pending,
// and one is enough.
func (w *watcher) wake() {
	select {
	case w.ch <- struct{}{}:
	default:
	}
}

// Watch returns a channel that receives after changes of the run with the id,
// also when the run does not exist yet or is deleted. Several changes may give
// one wake-up. Silence finishes a run without one: see Info.QuietAt. The caller
// must call cancel.
func (c *Catalogue) Watch(id string) (woken <-chan struct{}, cancel func()) {
	w := &watcher{ch: make(chan struct{}, 1)}
	c.mu.Lock()
	defer c.mu.Unlock()
	name := runPrefix + id
	if r := c.lookup(id); r != nil {
		name = r.s.name
	}
	if c.watchers[name] == nil {
		c.watchers[name] = map[*watcher]struct{}{}
	}
	c.watchers[name][w] = struct{}{}
	return w.ch, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.watchers[name], w)
		if len(c.watchers[name]) == 0 {
			delete(c.watchers, name)
		}
	}
}
