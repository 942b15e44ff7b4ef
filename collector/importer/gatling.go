package importer

import (
	"bytes"
	"slices"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// How much of a simulation is looked at to find out how users arrive.
const (
	gatlingUsers  = 5000
	gatlingEvents = 50_000
	gatlingNear   = int64(20e6) // from the start of a user to its first request
	gatlingOpen   = 65_536      // users that are waited for
)

// gatlingEvent is a record of a simulation that counts.
type gatlingEvent struct {
	kind     gatlingKind
	from, to int64
	scenario string
	ok       bool
	message  string
}

type gatlingKind uint8

const (
	gatlingRequest gatlingKind = iota
	gatlingStart
	gatlingEnd
)

// gatling turns the records of a simulation into rows, whichever way they were
// written.
//
// The log says when users started and what they asked, and not which user asked
// what. In an open simulation of one scenario the first request of a user comes
// with the user's start, so it gets the user's number: with a rate that says when
// it was due (grade B). Later requests are due when the script comes to them.
type gatling struct {
	sink    *Sink
	group   sample.Group
	held    []gatlingEvent
	users   int // starts held
	decided bool
	open    bool
	numbers bool // first requests get their user's number
	rate    steady
	next    int64
	waiting []send // users whose first request has not come
	errors  int64
}

func newGatling(sink *Sink) *gatling {
	return &gatling{sink: sink, group: sample.Group{Generator: "gatling"}}
}

func (g *gatling) add(e *gatlingEvent) error {
	if g.decided {
		return g.handle(e)
	}
	g.held = append(g.held, *e)
	if e.kind == gatlingStart {
		g.users++
	}
	if g.users >= gatlingUsers || len(g.held) >= gatlingEvents || g.users >= gatlingUsers/10 && e.from-g.held[0].from > lookFor {
		return g.decide()
	}
	return nil
}

// close ends the simulation.
func (g *gatling) close() error {
	if !g.decided {
		if err := g.decide(); err != nil {
			return err
		}
	}
	if g.errors > 0 {
		g.sink.Warn("%d errors of the script are in the log: they sent no request", g.errors)
	}
	g.sink.Warn("the log keeps whole milliseconds and no status: failures are told apart by their message")
	return nil
}

// decide finds out how users arrive.
func (g *gatling) decide() error {
	g.decided = true
	var starts, ends []int64
	scenarios := map[string]bool{}
	requests := 0
	for i := range g.held {
		e := &g.held[i]
		switch e.kind {
		case gatlingStart:
			starts = append(starts, e.from)
			scenarios[e.scenario] = true
		case gatlingEnd:
			ends = append(ends, e.from)
		default:
			requests++
		}
	}
	slices.Sort(starts)
	slices.Sort(ends)
	g.group.Model = k6Model(starts, ends, 1e6)
	if g.sink.Scheduled {
		g.group.Model = sample.Open
	}
	g.open = g.group.Model == sample.Open
	if len(scenarios) == 1 {
		for name := range scenarios {
			g.group.Scenario = name
		}
	}
	g.numbers = g.open && len(scenarios) == 1
	g.explain(starts, len(scenarios))
	for i := range g.held {
		if err := g.handle(&g.held[i]); err != nil {
			return err
		}
	}
	g.held = nil
	return nil
}

// explain looks for the rate and says what a reader must know.
func (g *gatling) explain(starts []int64, scenarios int) {
	switch {
	case g.group.Model == sample.Closed:
		g.sink.Warn("users start as others end: a closed injection, which sends less when the service is slow")
		g.sink.Advise("injectOpen(constantUsersPerSec(…)) keeps to a schedule and shows what users would feel")
		return
	case g.group.Model == sample.UnknownModel:
		g.sink.Warn("the log does not show whether the injection is open or closed")
		return
	case !g.numbers:
		g.sink.Warn("%d scenarios are in the log, and requests do not say which one they belong to: times are counted from the send", scenarios)
		return
	case g.sink.Scheduled:
		return
	}
	var sends []send
	for i, at := range starts {
		sends = append(sends, send{int64(i), at})
	}
	if rate := g.rate.find(sends); rate > 0 {
		g.group.Rate, g.group.Process = rate, "constant"
		g.sink.Warn("users come at %.6g/s, as the first ones have it: first requests were due by it and the number of their user", rate)
		return
	}
	g.sink.Warn("users come at no constant rate: times are counted from the send")
	g.sink.Advise(adviseSchedule)
}

func (g *gatling) handle(e *gatlingEvent) error {
	switch e.kind {
	case gatlingStart:
		if g.numbers {
			if len(g.waiting) >= gatlingOpen {
				g.waiting = slices.Delete(g.waiting, 0, gatlingOpen/2)
			}
			g.waiting = append(g.waiting, send{g.next, e.from})
			g.next++
		}
		return nil
	case gatlingEnd:
		return nil
	}
	row := sample.Row{Sent: e.from, Done: max(e.to, e.from), Index: sample.NoIndex, Outcome: e.outcome()}
	group := g.group
	if g.numbers {
		if n, ok := g.user(e.from); ok {
			row.Index = n
			if g.rate.left(send{n, e.from}) {
				g.group = unrated(g.group)
				group = g.group
				g.sink.Warn("from user %d on arrivals leave the rate of the first ones: times are counted from the send there", n)
				g.sink.Advise(adviseSchedule)
			}
		} else {
			row.Flags = sample.StartIsDue
			group = unrated(group)
		}
	}
	return g.sink.Row(&group, &row)
}

// user finds the user that started when a request was sent: the last one that
// had started by then and has had no request.
func (g *gatling) user(at int64) (int64, bool) {
	for i := len(g.waiting) - 1; i >= 0; i-- {
		w := g.waiting[i]
		if w.sent > at {
			continue
		}
		if at-w.sent > gatlingNear {
			return 0, false
		}
		g.waiting = slices.Delete(g.waiting, i, i+1)
		return w.seq, true
	}
	return 0, false
}

// outcome is as Gatling has it; the message says how a request failed: with an
// exception, or a check such as "status.find.is(200), but actually found 503".
func (e *gatlingEvent) outcome() sample.Outcome {
	if e.ok {
		return sample.OK
	}
	if strings.HasPrefix(e.message, "status.") {
		if i := strings.LastIndex(e.message, "found "); i >= 0 {
			if code := small([]byte(strings.TrimSpace(e.message[i+len("found "):]))); code >= 400 {
				return answered(int64(code))
			}
		}
		return sample.Error
	}
	return failedWith([]byte(e.message))
}

// tabbed reports whether text begins with a record of a text log.
func tabbed(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return bytes.HasPrefix(line, []byte("RUN\t")) || bytes.HasPrefix(line, []byte("ASSERTION\t"))
}
