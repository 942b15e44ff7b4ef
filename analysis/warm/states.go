package warm

import (
	"context"
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/query"
)

// Fold folds the evidence of a run into its state: fold.Build, or something
// that remembers what it built.
type Fold func(ctx context.Context, ev fold.Evidence, opt query.Options) (*fold.State, error)

// States keeps the folded states of the runs that were asked for last. A state
// is shared by all who ask and must not be changed.
//
// Folding a run that goes on anew at every look would cost more the longer it
// lasts. What took more than half a second to fold is therefore shown for ten
// times as long before it is folded again, so that looking takes a tenth of a
// processor at most; its Run.Revision says how old it is. A finished run is
// always judged on all of its rows.
type States struct {
	fold  Fold
	now   func() time.Time
	cache *Cache[*fold.State]

	mu    sync.Mutex
	last  map[string]string    // key of the newest state, by question
	going map[string]*look     // runs that go on, by question
	under map[string]*progress // runs that are being folded, by id
}

// look is the last state of a run that goes on.
type look struct {
	state *fold.State
	fresh time.Time // until then it is shown as it is
}

// patience bounds how old a look at a run that goes on may be: slowLook is the
// time to fold from which on it is kept, and lookShare times as long.
const (
	slowLook  = 500 * time.Millisecond
	lookShare = 10
)

// NewStates returns a memory of so many bytes for states made by fold.
func NewStates(f Fold, budget int64, now func() time.Time) *States {
	return &States{
		fold: f, now: now, going: map[string]*look{}, last: map[string]string{}, under: map[string]*progress{},
		cache: NewCache(budget, 0, func(key string, st *fold.State) int64 { return int64(st.Size() + len(key)) }),
	}
}

// Of returns the state of a run as narrowed by the options. It satisfies Fold.
func (s *States) Of(ctx context.Context, ev fold.Evidence, opt query.Options) (*fold.State, error) {
	run := ev.Run()
	part := run.ID + "\x00" + question(opt)
	if !run.Finished {
		if st := s.recent(part); st != nil {
			return st, nil
		}
	}
	key := part + "\x00" + strconv.FormatUint(run.Revision, 10) + strconv.FormatBool(run.Finished)
	return s.cache.Get(ctx, key, Awaited, func(ctx context.Context) (*fold.State, error) {
		begin := s.now()
		p, done := s.follow(ev)
		defer done()
		st, err := s.fold(ctx, p, opt)
		if err == nil {
			s.note(part, st, begin)
			s.succeed(part, key)
		}
		return st, err
	})
}

// mostQuestions bounds the questions whose newest state is remembered.
const mostQuestions = 10_000

// succeed lets go of the state before, which nobody asks for any more.
func (s *States) succeed(part, key string) {
	s.mu.Lock()
	if len(s.last) > mostQuestions { // what is not let go of here leaves by its age
		clear(s.last)
	}
	before := s.last[part]
	s.last[part] = key
	s.mu.Unlock()
	if before != "" && before != key {
		s.cache.Forget(before)
	}
}

// question is the part of the options that the fold depends on.
func question(opt query.Options) string {
	opt.Objectives, opt.MaxPoints, opt.Names, opt.Steps = nil, 0, nil, nil
	text, _ := json.Marshal(opt) // pointers to numbers, times and text: it cannot fail
	return string(text)
}

func (s *States) recent(part string) *fold.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.going[part]; l != nil && s.now().Before(l.fresh) {
		return l.state
	}
	return nil
}

// note remembers a slow look at a run that goes on.
func (s *States) note(part string, st *fold.State, begin time.Time) {
	end := s.now()
	took := end.Sub(begin)
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, l := range s.going {
		if end.After(l.fresh) {
			delete(s.going, k)
		}
	}
	if !st.Run.Finished && took > slowLook {
		s.going[part] = &look{st, end.Add(lookShare * took)}
	}
}

// Forget drops all states of a run.
func (s *States) Forget(id string) {
	s.cache.Forget(id + "\x00")
	s.mu.Lock()
	defer s.mu.Unlock()
	of := func(part string) bool { return strings.HasPrefix(part, id+"\x00") }
	maps.DeleteFunc(s.going, func(part string, _ *look) bool { return of(part) })
	maps.DeleteFunc(s.last, func(part, _ string) bool { return of(part) })
}

// Used returns the bytes that the states take.
func (s *States) Used() int64 { return s.cache.Used() }

// Close calls off what is being folded and waits for it.
func (s *States) Close() { s.cache.Close() }
