package fold

import (
	"math"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// numbers are the first and the last row of a stream by their place in the
// schedule.
type numbers struct {
	low, high place
	seen      bool
	rows      int64
}

type place struct{ index, sent int64 }

func (n *numbers) see(index, sent int64) {
	p := place{index, sent}
	if !n.seen || index < n.low.index || index == n.low.index && sent < n.low.sent {
		n.low = p
	}
	if !n.seen || index > n.high.index || index == n.high.index && sent > n.high.sent {
		n.high = p
	}
	n.seen = true
	n.rows++
}

// took is the time from the send of the first row to that of the last, against
// the time that a schedule has between them.
func (n *numbers) took(s *Schedule) (sent, due int64) {
	return n.high.sent - n.low.sent, s.Offset(n.high.index) - s.Offset(n.low.index)
}

// places notes the places in the declared schedule that rows carry, of parts of
// the run that were not asked for too.
func (f *folder) places(b *sample.Batch, local []*group) {
	if f.declared == nil {
		return
	}
	for i, index := range b.Index {
		if s := local[b.Group[i]].stream; s.declared && index != sample.NoIndex && b.Intended[i] == 0 && (len(b.Attempt) == 0 || b.Attempt[i] == 0) {
			s.numbers.see(index, b.Sent[i])
		}
	}
}

// divided is what the places of rows count.
type divided int

const (
	wholly   divided = 0  // the declared schedule
	unevenly divided = -1 // parts of it that nobody knows; n > 0 are n equal parts
)

// divide tells what the places of several streams count when one schedule is
// declared: the whole of it, or each its own part. It reports whether that is
// something else than before.
func (f *folder) divide() bool {
	was := f.divided
	if f.divided = f.division(); f.divided == was {
		return false
	}
	for _, s := range f.streams {
		if s.declared {
			s.schedule, s.origin = f.partly(), math.MaxInt64
		}
	}
	return true
}

func (f *folder) division() divided {
	var streams []*stream
	var rows, high int64
	for _, s := range f.streams {
		if n := &s.numbers; n.seen {
			rows, high = rows+n.rows, max(high, n.high.index+1)
			if n.high.sent-n.low.sent >= 1e9 { // else too little is known of it
				streams = append(streams, s)
			}
		}
	}
	n := len(streams)
	if n < 2 {
		return f.divided
	}
	evenly, whole := true, true
	part := f.declared.part(1 / float64(n))
	for _, s := range streams {
		sent, due := s.numbers.took(part)
		dense := 2*float64(n)*float64(s.numbers.rows) > float64(n+1)*float64(s.numbers.high.index-s.numbers.low.index+1)
		evenly = evenly && dense && float64(sent) >= 0.999*float64(due)-50e6
		sent, due = s.numbers.took(f.declared)
		whole = whole && float64(sent) >= 0.999*float64(due)-50e6 && float64(sent) <= 1.1*float64(due)+1e9
	}
	switch {
	case evenly:
		return divided(n)
	case whole || float64(rows) <= 1.01*float64(high)+float64(n):
		return wholly
	}
	return unevenly
}

// partly is the schedule that places count; nil when it is not known.
func (f *folder) partly() *Schedule {
	switch {
	case f.declared == nil || f.divided == unevenly:
		return nil
	case f.divided == wholly:
		return f.declared
	}
	return f.declared.part(1 / float64(f.divided))
}
