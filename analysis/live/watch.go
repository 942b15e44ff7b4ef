package live

import (
	"math"
	"slices"
)

// Kind says where arrivals are known from.
type Kind uint8

// Kinds of watches.
const (
	// Scheduled: the rate is known from Config.Rate, arrivals come through Due.
	Scheduled Kind = iota
	// Counted: arrivals come through Due, the rate is counted from them.
	Counted
	// EndedOnly: arrivals are known only from requests that ended. The rate is
	// counted, or known where Config.Rate is set.
	EndedOnly
)

// Config describes the run that is watched.
type Config struct {
	Kind Kind
	// Rate is the offered rate that the schedule says for a time, per second; 0
	// where nothing is offered. It must not change its mind. Nil: counted.
	Rate func(at int64) float64
	// Timeout is how long a client waits at most, ns; 0 when it is not known and
	// the longest response so far must do. Used by EndedOnly alone.
	Timeout int64
}

// Stats counts what the watch could not use as it should.
type Stats struct {
	Late    int64 // rows for a time that had been looked at; the number in flight is right from then on
	Clamped int64 // rows over an hour ahead of the horizon, taken as an hour ahead
	Looks   int64
	Scored  int64 // looks that had something to compute
}

// Watch follows one run. It is not safe for concurrent use. Rows may come in any
// order before Advance passes their time, and up to an hour ahead of it. It
// takes under 1 MiB at any rate.
type Watch struct {
	cfg  Config
	line timeline

	begun   bool
	start   int64 // first second with an arrival
	edge    int64 // second up to which the horizon has been advanced
	looked  int64 // last second looked at
	moving  bool  // edge and looked are set
	longest int64 // longest response that ended before edge

	alarm   alarm
	suspect suspicion
	stats   Stats
	scratch *scratch // buffers of a look; nothing is kept in them
}

// New returns a watch of a run of which nothing is known yet.
func New(cfg Config) *Watch {
	return &Watch{cfg: cfg, line: timeline{kept: math.MinInt64, room: exactRoom}}
}

// Clone returns an independent copy, a snapshot to come back to.
func (w *Watch) Clone() *Watch {
	c := *w
	c.scratch = nil
	c.line.blocks = slices.Clone(w.line.blocks)
	for i := range c.line.blocks {
		b := &c.line.blocks[i]
		b.ends = slices.Clone(b.ends)
		b.pending = slices.Clone(b.pending)
	}
	return &c
}

// Stats returns the counters.
func (w *Watch) Stats() Stats { return w.stats }

// State returns what the watch thinks at its last look.
func (w *Watch) State() State {
	switch {
	case w.alarm.raised:
		return Unstable
	case w.suspect.on:
		return Suspected
	}
	return Calm
}

// InFlight returns the number in flight at the last look.
func (w *Watch) InFlight() int64 {
	if !w.moving {
		return 0
	}
	return w.line.inFlight(w.looked)
}

// Due says that n requests were due at t and not dropped. A negative n takes
// back requests that were dropped after all. EndedOnly watches do not need it
// and ignore it.
func (w *Watch) Due(t, n int64) {
	if w.cfg.Kind == EndedOnly || n == 0 {
		return
	}
	w.arrive(w.clamp(t), n)
}

// DueBetween says that n requests were due in [from, to), as a counter tells:
// they are spread evenly.
func (w *Watch) DueBetween(from, to, n int64) {
	step := second / tenths
	first := floorDiv(from, step)
	count := max(1, floorDiv(to-1, step)-first+1)
	for i := range count {
		w.Due((first+i)*step, n*(i+1)/count-n*i/count)
	}
}

// Ended says that the request due at a time was answered at done, in whatever
// way: refused and failed ones count, the server was done with them.
func (w *Watch) Ended(due, done int64) { w.ended(due, done, false) }

// Gone says that the client of the request due at a time gave up at done. It is
// not in flight from then on, but the server has not shown that it could serve
// it: where time-outs hold the number in flight level, that is what is missing.
func (w *Watch) Gone(due, done int64) { w.ended(due, done, true) }

func (w *Watch) ended(due, done int64, gone bool) {
	end := w.clamp(done)
	sec := floorDiv(end, second)
	b := w.line.at(sec)
	if b == nil {
		w.line.before--
	} else {
		at := end - sec*second
		w.line.room -= b.end(int(at*cells/second), w.line.room)
		if gone {
			b.gone[at*tenths/second]++
		}
		b.longest = max(b.longest, done-due)
		b.waited += float64(done-due) / 1e9
		b.timed++
	}
	late := w.moving && sec < w.edge
	if late {
		w.stats.Late++
	}
	if w.cfg.Kind != EndedOnly {
		return
	}
	if late || b == nil {
		w.arrive(due, 1)
		return
	}
	tenth := floorDiv(due, second/tenths)
	for i := len(b.pending) - 1; i >= 0 && i >= len(b.pending)-40; i-- {
		if b.pending[i].tenth == tenth {
			b.pending[i].n++
			return
		}
	}
	b.pending = append(b.pending, arrivals{tenth, 1})
}

// Advance says that rows up to the horizon are complete, looks at every second
// of event time that this opens, and returns what changed.
func (w *Watch) Advance(horizon int64) []Event {
	if len(w.line.blocks) == 0 {
		return nil
	}
	if !w.moving {
		w.edge, w.looked, w.moving = w.line.base, w.line.base, true
	}
	var events []Event
	to := floorDiv(horizon, second)
	for w.edge < to {
		if w.idle() {
			w.edge = to
			w.looked = max(w.looked, to-floorDiv(w.lag()+second-1, second))
			break
		}
		w.edge++
		w.settle()
		if e, ok := w.doubt(); ok {
			events = append(events, e)
		}
		events = w.lookTo(floorDiv(w.edge*second-w.lag(), second), events)
	}
	w.line.drop(w.looked)
	return events
}

// Finish says that no more rows will come: what has not ended by the horizon
// never will, so looks need not stay behind it. It returns what the last ones see.
func (w *Watch) Finish() []Event {
	if !w.moving {
		return nil
	}
	events := w.lookTo(w.edge, nil)
	w.line.drop(w.looked)
	return events
}

func (w *Watch) lookTo(t int64, events []Event) []Event {
	for w.looked < t {
		w.looked++
		if e, ok := w.look(w.looked); ok {
			events = append(events, e)
		}
	}
	return events
}

// settle takes over what is known from the second before the edge.
func (w *Watch) settle() {
	b := w.line.peek(w.edge - 1)
	if b == nil {
		return
	}
	w.longest = max(w.longest, b.longest)
	pending := b.pending
	b.pending = nil
	for _, p := range pending { // may move the blocks
		w.arrive(p.tenth*(second/tenths), int64(p.n))
	}
}

// lag is how far looks stay behind the horizon.
func (w *Watch) lag() int64 {
	if w.cfg.Kind != EndedOnly {
		return 0
	}
	return max(w.cfg.Timeout, w.longest)
}

// idle reports that nothing more can come of the seconds up to the horizon.
func (w *Watch) idle() bool {
	last := w.line.base + int64(len(w.line.blocks))
	return !w.alarm.raised && last < w.looked-behind && w.line.before == 0
}

func (w *Watch) arrive(t, n int64) {
	sec := floorDiv(t, second)
	if !w.begun || sec < w.start {
		w.begun, w.start = true, max(sec, w.line.kept)
	}
	if w.cfg.Kind != EndedOnly && w.moving && sec < w.edge {
		w.stats.Late++
	}
	w.line.arrive(floorDiv(t, second/tenths), int32(n))
}

func (w *Watch) clamp(t int64) int64 {
	edge := w.edge
	if !w.moving {
		if len(w.line.blocks) == 0 {
			return t
		}
		edge = w.line.base
	}
	if last := (edge+ahead)*second - 1; t > last {
		w.stats.Clamped++
		return last
	}
	return t
}

// known reports that the rate comes from a schedule.
func (w *Watch) known() bool { return w.cfg.Rate != nil && w.cfg.Kind != Counted }
