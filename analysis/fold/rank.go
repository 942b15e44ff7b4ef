package fold

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"sort"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// MostRanked is the most rows that are numbered by rank: all their times are held
// in memory for that, 24 bytes a row.
const MostRanked = 1 << 23

// Ranks says how far rows that carry no place in the declared schedule could be
// numbered by the order of their sends.
type Ranks struct {
	Rows     int64  // that carry no place
	Numbered int64  // of those, could be numbered
	Why      string // some could not; empty when all could
}

// ranks numbers the rows of a finished run that carry neither an intended time
// nor a place in the schedule: where every arrival is sent, the i-th send is the
// i-th arrival, however late. That holds while nothing was left out, and two facts
// prove it. A send within one gap of its due time has all earlier arrivals before
// it, because each one left out would have delayed all that follow by a gap; and
// a schedule that was sent to the last arrival had none left out. What neither
// proves keeps its send time.
type ranks struct {
	sources map[string]*ranked
	ties    map[*group]uint64 // of the groups
}

// ranked are the sends of one source, in order.
type ranked struct {
	sends    []dispatch
	schedule *Schedule
	origin   int64
	shifts   []shift
	proven   int // sends before it have a number
	handed   map[int]int
}

// dispatch is what orders rows: rows that are equal in all of it are interchangeable.
type dispatch struct {
	sent, done int64
	tie        uint64
}

func (a dispatch) compare(b dispatch) int {
	if c := cmp3(a.sent, b.sent, a.done, b.done); c != 0 || a.tie == b.tie {
		return c
	}
	if a.tie < b.tie {
		return -1
	}
	return 1
}

// shift is added to the rank of sends from one on: at the edge of a step a plan
// may have an arrival more or less than the generator made of it.
type shift struct {
	from int
	by   int64
}

// unnumbered reports whether a row could be numbered by rank.
func unnumbered(r *sample.Row) bool {
	return r.Intended == 0 && r.Index == sample.NoIndex && r.Attempt == 0 && r.Flags&sample.StartIsDue == 0
}

// paced reports whether the declaration says when each arrival was due, and
// nothing speaks against a generator that followed it.
func (f *folder) paced() bool {
	if f.declared == nil || !f.run.Finished || f.sampled > 0 {
		return false
	}
	for _, it := range f.iterations {
		if it.closed() {
			return false
		}
	}
	for g := range maps.Values(f.groups) {
		if g.Model == sample.Closed || g.interval > 0 || g.Rate > 0 || g.Process != "" && g.Process != "constant" {
			return false
		}
	}
	d := f.run.Declaration
	process := "constant"
	if d.Arrival != nil {
		if d.Arrival.Model == "closed" {
			return false
		}
		if d.Arrival.Process != "" {
			process = d.Arrival.Process
		}
	}
	for i := range d.Steps {
		if p := d.Steps[i].Process; p != "constant" && (p != "" || process != "constant") {
			return false
		}
	}
	return true
}

// rank numbers the rows that carry no place in the schedule, and reports whether
// any could be.
func (f *folder) rank(ctx context.Context) (bool, error) {
	n := &ranks{sources: map[string]*ranked{}, ties: map[*group]uint64{}}
	join, err := f.joins(ctx)
	if err != nil || len(join.multi) > 0 && !join.resends {
		return false, err
	}
	f.placed = &Ranks{}
	var local []*group
	var sampled, dated bool // some rows; of parts of the run that were not asked for too
	err = f.read(ctx, func(_ int, b *sample.Batch) error {
		local = f.translate(b, local[:0])
		for i := range b.Sent {
			if join.nested(b.SelfAt(i)) || join.within(b, i) {
				continue
			}
			r := b.Row(i)
			sampled = sampled || r.Flags&sample.Sampled != 0
			dated = dated || r.Attempt == 0 && (r.Intended != 0 || r.Index != sample.NoIndex)
			if unnumbered(&r) {
				if f.placed.Rows++; f.placed.Rows <= MostRanked {
					n.collect(local[r.Group], &r)
				}
			}
		}
		return ctx.Err()
	})
	switch {
	case err != nil || f.placed.Rows == 0 || sampled || dated:
		f.placed = nil
		return false, err
	case f.placed.Rows > MostRanked:
		f.placed.Why = "there are too many to be put in order"
		return false, nil
	}
	n.place(f.declared, f.placed)
	if f.placed.Numbered == 0 {
		return false, nil
	}
	f.ranks = n
	for k, s := range f.streams {
		if r := n.sources[k.source]; r != nil {
			s.schedule, s.origin = r.schedule, r.origin
		}
	}
	return true, nil
}

// joins says which rows of the whole run are attempts and layers of others, also
// where only a part of it was asked for.
func (f *folder) joins(ctx context.Context) (*joiner, error) {
	if !f.part() {
		return &f.join, nil
	}
	var j joiner
	pass := func(fn func(r *sample.Row)) error {
		return f.read(ctx, func(_ int, b *sample.Batch) error {
			for i := range b.Sent {
				r := b.Row(i)
				fn(&r)
			}
			return ctx.Err()
		})
	}
	err := pass(j.see)
	if err == nil && j.needsKeys() {
		err = pass(j.gather)
	}
	j.resolve()
	return &j, err
}

func (n *ranks) collect(g *group, r *sample.Row) {
	s := n.sources[g.Source]
	if s == nil {
		s = &ranked{}
		n.sources[g.Source] = s
	}
	s.sends = append(s.sends, n.key(g, r))
}

// key is what a row is ordered by.
func (n *ranks) key(g *group, r *sample.Row) dispatch {
	tie, ok := n.ties[g]
	if !ok {
		h := fnv.New64a()
		fmt.Fprintf(h, "%q", []any{g.Source, g.Generator, g.Scenario, g.Step, g.Deadline, g.Model, g.Process})
		tie = h.Sum64()
		n.ties[g] = tie
	}
	for _, v := range [...]uint64{uint64(r.Outcome), uint64(r.Status), uint64(r.FirstByte), uint64(r.Tokens), uint64(r.Flags), r.Key, r.Self} {
		tie = (tie ^ v) * 0x9e3779b97f4a7c15 // Fibonacci hashing: any order will do, as long as it is one
		tie ^= tie >> 29
	}
	return dispatch{r.Sent, r.Done, tie}
}

// place gives every source its part of the schedule, and its sends their places.
// Hosts that share a schedule have equal parts of it, or, where all that was due
// was sent, the parts that they sent.
func (n *ranks) place(all *Schedule, out *Ranks) {
	want := all.Due(0, all.Length())
	whole := math.Abs(float64(out.Rows)-want) <= float64(len(n.sources))
	for _, name := range slices.Sorted(maps.Keys(n.sources)) {
		s := n.sources[name]
		part := 1 / float64(len(n.sources))
		if whole && len(n.sources) > 1 {
			part = float64(len(s.sends)) / float64(out.Rows)
		}
		slices.SortFunc(s.sends, dispatch.compare)
		s.schedule = all.part(part)
		if why := s.place(); why != "" && (out.Why == "" || why < out.Why) {
			out.Why = why
		}
		out.Numbered += int64(s.proven)
	}
}

// Why sends could not be numbered, in words that end a sentence.
const (
	whyMore  = "more were sent than were due"
	whyEarly = "some were sent before they would have been due"
	whyLeft  = "fewer were sent than were due, and which were left out is not known"
	whyLoose = "sends do not keep to the times of the schedule"
	whyShift = "late sends kept the pace of the schedule and did not catch up"
)

// place numbers the sends of one source as far as that is proven: by the plan as
// it is, else with the arrivals that its edges may have more or less.
func (s *ranked) place() (why string) {
	if why = s.prove(false); why == "" {
		return ""
	}
	plain := *s
	if edged := s.prove(true); s.proven > plain.proven {
		return edged
	}
	*s = plain
	return why
}

// prove numbers the sends and finds up to which the numbers are proven.
func (s *ranked) prove(edges bool) (why string) {
	s.proven = 0
	if !s.walk(edges) {
		return whyEarly
	}
	inTime, near, late, paced := s.tally()
	if 2*near < inTime {
		return whyLoose
	}
	total := int64(math.Round(s.schedule.Due(0, s.schedule.Length())))
	last := s.index(len(s.sends)-1) + 1
	switch {
	case last > total+1:
		return whyMore
	case last >= total && 2*paced <= late:
		s.proven = len(s.sends)
		return ""
	}
	for i := len(s.sends) - 1; i >= 0 && s.proven == 0; i-- {
		if index := s.index(i); 2*(s.sends[i].sent-s.origin-s.schedule.Offset(index)) < s.schedule.step(index) {
			s.proven = i + 1
		}
	}
	switch {
	case s.proven == len(s.sends):
		return ""
	case last >= total:
		return whyShift
	}
	return whyLeft
}

// tally sorts the sends by what held them. Those within a gap of their due time
// were free to be in time: near counts the ones that were, inTime these and the
// ones that no completion explains. The others were late: paced counts the ones
// that came one gap after the send before and after no completion. A generator that
// queues what it could not send waits for a free worker, and not for the next tick.
func (s *ranked) tally() (inTime, near, late, paced int) {
	ends := make([]int64, len(s.sends))
	for i := range s.sends {
		ends[i] = s.sends[i].done
	}
	slices.Sort(ends)
	var before int64
	k := 0
	for i := range s.sends {
		index := s.index(i)
		due, gap, sent := s.schedule.Offset(index), s.schedule.step(index), s.sends[i].sent
		for k < len(ends) && ends[k] <= sent {
			k++
		}
		freed := k > 0 && sent-ends[k-1] <= gap/10
		switch behind := sent - s.origin - due; {
		case behind <= min(gap/10, earlyLimit)+earlyLimit:
			inTime++
			near++
		case behind < max(gap, earlyLimit):
			if !freed {
				inTime++
			}
		case i > 0:
			late++
			if d := sent - s.sends[i-1].sent - (due - before); !freed && 10*max(d, -d) <= due-before {
				paced++
			}
		}
		before = due
	}
	return inTime, near, late, paced
}

// walk finds when the schedule began and, with edges, where the generator made
// another number of arrivals of a step than the plan: one more or less. It reports
// whether no send was early. The first arrival counts as sent in time.
func (s *ranked) walk(edges bool) bool {
	due, start := s.schedule, s.sends[0].sent
	next := due.pieces[1:]
	var by int64
	inTime := true
	s.origin, s.shifts = math.MaxInt64, nil
	for i := range s.sends {
		if edges && len(next) > 0 && inTime {
			if d := s.edge(i, int64(i)+by, start, &next[0]); d != 0 {
				by += d
				s.shifts = append(s.shifts, shift{i, by})
			}
		}
		index := int64(i) + by
		for len(next) > 0 && float64(index) > next[0].first+1 {
			next = next[1:]
		}
		gap, late := due.gap(index), s.sends[i].sent-start-due.Offset(index)
		if late < -max(gap/2, earlyLimit) {
			return false
		}
		inTime = 2*late < due.step(index)
		s.origin = min(s.origin, s.sends[i].sent-due.Offset(index))
	}
	return true
}

// edge compares a send with the beginning of the next step: 1 when the step before
// it had one arrival less than planned, -1 when it had one more, else 0.
func (s *ranked) edge(i int, index, start int64, next *piece) int64 {
	first := int64(math.Round(next.first))
	half := s.schedule.gap(first) / 2
	at := func(i int) int64 { return s.sends[i].sent - start - next.from }
	switch {
	case index == first-1 && at(i) >= -half && i+1 < len(s.sends) && at(i+1) >= half:
		return 1
	case index == first+1 && at(i) < half:
		return -1
	}
	return 0
}

// index is the place in the schedule of the i-th send.
func (s *ranked) index(i int) int64 {
	k := sort.Search(len(s.shifts), func(k int) bool { return s.shifts[k].from > i })
	if k == 0 {
		return int64(i)
	}
	return int64(i) + s.shifts[k-1].by
}

// begin forgets what was handed out: all rows are about to be read again.
func (n *ranks) begin() {
	if n == nil {
		return
	}
	for _, s := range n.sources {
		clear(s.handed)
	}
}

// number gives a row its place in the schedule, if that is known. It is called
// once for each row of a pass.
func (n *ranks) number(g *group, r *sample.Row) {
	if n == nil || !unnumbered(r) {
		return
	}
	s := n.sources[g.Source]
	if s == nil {
		return
	}
	key := n.key(g, r)
	i, found := slices.BinarySearchFunc(s.sends, key, dispatch.compare)
	if !found {
		return
	}
	if i+1 < len(s.sends) && s.sends[i+1] == key {
		if s.handed == nil {
			s.handed = map[int]int{}
		}
		s.handed[i]++
		i += s.handed[i] - 1
	}
	if i < s.proven {
		r.Index = s.index(i)
	}
}
