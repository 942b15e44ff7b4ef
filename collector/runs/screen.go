package runs

import (
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// reason is why rows and points are refused.
type reason int

const (
	tooOld reason = iota
	tooFarAhead
	clockStep
	noTime
	badID
	tooManyRuns
	tooManySources
	reasons
)

// reasonNames are the labels of refusals in metrics.
func (r reason) String() string {
	return [reasons]string{
		"too_old", "ahead", "clock_step", "no_time", "bad_run_id", "too_many_runs",
		"too_many_sources",
	}[r]
}

// refusals counts what was refused in one request.
type refusals struct {
	count [reasons]int64
	text  string // first thing wrong with an id
}

func (f *refusals) total() int64 {
	var n int64
	for _, c := range f.count {
		n += c
	}
	return n
}

// message explains the refusals to people.
func (f *refusals) message(cfg Config) string {
	var parts []string
	for r, n := range f.count {
		if n == 0 {
			continue
		}
		var why string
		switch reason(r) {
		case tooOld:
			why = fmt.Sprintf("older than %v (max-age)", cfg.MaxAge)
		case tooFarAhead:
			why = fmt.Sprintf("more than %v ahead of this clock", Ahead)
		case clockStep:
			why = "ended before they were sent (clock_step)"
		case noTime:
			why = "without a plausible time"
		case badID:
			why = "refused: " + f.text
		case tooManyRuns:
			why = fmt.Sprintf("would begin a run beyond the limit of %d", cfg.MaxRuns)
		case tooManySources:
			why = fmt.Sprintf("come from a source beyond the limit of %d", cfg.MaxSources)
		}
		parts = append(parts, fmt.Sprintf("%d rows or points %s", n, why))
	}
	return strings.Join(parts, "; ")
}

// Refused counts rows and points that were refused since the start, by reason.
func (c *Catalogue) Refused() map[string]int64 {
	totals := make(map[string]int64, reasons)
	for r := range reasons {
		totals[r.String()] = c.refused[r].Load()
	}
	return totals
}

func (f *refusals) addTo(totals *[reasons]atomic.Int64) {
	for r, n := range f.count {
		if n > 0 {
			totals[r].Add(n)
		}
	}
}

// limits say which times are taken.
type limits struct {
	oldest, newest int64
	window         sample.Span // of a declared run: taken although older than oldest
}

// plausible bounds every time, so that sums of times cannot overflow.
const plausible = int64(7_258_118_400 * time.Second) // the year 2200

// limitsAt are the limits by the clock, or without the age rules.
func (c *Catalogue) limitsAt(now int64, aged bool) limits {
	switch {
	case !aged:
		return limits{oldest: 1, newest: plausible}
	case c.cfg.MaxAge == 0:
		return limits{oldest: 1, newest: now + int64(Ahead)}
	}
	return limits{oldest: max(now-int64(c.cfg.MaxAge), 1), newest: now + int64(Ahead)}
}

// judge returns why a stretch of time is refused, or ok.
func (l *limits) judge(from, to int64) (reason, bool) {
	switch {
	case from <= 0 || to > plausible:
		return noTime, false
	case to > l.newest:
		return tooFarAhead, false
	case from < l.oldest && !(from >= l.window.From && to <= l.window.To):
		return tooOld, false
	}
	return 0, true
}

// screened is what screening a batch found.
type screened struct {
	rows    sample.Span // covered by its rows
	points  sample.Span // covered by its points
	longest int64       // response time
}

// screen takes refused rows and points out of the batch, in place.
func screen(b *sample.Batch, l limits, f *refusals) screened {
	var s screened
	s.rows, s.longest = screenRows(b, l, f)
	s.points = screenPoints(b, l, f)
	return s
}

func screenRows(b *sample.Batch, l limits, f *refusals) (span sample.Span, longest int64) {
	span = sample.Span{From: math.MaxInt64, To: math.MinInt64}
	kept := 0
	for i, sent := range b.Sent {
		from, to := sent, b.Done[i]
		if due := b.Intended[i]; due != 0 {
			from = min(from, due)
		}
		why, ok := l.judge(from, max(to, b.Intended[i]))
		if ok && to < sent {
			why, ok = clockStep, false
		}
		if !ok {
			f.count[why]++
			continue
		}
		if kept != i {
			b.Move(kept, i)
		}
		kept++
		span.From, span.To = min(span.From, from), max(span.To, to)
		longest = max(longest, to-from)
	}
	if kept < b.Len() {
		b.Truncate(kept)
	}
	if kept == 0 {
		return sample.Span{}, 0
	}
	return span, longest
}

func screenPoints(b *sample.Batch, l limits, f *refusals) sample.Span {
	span := sample.Span{From: math.MaxInt64, To: math.MinInt64}
	kept := 0
	for i := range b.Points {
		t := b.Points[i].Time
		if why, ok := l.judge(t, t); !ok {
			f.count[why]++
			continue
		}
		if kept != i {
			b.Points[kept] = b.Points[i]
		}
		kept++
		span.From, span.To = min(span.From, t), max(span.To, t)
	}
	b.Points = b.Points[:kept]
	if kept == 0 {
		return sample.Span{}
	}
	return span
}
