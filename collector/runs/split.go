package runs

import (
	"cmp"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// rowsOf returns the batch without its points, sharing its memory.
func rowsOf(b *sample.Batch) *sample.Batch {
	if len(b.Points) == 0 {
		return b
	}
	rows := *b
	rows.Series, rows.Points = nil, nil
	return &rows
}

// pointsOf returns the batch without its rows, sharing its memory.
func pointsOf(b *sample.Batch) *sample.Batch {
	if b.Len() == 0 {
		return b
	}
	return &sample.Batch{RunID: b.RunID, RunName: b.RunName, Series: b.Series, Points: b.Points}
}

// splitRows divides rows wherever none spans any time for Gap, so that how rows
// were divided over requests cannot decide where a run ends. Span is what the
// rows cover.
func splitRows(b *sample.Batch, span sample.Span, fn func(*sample.Batch, sample.Span)) {
	if span.To-span.From <= gap {
		fn(b, span)
		return
	}
	order := make([]int, b.Len())
	for i := range order {
		order[i] = i
	}
	from := func(i int) int64 {
		if due := b.Intended[i]; due != 0 {
			return min(due, b.Sent[i])
		}
		return b.Sent[i]
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(from(i), from(j)) })
	divide(order, from, func(i int) int64 { return b.Done[i] }, func(part []int, covered sample.Span) {
		if len(part) == len(order) {
			fn(b, span)
			return
		}
		slices.Sort(part) // keep the order of arrival
		sub := &sample.Batch{RunID: b.RunID, RunName: b.RunName, Groups: b.Groups}
		for _, i := range part {
			sub.Append(b.Row(i))
		}
		fn(sub, covered)
	})
}

// splitPoints does for points what splitRows does for rows.
func splitPoints(b *sample.Batch, span sample.Span, fn func(*sample.Batch, sample.Span)) {
	if span.To-span.From <= gap {
		fn(b, span)
		return
	}
	order := make([]int, len(b.Points))
	for i := range order {
		order[i] = i
	}
	when := func(i int) int64 { return b.Points[i].Time }
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(when(i), when(j)) })
	divide(order, when, when, func(part []int, covered sample.Span) {
		if len(part) == len(order) {
			fn(b, span)
			return
		}
		slices.Sort(part)
		sub := &sample.Batch{RunID: b.RunID, RunName: b.RunName, Series: b.Series}
		for _, i := range part {
			sub.Points = append(sub.Points, b.Points[i])
		}
		fn(sub, covered)
	})
}

// divide cuts order, sorted by from, wherever nothing covers more than Gap.
func divide(order []int, from, to func(int) int64, fn func([]int, sample.Span)) {
	start, covered := 0, sample.Span{From: from(order[0]), To: to(order[0])}
	for k, i := range order {
		if from(i) > covered.To+gap {
			fn(order[start:k], covered)
			start, covered = k, sample.Span{From: from(i), To: to(i)}
		}
		covered.To = max(covered.To, to(i))
	}
	fn(order[start:], covered)
}
