package fold

import (
	"math"
	"slices"
	"sort"
)

// ranked are the sends of one source, in order, and how far they are proven to be
// the arrivals of its schedule one by one. Three facts carry the proof:
//
//   - Sends that nothing held keep to the times of the schedule; else it is another.
//   - A send less than half a gap after its due time has all earlier arrivals before
//     it: each one left out would have delayed all that follow by a gap.
//   - Behind the last such send, all were sent if there are as many as were due and
//     the late ones came when a worker was free or in a burst. One gap after the
//     other, something was left out or added instead, or the rate is another one: a
//     generator that queues does not wait for the next tick when it is late.
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
