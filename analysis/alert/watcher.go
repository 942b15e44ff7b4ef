package alert

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/live"
)

// Live is a run that goes on.
type Live struct {
	ID, Name string
	Revision uint64
}

// Runs is where a watcher finds the runs that go on. Its methods may be called
// concurrently.
type Runs interface {
	// Live lists the runs that go on and have data.
	Live() []Live
	// Open gives what was kept of a run at a place or later.
	Open(ctx context.Context, id string, place uint64) (fold.Evidence, error)
	// Judge returns the verdict on a run as it is kept now.
	Judge(ctx context.Context, id string) (*wire.Verdict, error)
}

// Config is what a watcher does with what it finds.
type Config struct {
	JudgeEvery time.Duration // least time between two verdicts on a run that goes on
	Looks      int           // runs looked at, or judged, at once
	Now        func() time.Time
	Log        *slog.Logger
	// Raised is called when an alert of a run that goes on begins to fire, beside
	// the book; nil for nothing. It must not block.
	Raised func(Alert)
}

// share is how many times longer than it took a verdict or a look at a run that
// goes on is left standing, so that each takes a fortieth of a processor at most:
// intake comes first, and the generator before both.
const share = 40

// Watcher follows the runs that go on.
type Watcher struct {
	cfg  Config
	runs Runs
	book *Book

	slots chan struct{}
	tasks sync.WaitGroup

	mu       sync.Mutex
	followed map[string]*followed
}

// followed is a run that goes on, or ended less than Hold ago. Its fields are
// guarded by Watcher.mu, but for look, which belongs to the task at work.
type followed struct {
	run      Run
	look     *fold.Look
	revision uint64 // looked at last
	seen     bool   // looked at once
	looking  bool
	lookAt   time.Time // not before
	judging  bool
	judgeAt  time.Time
	doubted  map[string]bool // alerts that the last verdict called for
	ended    bool
	until    time.Time // when an ended run is let go
	status   Status
}

// Status is what is known of a run now.
type Status struct {
	Run     Run
	Now     fold.Now
	Verdict *wire.Verdict // the last one; nil before the first
	Ended   bool
}

// NewWatcher returns a watcher that writes into the book.
func NewWatcher(cfg Config, runs Runs, book *Book) *Watcher {
	return &Watcher{
		cfg: cfg, runs: runs, book: book, slots: make(chan struct{}, max(1, cfg.Looks)), followed: map[string]*followed{},
	}
}

// Book returns the book that the watcher writes into.
func (w *Watcher) Book() *Book { return w.book }

// Tick looks at every run that has changed, without waiting for it. Call it
// about twice a second, from one goroutine.
func (w *Watcher) Tick(ctx context.Context) {
	now := w.cfg.Now()
	on := map[string]bool{}
	for _, l := range w.runs.Live() {
		on[l.ID] = true
		w.follow(ctx, l, now)
	}
	w.mu.Lock()
	for id, f := range w.followed {
		switch {
		case on[id]:
		case !f.ended && !f.looking && !f.judging:
			w.finish(ctx, id, f)
		case f.ended && now.After(f.until):
			delete(w.followed, id)
		}
	}
	w.mu.Unlock()
	w.warn("alerts that were to end", w.book.Expire(now))
}

// Wait waits for what Tick began.
func (w *Watcher) Wait() { w.tasks.Wait() }

func (w *Watcher) warn(what string, err error) {
	if err != nil {
		w.cfg.Log.Error("alerts were not kept", "what", what, "error", err)
	}
}

// follow starts a look at a run, and a verdict when it is due.
func (w *Watcher) follow(ctx context.Context, l Live, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.followed[l.ID]
	if f == nil {
		open := func(ctx context.Context, place uint64) (fold.Evidence, error) { return w.runs.Open(ctx, l.ID, place) }
		f = &followed{look: fold.NewLook(open), judgeAt: now.Add(w.cfg.JudgeEvery), run: Run{ID: l.ID, Name: l.Name}}
		w.followed[l.ID] = f
		w.warn("those of earlier runs", w.book.Supersede(l.Name, l.ID, now))
	}
	f.run.Name = l.Name
	if f.ended {
		f.ended, f.status.Ended = false, false
		w.warn("those of a run that goes on", w.book.Reopened(l.ID))
	}
	if !f.looking && f.revision != l.Revision && !now.Before(f.lookAt) {
		f.looking = true
		w.task(ctx, func() { w.lookAt(ctx, f, l.Revision) })
	}
	if !f.judging && f.seen && !now.Before(f.judgeAt) {
		f.judging = true
		w.task(ctx, func() { w.judge(ctx, f) })
	}
}

// task runs fn when a slot is free.
func (w *Watcher) task(ctx context.Context, fn func()) {
	w.tasks.Go(func() {
		select {
		case w.slots <- struct{}{}:
			defer func() { <-w.slots }()
		case <-ctx.Done():
		}
		fn()
	})
}

// lookAt updates the look at a run and tells the book whether it is unstable.
func (w *Watcher) lookAt(ctx context.Context, f *followed, revision uint64) {
	begin := w.cfg.Now()
	got, err := f.look.Update(ctx)
	end := w.cfg.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	f.looking = false
	f.lookAt = end.Add(share * end.Sub(begin))
	if err != nil {
		if ctx.Err() == nil {
			w.cfg.Log.Warn("run was not looked at", "run", f.run.ID, "error", err)
		}
		return
	}
	if f.seen = true; !got.Behind {
		f.revision = revision
	}
	f.run.Scenario = got.Scenario
	f.status.Run, f.status.Now = f.run, got
	w.tell(f, []string{Unstable}, Seen(f.run, &got))
}

// judge has a run that goes on judged, and tells the book what two verdicts in a
// row call for.
func (w *Watcher) judge(ctx context.Context, f *followed) {
	begin := w.cfg.Now()
	v, err := w.runs.Judge(ctx, f.run.ID)
	end := w.cfg.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	f.judging = false
	f.judgeAt = end.Add(max(w.cfg.JudgeEvery, share*end.Sub(begin)))
	if err != nil {
		if ctx.Err() == nil {
			w.cfg.Log.Warn("run was not judged", "run", f.run.ID, "error", err)
		}
		return
	}
	f.status.Verdict = v
	var sure []Alert
	doubted := map[string]bool{}
	for _, a := range Judged(f.run, v) {
		k := key(a.Labels, f.run.ID)
		doubted[k] = true
		if f.doubted[k] || w.book.fires(k) {
			sure = append(sure, a)
		}
	}
	f.doubted = doubted
	w.tell(f, []string{GeneratorInvalid, GoodputLow, NotRecovered}, sure)
}

// finish judges a run that has ended. The caller holds mu.
func (w *Watcher) finish(ctx context.Context, id string, f *followed) {
	f.judging = true
	w.task(ctx, func() {
		v, err := w.runs.Judge(ctx, id)
		if ctx.Err() != nil {
			return
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		f.judging, f.ended = false, true
		now := w.cfg.Now()
		f.until = now.Add(Hold)
		f.status.Ended = true
		if err == nil {
			f.status.Verdict = v
			w.tell(f, []string{Unstable, GeneratorInvalid, GoodputLow, NotRecovered}, Judged(f.run, v))
		} else { // deleted, most likely: that nobody looked is no news, and what fires goes on
			w.cfg.Log.Warn("ended run was not judged", "run", id, "error", err)
		}
		w.warn("those of a run that ended", w.book.Ended(id, f.until))
	})
}

// tell tells the book. The caller holds mu.
func (w *Watcher) tell(f *followed, names []string, hold []Alert) {
	began, err := w.book.Tell(f.run.ID, names, hold, w.cfg.Now())
	w.warn("those of run "+f.run.ID, err)
	if w.cfg.Raised != nil && !f.ended {
		for _, a := range began {
			w.cfg.Raised(a)
		}
	}
}

// Statuses returns what is known of the runs that go on, or ended less than Hold
// ago, in no order.
func (w *Watcher) Statuses() []Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]Status, 0, len(w.followed))
	for _, f := range w.followed {
		if f.seen {
			out = append(out, f.status)
		}
	}
	return out
}

// Watching reports how a run is watched: the state of its watch, for a run that
// is followed.
func (w *Watcher) Watching(id string) (now fold.Now, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.followed[id]
	if f == nil || !f.seen {
		return fold.Now{}, false
	}
	return f.status.Now, true
}

// Unstable reports whether the backlog of a run that goes on grows.
func (s *Status) Unstable() bool { return !s.Ended && s.Now.State == live.Unstable }
