package fold

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/live"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Open gives the evidence of a run that was kept at a place or later.
type Open func(ctx context.Context, place uint64) (Evidence, error)

// Look follows one run while it goes on. Each Update reads what was kept since
// the one before and looks at every second of event time that it completes, so
// that a look costs what came since and not what the run has come to. What it
// raises is what the fold of the finished run finds again, as long as the rows
// came in time.
//
// It is not safe for concurrent use.
type Look struct {
	open    Open
	f       *folder
	place   uint64 // what was kept before it has been read
	alarms  *alarms
	kind    live.Kind // of the watch; meaningless while there is none
	origins map[*stream]int64
	start   int64
	parents recent // spans that enclose another client span
	blank   blank
	divided divided
	now     Now
}

// Now is what a look knows of a run.
type Now struct {
	Run      Run
	Scenario string // the only one of the run; empty when there are none or several
	Start    int64  // of the declared schedule as far as is known, else the first request due, Unix ns
	Behind   bool   // more was kept than has been read
	Newest   int64  // latest end of a request, Unix ns; 0 when there are no rows
	Requests int64  // requests that ended; attempts after the first left out
	Outcomes [sample.Outcomes]int64
	Good     int64 // of those, answered within their deadlines
	Judged   int64 // of those, had a deadline
	Dropped  int64 // arrivals that the generator dropped
	InFlight int64 // at the last look; 0 where nothing is watched
	Watched  bool  // arrivals follow a schedule that can be watched
	Kind     live.Kind
	State    live.State
	Events   []live.Event // since the run began, in order of time
}

// NewLook returns a look at a run of which nothing is known yet.
func NewLook(open Open) *Look { return &Look{open: open} }

// errAgain says that what was found out so far does not hold: the run must be
// read again from its beginning.
var errAgain = errors.New("read again")

// mostRows is about how many rows one Update reads: what is left is read by the
// next, so that a look never takes long.
const mostRows = 1 << 16

// Update reads what was kept since the last Update, or a part of it: Now.Behind
// says so.
func (l *Look) Update(ctx context.Context) (Now, error) {
	err := l.update(ctx)
	for range 3 {
		if !errors.Is(err, errAgain) {
			break
		}
		l.restart()
		err = l.update(ctx)
	}
	if err != nil && !errors.Is(err, errAgain) { // else the rest comes with the next Update
		l.restart()
		return Now{}, err
	}
	return l.now, nil
}

// restart forgets everything but which names are no names, and what the places of
// rows count.
func (l *Look) restart() {
	n := Look{open: l.open}
	if l.f != nil {
		n.blank.scenarios, n.blank.steps, n.divided = l.f.blank.scenarios, l.f.blank.steps, l.f.divided
	}
	*l = n
}

func (l *Look) update(ctx context.Context) error {
	ev, err := l.open(ctx, l.place)
	if err != nil {
		return err
	}
	run := ev.Run()
	switch {
	case l.f == nil:
		l.f = newFolder(ev, query.Options{})
		l.f.start, l.f.blank, l.f.divided = math.MaxInt64, l.blank, l.divided
		l.origins = map[*stream]int64{}
	case !sameDeclaration(l.f.run.Declaration, run.Declaration):
		return errAgain
	}
	f := l.f
	f.ev, f.run, l.now.Run = ev, run, run
	if err := l.read(ctx); err != nil {
		return err
	}
	f.run.Finished = run.Finished && !l.now.Behind
	switch {
	case f.many || !l.now.Behind && f.divide():
		return errAgain
	case f.rows == 0:
		return nil
	case l.alarms == nil:
		if err := l.begin(ctx); err != nil {
			return err
		}
		l.look()
		return nil
	}
	if cfg, ok := f.watchable(); !ok || cfg.Kind != l.kind || l.moved() {
		return errAgain
	}
	l.look()
	return nil
}

// moved reports whether the schedule turns out to have begun at another time
// than the watch was told, by more than what moves a look.
func (l *Look) moved() bool {
	if l.f.declared != nil && l.start-l.f.anchor() > slack {
		return true
	}
	for _, s := range l.f.streams {
		was, ok := l.origins[s]
		if !ok || was == math.MaxInt64 {
			l.origins[s] = s.origin
		} else if was-s.origin > slack {
			return true
		}
	}
	return false
}

const slack = 10e6

func sameDeclaration(a, b *wire.Declaration) bool { return a == b || reflect.DeepEqual(a, b) }

// anchor is when the declared schedule began, as far as is known.
func (f *folder) anchor() int64 {
	if d := f.run.Declaration; d != nil && d.Start != nil {
		return d.Start.UnixNano()
	}
	return f.first
}

// begin sets the watch up, once something is known, and feeds it what was read.
func (l *Look) begin(ctx context.Context) error {
	f := l.f
	f.start = f.anchor()
	l.start = f.start
	for _, s := range f.streams {
		l.origins[s] = s.origin
	}
	cfg, ok := f.watchable()
	if !ok {
		return nil
	}
	l.kind = cfg.Kind
	l.alarms = newAlarms(f)
	ev, err := l.open(ctx, 0)
	if err != nil {
		return err
	}
	return l.rows(ctx, ev, func(i Entry) bool { return i.Place < l.place }, func(g *group, r *sample.Row) { l.alarms.row(g, r) })
}

// read takes what is new: first what is known of all of it, then, when there is
// a watch, what concerns that.
func (l *Look) read(ctx context.Context) error {
	f := l.f
	from, to := l.place, l.place
	fresh := slices.Clone(f.ev.Entries())
	slices.SortFunc(fresh, func(a, b Entry) int { return cmp3(int64(a.Place), int64(b.Place)) })
	rows := 0
	l.now.Behind = false
	for _, e := range fresh {
		if l.now.Behind = rows > mostRows; l.now.Behind {
			break
		}
		rows += e.Rows
		to = max(to, e.Place+1)
	}
	f.meter.read = nil
	err := l.rows(ctx, f.ev, func(e Entry) bool { return e.Place >= from && e.Place < to }, l.row)
	f.follow()
	l.place = to
	return err
}

// rows reads the entries that are wanted, in the order in which they were kept.
func (l *Look) rows(ctx context.Context, ev Evidence, want func(Entry) bool, fn func(g *group, r *sample.Row)) error {
	f := l.f
	entries := ev.Entries()
	order := make([]int, 0, len(entries))
	for i := range entries {
		if want(entries[i]) {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp3(int64(entries[a].Place), int64(entries[b].Place)) })
	var local []*group
	err := ev.Read(ctx, order, func(_ int, b *sample.Batch) error {
		local = f.translate(b, local[:0])
		f.meter.add(b, arrivalMetric)
		f.addIterations(b)
		f.places(b, local)
		for k := range b.Sent {
			r := b.Row(k)
			if l.nested(&r) {
				continue
			}
			g := local[r.Group]
			g.begin(&r)
			fn(g, &r)
		}
		return ctx.Err()
	})
	if err != nil {
		return fmt.Errorf("look at run %q: %w", f.run.ID, err)
	}
	return nil
}

// nested reports whether a row is a client span around another one, which ended
// before it.
func (l *Look) nested(r *sample.Row) bool {
	if r.Key != 0 && r.Flags&sample.RequestKey == 0 {
		l.parents.add(r.Key)
	}
	return r.Self != 0 && l.parents.holds(r.Self)
}

// row takes a row that is new.
func (l *Look) row(g *group, r *sample.Row) {
	f, n := l.f, &l.now
	f.measure(g, r, r.Sent)
	n.Newest = max(n.Newest, r.Done)
	if r.Attempt == 0 {
		n.Requests++
		n.Outcomes[r.Outcome]++
		if g.limited() {
			n.Judged++
		}
		if q := f.single(g, r); q.inTime() {
			n.Good++
		}
	}
	if l.alarms != nil {
		l.alarms.row(g, r)
	}
}

// look advances the watch over what is complete.
func (l *Look) look() {
	f, a := l.f, l.alarms
	l.now.Start = f.anchor()
	if names, _, _, _ := f.names(); len(names) == 1 {
		l.now.Scenario = names[0]
	}
	l.now.Dropped = f.meter.reading(droppedName).count(math.MinInt64, math.MaxInt64)
	if a == nil {
		return
	}
	a.advance(f.complete())
	l.now.Watched, l.now.Kind, l.now.State = true, a.kind, a.watch.State()
	l.now.Events, l.now.InFlight = a.events, a.watch.InFlight()
	f.meter.forget(a.until - remembered)
}

// remembered is for how long the exports of counters are kept: they may come
// late, and what they say of arrivals is taken back then.
const remembered = 120e9
