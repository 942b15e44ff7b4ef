package metastability

import "math"

// Base is the range that a system moved in before it was pushed.
type Base struct {
	Good     float64 // share of good answers
	Spread   float64 // standard deviation of that share between spans of 5 s, beyond counting noise
	InFlight float64 // highest of the means of 5 s
	MedianS  float64 // highest of the medians; NaN when none is known
	Spans    int
	slack    float64 // answers that may be missing from a span because they came in the next
}

// Constants of recovery.
const (
	baseShare          = 0.8 // of the time before the push is used, the last part
	goodMore, goodSig  = 0.05, 3.0
	levelTimes, levels = 1.5, 3.0
	medianTimes        = 2.0
	holdS, holdShare   = 5.0, 0.1
)

// baseOf measures the last part of the time before the push.
func baseOf(before []Span) Base {
	b := Base{MedianS: math.NaN()}
	if len(before) == 0 {
		return b
	}
	start := before[len(before)-1].ToS - baseShare*length(before)
	var kept []Span
	for i := range before {
		if before[i].FromS >= start-1e-6 || i == len(before)-1 {
			kept = append(kept, before[i])
		}
	}
	spans := chop(kept)
	b.Spans = len(spans)
	var due, good int64
	for i := range spans {
		s := &spans[i]
		due += s.Due
		good += s.Good
		b.InFlight = max(b.InFlight, s.InFlight)
		if !math.IsNaN(s.MedianS) && !(b.MedianS >= s.MedianS) {
			b.MedianS = s.MedianS
		}
	}
	b.Good = 1
	if due > 0 {
		b.Good = min(1, float64(good)/float64(due))
	}
	b.spread(spans)
	return b
}

// spread is how much the share of good answers moves between spans.
func (b *Base) spread(spans []Span) {
	if len(spans) < 2 {
		return
	}
	var sum, noise float64
	for i := range spans {
		d := min(1, spans[i].share()) - b.Good
		sum += d * d
		noise += b.binomial(spans[i].Due)
	}
	b.Spread = math.Sqrt(max(0, sum/float64(len(spans)-1)-noise/float64(len(spans))))
}

// binomial is the variance of the share of good answers among n requests.
func (b *Base) binomial(n int64) float64 { return b.Good * (1 - b.Good) / float64(max(1, n)) }

// holds reports whether a span lies within the range of the base.
func (b *Base) holds(s *Span) bool {
	sigma := math.Sqrt(b.binomial(s.Due) + b.Spread*b.Spread)
	return s.share()+b.slack/float64(max(1, s.Due)) >= b.Good-max(goodMore, goodSig*sigma) &&
		s.InFlight <= levelTimes*b.InFlight+levels &&
		!(s.MedianS > medianTimes*b.MedianS) // unknown medians do not object
}

// recovered returns the index from which to the end the base holds, or len(after).
// Every stretch of 5 s from there on lies within the base, and so does the span
// itself.
func (b *Base) recovered(after []Span) int {
	at := len(after)
	for i := len(after) - 1; i >= 0; i-- {
		s, ok := from(after, i)
		if !ok {
			s = after[i] // less than 5 s from the end, each must do by itself
		}
		if !b.holds(&s) {
			if ok {
				break
			}
			// One short span may miss by chance: the 5 s that end here decide.
			continue
		}
		at = i
	}
	for at < len(after) && !b.holds(&after[at]) {
		at++
	}
	return at
}
