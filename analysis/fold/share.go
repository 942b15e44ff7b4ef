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
		if s := local[b.Group[i]].stream; s.declared && index != sample.NoIndex && b.Intended[i] == 0 {
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
	var known float64
	for _, s := range f.streams {
		if s.numbers.seen {
			streams = append(streams, s)
			known += float64(s.numbers.high.index + 1)
		}
	}
	n := len(streams)
	if n < 2 {
		return f.divided
	}
	if known > 1.01*f.declared.Due(0, f.declared.Length())+float64(n) {
		return wholly
	}
	evenly, whole := true, true
	part := f.declared.part(1 / float64(n))
	for _, s := range streams {
		sent, due := s.numbers.took(part)
		if due < 1e9 {
			return f.divided // too little is known to change anything
		}
		evenly = evenly && float64(sent) >= 0.9*float64(due)
		sent, due = s.numbers.took(f.declared)
		whole = whole && float64(sent) <= 1.1*float64(due)+1e9
	}
	switch {
	case evenly:
		return divided(n)
	case whole:
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
