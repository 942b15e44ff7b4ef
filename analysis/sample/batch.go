package sample

import (
	"math"
	"slices"
)

// Batch holds the rows and metric points that one export request carried for
// one run. All row columns have the same length, but for the optional ones:
// when one of these is empty, every row has its default. Most streams leave most
// of them out, and neither writing nor reading them costs anything then. Append,
// Row, Move, Truncate and the accessors know about them.
//
// A Batch may be reused: Reset keeps its memory.
type Batch struct {
	RunID   string // explicit run id; empty when the run is named by its source
	RunName string // human name of the run; may be empty

	Groups   []Group
	Group    []uint16
	Sent     []int64
	Done     []int64
	Intended []int64
	Outcome  []Outcome
	Status   []int16

	FirstByte []int64  // optional, default 0
	Index     []int64  // optional, default NoIndex
	Attempt   []uint16 // optional, default 0
	Key       []uint64 // optional, default 0
	Self      []uint64 // optional, default 0
	Flags     []Flag   // optional, default 0
	Tokens    []int64  // optional, default 0

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
		Status: b.Status[:0], Flags: b.Flags[:0], Tokens: b.Tokens[:0], Series: b.Series[:0], Points: b.Points[:0],
	}
}

// Append adds a row.
func (b *Batch) Append(r Row) {
	if b.options() > 0 || r.FirstByte != 0 || r.Index != NoIndex || r.Key|r.Self != 0 || r.Attempt != 0 || r.Flags != 0 || r.Tokens != 0 {
		n := b.Len()
		b.FirstByte = extend(b.FirstByte, n, r.FirstByte, 0)
		b.Index = extend(b.Index, n, r.Index, NoIndex)
		b.Attempt = extend(b.Attempt, n, r.Attempt, 0)
		b.Key = extend(b.Key, n, r.Key, 0)
		b.Self = extend(b.Self, n, r.Self, 0)
		b.Flags = extend(b.Flags, n, r.Flags, 0)
		b.Tokens = extend(b.Tokens, n, r.Tokens, 0)
	}
	b.Group = append(b.Group, r.Group)
	b.Sent = append(b.Sent, r.Sent)
	b.Done = append(b.Done, r.Done)
	b.Intended = append(b.Intended, r.Intended)
	b.Outcome = append(b.Outcome, r.Outcome)
	b.Status = append(b.Status, r.Status)
}

// options is 0 when all optional columns are empty.
func (b *Batch) options() int {
	return len(b.FirstByte) | len(b.Index) | len(b.Attempt) | len(b.Key) | len(b.Self) | len(b.Flags) | len(b.Tokens)
}

// extend appends the value of row n to an optional column.
func extend[T comparable](col []T, n int, v, missing T) []T {
	if len(col) == 0 {
		if v == missing {
			return col
		}
		for range n {
			col = append(col, missing)
		}
	}
	return append(col, v)
}

// at returns the value of row i of an optional column.
func at[T any](col []T, i int, missing T) T {
	if len(col) == 0 {
		return missing
	}
	return col[i]
}

// Row returns row i.
func (b *Batch) Row(i int) Row {
	r := Row{
		Group: b.Group[i], Sent: b.Sent[i], Done: b.Done[i], Intended: b.Intended[i],
		Outcome: b.Outcome[i], Status: b.Status[i], Index: NoIndex,
	}
	if b.options() > 0 {
		r.FirstByte = at(b.FirstByte, i, 0)
		r.Index = at(b.Index, i, NoIndex)
		r.Attempt = at(b.Attempt, i, 0)
		r.Key = at(b.Key, i, 0)
		r.Self = at(b.Self, i, 0)
		r.Flags = at(b.Flags, i, 0)
		r.Tokens = at(b.Tokens, i, 0)
	}
	return r
}

// SelfAt returns the Self of row i.
func (b *Batch) SelfAt(i int) uint64 { return at(b.Self, i, 0) }

// SetSelf sets the Self of row i.
func (b *Batch) SetSelf(i int, v uint64) {
	if len(b.Self) == 0 {
		b.Self = slices.Grow(b.Self, b.Len())[:b.Len()]
		clear(b.Self)
	}
	b.Self[i] = v
}

// Move copies row i to row to.
func (b *Batch) Move(to, i int) {
	b.Group[to], b.Sent[to], b.Done[to] = b.Group[i], b.Sent[i], b.Done[i]
	b.Intended[to], b.Outcome[to], b.Status[to] = b.Intended[i], b.Outcome[i], b.Status[i]
	move(b.FirstByte, to, i)
	move(b.Index, to, i)
	move(b.Attempt, to, i)
	move(b.Key, to, i)
	move(b.Self, to, i)
	move(b.Flags, to, i)
	move(b.Tokens, to, i)
}

func move[T any](col []T, to, i int) {
	if len(col) > 0 {
		col[to] = col[i]
	}
}

// Truncate keeps the first n rows.
func (b *Batch) Truncate(n int) {
	b.Group, b.Sent, b.Done = b.Group[:n], b.Sent[:n], b.Done[:n]
	b.Intended, b.Outcome, b.Status = b.Intended[:n], b.Outcome[:n], b.Status[:n]
	b.FirstByte, b.Index = b.FirstByte[:min(n, len(b.FirstByte))], b.Index[:min(n, len(b.Index))]
	b.Attempt, b.Flags = b.Attempt[:min(n, len(b.Attempt))], b.Flags[:min(n, len(b.Flags))]
	b.Key, b.Self = b.Key[:min(n, len(b.Key))], b.Self[:min(n, len(b.Self))]
	b.Tokens = b.Tokens[:min(n, len(b.Tokens))]
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
