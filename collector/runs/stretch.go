package runs

import (
	"slices"
	"sort"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// stretch is a span of event time without a gap, and what is kept of it.
type stretch struct {
	span    sample.Span
	rowed   int   // entries with rows
	pointed int   // entries with points only
	rows    int64 //
	arrived int64 // wall time of the newest arrival
}

// merge adds what o holds to x.
func (x stretch) merge(o stretch) stretch {
	return stretch{
		span:    sample.Span{From: min(x.span.From, o.span.From), To: max(x.span.To, o.span.To)},
		rowed:   x.rowed + o.rowed,
		pointed: x.pointed + o.pointed,
		rows:    x.rows + o.rows,
		arrived: max(x.arrived, o.arrived),
	}
}

// stretches are in order of time, more than Gap apart from each other. Adding
// is commutative and associative, so the result depends on the set of what was
// added alone.
type stretches []stretch

// add joins x with the stretches that it comes within Gap of.
func (t stretches) add(x stretch) stretches {
	i := sort.Search(len(t), func(i int) bool { return t[i].span.To >= x.span.From-gap })
	j := i
	for j < len(t) && t[j].span.From <= x.span.To+gap {
		x = x.merge(t[j])
		j++
	}
	return slices.Replace(t, i, j, x)
}

// at returns the index of the stretch that holds or is nearest to time, or -1
// when there is none. Of two that are equally near, it is the earlier one.
func (t stretches) at(time int64) int {
	i := sort.Search(len(t), func(i int) bool { return t[i].span.To >= time })
	switch {
	case len(t) == 0:
		return -1
	case i == len(t):
		return i - 1
	case i > 0 && t[i].span.From > time && time-t[i-1].span.To <= t[i].span.From-time:
		return i - 1
	}
	return i
}

// near reports whether span would join one of the stretches.
func (t stretches) near(span sample.Span) bool {
	i := sort.Search(len(t), func(i int) bool { return t[i].span.To >= span.From-gap })
	return i < len(t) && t[i].span.From <= span.To+gap
}

// overlap reports whether two closed spans share a moment.
func overlap(a, b sample.Span) bool { return a.From <= b.To && b.From <= a.To }

// around widens a span by Gap on both sides: where points belong to its run.
func around(s sample.Span) sample.Span { return sample.Span{From: s.From - gap, To: s.To + gap} }
