package metastability

import (
	"cmp"
	"math"
	"slices"
)

// Span is what happened in a stretch of time. Spans of one second serve best; the
// ones of a phase follow on each other in order of time.
type Span struct {
	FromS, ToS float64 // seconds on any one clock
	Due        int64   // requests due, dropped ones included
	Good       int64   // good answers to those; see Input.GoodByFlow
	Completed  int64   // answers that came in it, late ones included
	Attempts   int64   // attempts sent
	Refused    int64   // attempts that the server refused at once; 0 when unknown
	Timeouts   int64   // requests that ended in a time-out
	InFlight   float64 // mean
	MedianS    float64 // median response time of those due; NaN when none is known
	// Answered are the attempts that the client got an answer to, good or bad.
	Answered int64
	// FromNS and ToNS are the same stretch as FromS and ToS on the clock of the
	// telemetry; the judgement does not read them.
	FromNS, ToNS int64
	// Optional, from the server: what waits in its queue and how long that waited,
	// callers that wait for its pool, and answers that nobody waited for, which may
	// be below 0 by noise. A span that no export fell into has none.
	Queue       *float64
	QueueAgeS   *float64
	PoolPending *float64
	Abandoned   *float64
}

// seconds is the length of a span.
func (s *Span) seconds() float64 { return s.ToS - s.FromS }

func (s *Span) share() float64 {
	if s.Due <= 0 {
		return 1 // nothing was asked, so nothing was refused
	}
	return float64(s.Good) / float64(s.Due)
}

// usable reports whether a span has a length and counts that can be added up.
func (s *Span) usable() bool {
	return s.ToS > s.FromS && !math.IsInf(s.ToS-s.FromS, 0) && s.Due >= 0 && s.Good >= 0 && s.Completed >= 0 &&
		s.Attempts >= 0 && s.Refused >= 0 && s.Timeouts >= 0 && s.InFlight >= 0 && !math.IsInf(s.InFlight, 0)
}

func usable(spans []Span) []Span {
	return slices.DeleteFunc(slices.Clone(spans), func(s Span) bool { return !s.usable() })
}

func length(spans []Span) float64 {
	if len(spans) == 0 {
		return 0
	}
	return spans[len(spans)-1].ToS - spans[0].FromS
}

// merge adds spans up. The median is the median of their medians, weighted by
// the requests due.
func merge(spans []Span) Span {
	out := Span{FromS: spans[0].FromS, ToS: spans[len(spans)-1].ToS, MedianS: math.NaN()}
	if len(spans) == 1 {
		return spans[0]
	}
	var area, seconds, weight float64
	type median struct{ at, weight float64 }
	var medians []median
	for i := range spans {
		s := &spans[i]
		out.Due += s.Due
		out.Good += s.Good
		out.Completed += s.Completed
		out.Attempts += s.Attempts
		out.Refused += s.Refused
		out.Timeouts += s.Timeouts
		area += s.InFlight * s.seconds()
		seconds += s.seconds()
		if !math.IsNaN(s.MedianS) {
			w := float64(max(1, s.Due))
			medians = append(medians, median{s.MedianS, w})
			weight += w
		}
	}
	out.InFlight = area / seconds
	slices.SortFunc(medians, func(a, b median) int { return cmp.Compare(a.at, b.at) })
	for left := weight / 2; len(medians) > 0; medians = medians[1:] {
		if left -= medians[0].weight; left <= 0 {
			out.MedianS = medians[0].at
			break
		}
	}
	return out
}

// spanS is the length that spans are brought to before they are judged.
const spanS = 5

// from merges spans from index i on until they last 5 s; ok is false when fewer
// seconds are left.
func from(spans []Span, i int) (Span, bool) {
	const tiny = 1e-6
	for j := i; j < len(spans); j++ {
		if spans[j].ToS-spans[i].FromS >= spanS-tiny {
			return merge(spans[i : j+1]), true
		}
	}
	return Span{}, false
}

// chop merges spans into consecutive ones of 5 s; what is left over at the end,
// if there is any longer one, is not used.
func chop(spans []Span) []Span {
	var out []Span
	for i := 0; i < len(spans); {
		s, ok := from(spans, i)
		if !ok {
			if len(out) == 0 {
				out = append(out, merge(spans[i:]))
			}
			break
		}
		out = append(out, s)
		for i < len(spans) && spans[i].FromS < s.ToS {
			i++
		}
	}
	return out
}
