package runs

import (
	"strings"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Info describes a run.
type Info struct {
	ID        string
	Name      string // declared, sent, or the best that is known; never empty
	Generator string
	Source    string // identity of the source that the run is named by; empty when it has an id of its own
	State     string // wire.Live or wire.Finished
	StartedAt *time.Time
	EndedAt   *time.Time // nil while the run is live
	Newest    *time.Time // newest event time, live or not
	Rows      int64
	Batches   int // kept batches, of rows or points
	Revision  uint64

	Outcome  string // of the newest verdict that was saved
	Headline string
	Grade    string
	Judged   uint64 // revision that the saved verdict is about; 0 when there is none

	Declaration *wire.Declaration
	Marks       []wire.Mark
	QuietAt     time.Time  // when silence will finish, or has finished, the run
	GoneAt      *time.Time // when retention removed its rows; nil when they are kept
}

// Item returns the run as the API lists it.
func (i *Info) Item() wire.RunItem {
	return wire.RunItem{
		ID: i.ID, Name: i.Name, Generator: i.Generator, State: i.State, StartedAt: i.StartedAt,
		EndedAt: i.EndedAt, Outcome: i.Outcome, Headline: i.Headline, Revision: i.Revision,
	}
}

// run is a run as the index sees it. It is not changed once made.
type run struct {
	stretch

	s     *stream
	id    string
	piece sample.Span // of a source: the stretch of entries that the run lies in
	about document    // joined from all documents of the run
}

func (r *run) hasData() bool { return r.rowed+r.pointed > 0 }

// name returns the best name that is known.
func (r *run) name() string {
	if d := r.about.Declaration; d != nil && d.Name != "" {
		return d.Name
	}
	f := r.about.facts
	if r.s.explicit {
		if f.Name != "" {
			return f.Name
		}
		return r.id
	}
	for _, name := range []string{f.Name, f.Service, f.Generator, r.source()} {
		if name != "" {
			return name
		}
	}
	return r.id
}

func (r *run) generator() string {
	if r.about.Generator != "" {
		return r.about.Generator
	}
	return r.about.Service
}

func (r *run) source() string {
	if r.s.explicit {
		return ""
	}
	return strings.TrimPrefix(r.s.name, sourcePrefix)
}

// start is when the run began or is declared to begin; else when it was declared.
func (r *run) start() int64 {
	switch d := r.about.Declaration; {
	case !r.span.IsZero():
		return r.span.From
	case r.about.Gone != nil:
		return r.about.Gone.Span.From
	case d != nil && d.Start != nil:
		return d.Start.UnixNano()
	}
	return r.about.Seen
}

// quietAt is when silence finishes the run: counted from the newest arrival,
// and not before the declared schedule can have ended.
func (r *run) quietAt() int64 {
	last := max(r.arrived, r.about.Seen)
	d := r.about.Declaration
	if !r.hasData() && d != nil && d.Start != nil {
		last = max(last, d.Start.UnixNano())
	}
	quiet := last + max(silence, 3*r.about.Longest)
	if d != nil {
		start := r.start()
		if d.Start != nil {
			start = d.Start.UnixNano()
		}
		quiet = max(quiet, start+scheduleLength(d)+timeoutOf(d))
	}
	return quiet
}

// finished judges the run by the clock.
func (r *run) finished(now int64) bool {
	if !r.hasData() && r.about.Gone != nil {
		return true
	}
	if f := r.about.Finish; f != nil && f.Rowed == r.rowed && (r.rowed > 0 || f.Pointed == r.pointed) {
		return true
	}
	return now >= r.quietAt()
}

// revision grows with every entry, every other change and with finishing. Twice
// the count leaves room for the state, which no one writes down. The longest
// response time counts because it may turn the state back.
func (r *run) revision(now int64) uint64 {
	revision := 2 * (uint64(r.rowed) + uint64(r.pointed) + r.about.Base + uint64(r.about.Longest/int64(time.Minute)))
	if r.finished(now) {
		revision++
	}
	return revision
}

func (r *run) info(now int64) Info {
	i := Info{
		ID: r.id, Name: r.name(), Generator: r.generator(), Source: r.source(), State: wire.Live,
		Rows: r.rows, Batches: r.rowed + r.pointed, Revision: r.revision(now),
		Declaration: r.about.Declaration, Marks: r.about.Marks, QuietAt: at(r.quietAt()),
	}
	span := r.span
	if g := r.about.Gone; g != nil {
		t := at(g.At)
		i.GoneAt, i.Rows, span = &t, r.rows+g.Rows, span.Union(g.Span)
	}
	if !span.IsZero() {
		from, to := at(span.From), at(span.To)
		i.StartedAt, i.Newest = &from, &to
	} else if d := r.about.Declaration; d != nil && d.Start != nil {
		i.StartedAt = d.Start
	}
	if r.finished(now) {
		i.State, i.EndedAt = wire.Finished, i.Newest
	}
	if v := r.about.Summary; v != nil {
		i.Outcome, i.Headline, i.Grade, i.Judged = v.Outcome, v.Headline, v.Grade, v.Revision
	}
	return i
}

func (r *run) describe(now int64) fold.Run {
	return fold.Run{
		ID: r.id, Name: r.name(), Finished: r.finished(now), Declaration: r.about.Declaration,
		Marks: r.about.Marks, Revision: r.revision(now),
	}
}

func at(ns int64) time.Time { return time.Unix(0, ns).UTC() }
