package sample

import "math"

// Batch holds the rows and metric points that one export request carried for
// one run. All row columns have the same length. A Batch may be reused: Reset
// keeps its memory.
type Batch struct {
	RunID   string // explicit run id; empty when the run is named by its source
	RunName string // human name of the run; may be empty

	Groups    []Group
	Group     []uint16
	Sent      []int64
	Done      []int64
	FirstByte []int64
	Intended  []int64
	Index     []int64
	Attempt   []uint16
	Key       []uint64
	Self      []uint64
	Outcome   []Outcome
	Status    []int16
	Flags     []Flag

	Series []Series
	Points []Point
}

// Len returns the number of rows.
func (b *Batch) Len() int { return len(b.Sent) }

// Empty reports whether the batch carries neither rows nor points.
func (b *Batch) Empty() bool { return len(b.Sent) == 0 && len(b.Points) == 0 }

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() {
	clear(b.Groups)
	clear(b.Series)
	clear(b.Points)
	*b = Batch{
		Groups: b.Groups[:0], Group: b.Group[:0], Sent: b.Sent[:0], Done: b.Done[:0],
		FirstByte: b.FirstByte[:0], Intended: b.Intended[:0], Index: b.Index[:0],
		Attempt: b.Attempt[:0], Key: b.Key[:0], Self: b.Self[:0], Outcome: b.Outcome[:0],
		Status: b.Status[:0], Flags: b.Flags[:0], Series: b.Series[:0], Points: b.Points[:0],
	}
}

// Append adds a row.
func (b *Batch) Append(r Row) {
	b.Group = append(b.Group, r.Group)
	b.Sent = append(b.Sent, r.Sent)
	b.Done = append(b.Done, r.Done)
	b.FirstByte = append(b.FirstByte, r.FirstByte)
	b.Intended = append(b.Intended, r.Intended)
	b.Index = append(b.Index, r.Index)
	b.Attempt = append(b.Attempt, r.Attempt)
	b.Key = append(b.Key, r.Key)
	b.Self = append(b.Self, r.Self)
	b.Outcome = append(b.Outcome, r.Outcome)
	b.Status = append(b.Status, r.Status)
	b.Flags = append(b.Flags, r.Flags)
}

// Row returns row i.
func (b *Batch) Row(i int) Row {
	return Row{
		Group: b.Group[i], Sent: b.Sent[i], Done: b.Done[i], FirstByte: b.FirstByte[i],
		Intended: b.Intended[i], Index: b.Index[i], Attempt: b.Attempt[i], Key: b.Key[i],
		Self: b.Self[i], Outcome: b.Outcome[i], Status: b.Status[i], Flags: b.Flags[i],
	}
}

// GroupIndex returns the index of g in Groups, adding it when it is new.
// Batches have few groups, so it searches linearly, newest first.
func (b *Batch) GroupIndex(g *Group) uint16 {
	for i := len(b.Groups) - 1; i >= 0; i-- {
		if b.Groups[i] == *g {
			return uint16(i)
		}
	}
	b.Groups = append(b.Groups, *g)
	return uint16(len(b.Groups) - 1)
}

// Span is a closed stretch of event time. The zero value is empty.
type Span struct{ From, To int64 }

// IsZero reports whether the span is empty.
func (s Span) IsZero() bool { return s.From == 0 && s.To == 0 }

// Union returns the smallest span that holds both.
func (s Span) Union(o Span) Span {
	switch {
	case s.IsZero():
		return o
	case o.IsZero():
		return s
	}
	return Span{min(s.From, o.From), max(s.To, o.To)}
}

// Span returns the event time that the batch covers: from the earliest intended
// or sent time to the latest end of its rows, or the times of its points when
// it has no rows.
func (b *Batch) Span() Span {
	s := Span{math.MaxInt64, math.MinInt64}
	for i, sent := range b.Sent {
		from := sent
		if v := b.Intended[i]; v != 0 && v < from {
			from = v
		}
		s.From, s.To = min(s.From, from), max(s.To, b.Done[i])
	}
	if len(b.Sent) == 0 {
		for i := range b.Points {
			s.From, s.To = min(s.From, b.Points[i].Time), max(s.To, b.Points[i].Time)
		}
	}
	if s.From > s.To {
		return Span{}
	}
	return s
}

// Telemetry is the RunID of batches that belong to no run: metrics of the
// servers under test, kept by resource and joined to runs by time.
const Telemetry = "\x00telemetry"
