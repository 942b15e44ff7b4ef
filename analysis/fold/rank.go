package fold

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// MostRanked is the most rows that are numbered by rank: all their times are held
// in memory for that, 32 bytes a row.
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
// i-th arrival, however late. How far that holds is proven source by source; what
// is not proven keeps its send time.
type ranks struct {
	sources map[string]*ranked
	ties    map[*group]uint64 // of the groups
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
