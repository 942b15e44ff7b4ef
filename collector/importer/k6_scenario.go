package importer

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// k6Event is what happened in a scenario, in the order of the file.
type k6Event struct {
	kind       k6Kind
	start, end int64
	value      float64
	request    k6Request // or, of an iteration, its VU and number
}

type k6Kind uint8

const (
	k6EndOfRequest k6Kind = iota
	k6EndOfIteration
	k6Drop
)

// How much of a scenario is looked at before it is known what it is.
const (
	k6Iterations = 2000
	k6Events     = 30_000
)

// Bounds of what is kept of requests whose iteration has not ended.
const (
	k6Pending  = 32_768
	k6Patience = int64(60e9)
)

// k6Scenario turns the events of a scenario into rows.
//
// What was due is the iteration: an arrival-rate executor starts one at each
// tick or drops it, so its start is its due time (grade C). The rows are the
// requests that iterations sent; the first one of an iteration was due when the
// iteration started, the others when the script came to them. Without requests
// the iterations are the rows.
//
// The file does not say which executor a scenario has. A closed one starts an
// iteration in the moment in which another one ends; that is looked for in the
// first iterations, and decided once.
type k6Scenario struct {
	reader *k6Reader
	sink   *Sink
	group  sample.Group

	decided  bool
	held     []k6Event
	heldEnds int // iterations among them

	requests bool    // rows are requests, not iterations
	anchored bool    // the first request starts with its iteration
	first    string  // name of that request, if iterations share it
	each     float64 // requests of an iteration
	flags    sample.Flag

	pending  []*k6Request // by start
	exact    map[[2]int64][]*k6Request
	longest  int64 // iteration
	lastEnd  int64
	unjoined int64 // retries whose request is not known
	cut      float64
}

func newK6Scenario(k *k6Reader, name string) *k6Scenario {
	return &k6Scenario{
		reader: k, sink: k.sink, group: sample.Group{Generator: "k6", Scenario: name},
		exact: map[[2]int64][]*k6Request{},
	}
}

func (s *k6Scenario) event(e *k6Event) error {
	if s.decided {
		return s.handle(e)
	}
	s.held = append(s.held, *e)
	if e.kind == k6EndOfIteration {
		s.heldEnds++
	}
	if s.heldEnds >= k6Iterations || len(s.held) >= k6Events || s.heldEnds >= k6Iterations/10 && e.end-s.held[0].end > lookFor {
		return s.decide()
	}
	return nil
}

// decide finds out what the scenario is and handles what was held.
func (s *k6Scenario) decide() error {
	s.decided = true
	p := k6Look(s.held, s.reader.unit)
	s.requests, s.anchored, s.first, s.each = p.requests > 0, p.anchored, p.first, p.each
	s.group.Model = p.model
	if s.sink.Scheduled {
		s.group.Model = sample.Open
	}
	if s.group.Model == sample.Open {
		s.flags = sample.StartIsDue
	}
	s.explain(&p)
	for i := range s.held {
		if err := s.handle(&s.held[i]); err != nil {
			return err
		}
	}
	s.held = nil
	return nil
}

// explain says what a reader of the verdict must know.
func (s *k6Scenario) explain(p *k6Profile) {
	name := ""
	if s.group.Scenario != "" {
		name = fmt.Sprintf("scenario %s: ", s.group.Scenario)
	}
	switch {
	case s.group.Model == sample.Closed:
		s.sink.Warn("%siterations start as others end: a closed executor, which sends less when the service is slow", name)
		s.sink.Advise("%sthe executors constant-arrival-rate and ramping-arrival-rate keep to a schedule and show what users would feel", name)
	case s.group.Model == sample.UnknownModel && p.iterations > 0:
		s.sink.Warn("%sthe file does not show whether its executor is open or closed", name)
		s.sink.Advise("%s--schedule says that it is open, and at what rate", name)
	case p.iterations == 0 && p.requests > 0:
		s.sink.Warn("%sno iteration_duration in the file: when requests were due is not known", name)
	}
	switch {
	case s.requests && s.flags != 0 && s.anchored:
		s.sink.Warn("%stimes count from the start of the iteration, so they hold the wait for a connection (http_req_blocked), which http_req_duration leaves out", name)
	case s.requests && s.flags != 0 && p.iterations > 0:
		s.sink.Warn("%sthe script does something else before its first request: times count from when requests were sent", name)
	case !s.requests && p.iterations > 0:
		s.sink.Warn("%sit made no HTTP or gRPC request: its rows are iterations, pauses of the script included", name)
	}
	if s.requests && s.each > 1 && s.flags != 0 {
		s.sink.Warn("%san iteration sends about %.3g requests: rates here are of requests, and a dropped iteration counts as that many", name, s.each)
	}
}

func (s *k6Scenario) handle(e *k6Event) error {
	switch e.kind {
	case k6EndOfRequest:
		r := e.request
		if !s.anchored && !r.joined {
			return s.row(&r, 0, 0, 0, false)
		}
		return s.wait(&r)
	case k6EndOfIteration:
		s.longest, s.lastEnd = max(s.longest, e.end-e.start), max(s.lastEnd, e.end)
		if !s.requests {
			return s.sink.Row(&s.group, &sample.Row{Sent: e.start, Done: e.end, Index: sample.NoIndex, Flags: s.flags})
		}
		return s.iteration(e)
	default:
		if s.group.Model == sample.Closed {
			s.cut += e.value
			return nil
		}
		return s.sink.Drop(&s.group, e.end, e.value*s.each)
	}
}

// wait keeps a request until its iteration ends.
func (s *k6Scenario) wait(r *k6Request) error {
	if r.joined {
		at := [2]int64{r.vu, r.iter}
		s.exact[at] = append(s.exact[at], r)
		if len(s.exact) < 4*k6Pending {
			return nil
		}
		return s.release()
	}
	i, _ := slices.BinarySearchFunc(s.pending, r.start, func(a *k6Request, t int64) int { return cmp.Compare(a.start, t) })
	s.pending = slices.Insert(s.pending, i, r)
	for len(s.pending) > k6Pending || len(s.pending) > 0 && s.pending[0].end < s.lastEnd-max(k6Patience, 2*s.longest) {
		old := s.pending[0]
		s.pending = slices.Delete(s.pending, 0, 1)
		if err := s.row(old, 0, 0, 0, false); err != nil {
			return err
		}
	}
	return nil
}

// release gives up waiting for iterations.
func (s *k6Scenario) release() error {
	var all []*k6Request
	for _, list := range s.exact {
		all = append(all, list...)
	}
	clear(s.exact)
	all = append(all, s.pending...)
	s.pending = nil
	slices.SortStableFunc(all, func(a, b *k6Request) int {
		return cmp.Or(cmp.Compare(a.end, b.end), cmp.Compare(a.start, b.start), cmp.Compare(a.vu, b.vu))
	})
	for _, r := range all {
		if err := s.row(r, 0, 0, 0, false); err != nil {
			return err
		}
	}
	return nil
}

// iteration ends an iteration: its requests become rows.
func (s *k6Scenario) iteration(e *k6Event) error {
	if e.request.joined {
		at := [2]int64{e.request.vu, e.request.iter}
		list := s.exact[at]
		delete(s.exact, at)
		return s.rows(list, e.start)
	}
	if !s.anchored {
		return nil // they stay until they are too old, or the end
	}
	i := k6Nearest(s.pending, e.start, e.end, s.first)
	if i < 0 || distance(s.pending[i].start, e.start) > k6Far {
		return nil
	}
	list := []*k6Request{s.pending[i]}
	s.pending = slices.Delete(s.pending, i, i+1)
	for list[len(list)-1].failed {
		i := k6Next(s.pending, list[len(list)-1], e.end)
		if i < 0 {
			break
		}
		list = append(list, s.pending[i])
		s.pending = slices.Delete(s.pending, i, i+1)
	}
	return s.rows(list, e.start)
}

// k6Slack is how far clocks of k6 may be apart within a process.
const k6Slack = int64(1e6)

// k6Far is how long after the start of its iteration a request can have been sent
// if only the times tell which iteration it belongs to.
const k6Far = int64(250e6)

// k6Nearest finds the request of a name, or of any, that started nearest to the
// start of an iteration and ended within it, or returns -1.
func k6Nearest(list []*k6Request, from, to int64, name string) int {
	i, _ := slices.BinarySearchFunc(list, from-k6Slack, func(a *k6Request, t int64) int { return cmp.Compare(a.start, t) })
	best := -1
	for ; i < len(list) && list[i].start <= to; i++ {
		if best >= 0 && list[i].start-from > distance(list[best].start, from) {
			break
		}
		if list[i].end <= to+k6Slack && list[i].attempt <= 1 &&
			(name == "" || list[i].name == name) && (best < 0 || distance(list[i].start, from) < distance(list[best].start, from)) {
			best = i
		}
	}
	return best
}

// k6Next finds the attempt that followed a failed one, or returns -1.
func k6Next(list []*k6Request, failed *k6Request, to int64) int {
	i, _ := slices.BinarySearchFunc(list, failed.end-k6Slack, func(a *k6Request, t int64) int { return cmp.Compare(a.start, t) })
	best := -1
	for ; i < len(list) && list[i].start <= to; i++ {
		r := list[i]
		if best >= 0 && r.start-failed.end > distance(list[best].start, failed.end) {
			break
		}
		if r.name == failed.name && r.end <= to+k6Slack && (r.attempt == 0 || failed.attempt == 0 || r.attempt == failed.attempt+1) &&
			(best < 0 || distance(r.start, failed.end) < distance(list[best].start, failed.end)) {
			best = i
		}
	}
	if best < 0 && failed.attempt > 0 {
		return k6Swapped(list, failed, to)
	}
	return best
}

// k6Swapped finds the attempt that an iteration ended with where its own one
// was taken for that of another iteration, which did the same at the same time.
func k6Swapped(list []*k6Request, failed *k6Request, to int64) int {
	const near = 50e6
	best := -1
	i, _ := slices.BinarySearchFunc(list, failed.start, func(a *k6Request, t int64) int { return cmp.Compare(a.start, t) })
	for ; i < len(list) && list[i].start <= to; i++ {
		r := list[i]
		if r.name == failed.name && r.attempt == failed.attempt+1 && distance(r.end, to) <= near &&
			(best < 0 || distance(r.end, to) < distance(list[best].end, to)) {
			best = i
		}
	}
	return best
}

func distance(a, b int64) int64 {
	if a < b {
		return b - a
	}
	return a - b
}

// rows hands on the requests of one iteration, in order of time. Where one
// follows a failed one of the same name it is another attempt of it.
func (s *k6Scenario) rows(list []*k6Request, from int64) error {
	slices.SortStableFunc(list, func(a, b *k6Request) int { return cmp.Compare(a.start, b.start) })
	due := int64(0)
	if s.flags != 0 && s.anchored {
		due = from
	}
	for i := 0; i < len(list); {
		n := i + 1
		for n < len(list) && list[n-1].failed && list[n].name == list[i].name && n-i < math.MaxUint16 {
			n++
		}
		key := uint64(0)
		if n > i+1 {
			key = s.reader.key()
		}
		for a := i; a < n; a++ {
			if err := s.row(list[a], due, key, uint16(a-i), a == n-1); err != nil {
				return err
			}
		}
		i, due = n, 0
	}
	return nil
}

// row hands on one request.
func (s *k6Scenario) row(r *k6Request, due int64, key uint64, attempt uint16, last bool) error {
	if key == 0 && r.attempt > 1 {
		s.unjoined++
	}
	row := sample.Row{
		Sent: r.start, Done: r.end, FirstByte: r.firstByte, Intended: due, Index: sample.NoIndex,
		Attempt: attempt, Key: key, Outcome: r.outcome, Status: r.status, Flags: s.flags,
	}
	if key != 0 {
		row.Flags |= sample.RequestKey
		if last {
			row.Flags |= sample.LastAttempt
		}
	}
	if row.FirstByte < row.Sent || r.failed {
		row.FirstByte = 0
	}
	return s.sink.Row(&s.group, &row)
}

// close ends the file.
func (s *k6Scenario) close() error {
	if !s.decided {
		if err := s.decide(); err != nil {
			return err
		}
	}
	if err := s.release(); err != nil {
		return err
	}
	if s.cut > 0 {
		s.sink.Warn("%.0f iterations were cut off at the end of the scenario: they were no arrivals", s.cut)
	}
	if s.unjoined > 0 {
		s.sink.Warn("%d attempts could not be joined to their request: they count as requests of their own", s.unjoined)
		s.sink.Advise("--system-tags with vu and iter added tells which requests an iteration sent")
	}
	return nil
}
