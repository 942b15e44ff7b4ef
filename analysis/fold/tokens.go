package fold

import (
	"github.com/plimsoll/plimsoll/analysis/response"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Tokens is what the answers of a step were made of, as far as their tokens are
// known.
type Tokens struct {
	// Cohort after warm-up: OK answers.
	Answers int64 // whose tokens are known
	Count   int64 // their tokens
	Timed   int64 // of these answers, those of two tokens or more whose first one is timed
	Further int64 // the tokens after the first of the timed ones
	Whole   int64 // timed ones of which all came within a millisecond: they were not streamed
	First   Sum   // of the timed ones, from due to the first token
	Rest    Sum   // of the timed ones, from the first token to the last
	// Inter is the time between tokens, (done − first byte) / (tokens − 1), of
	// the timed answers that were streamed; nil when there is none.
	Inter *response.Histogram

	Warm int64 // tokens of OK answers that ended after warm-up
}

// wholeWithin is how close behind its first token an answer ends that was not
// streamed.
const wholeWithin = 1e6

// betweenTokens is the mean time between the tokens of an answer; ok is false
// when it is not known.
func (q *request) betweenTokens() (ns int64, ok bool) {
	if q.tokens < 2 || q.firstByte == 0 || q.outcome != sample.OK {
		return 0, false
	}
	return (q.done - q.firstByte) / (q.tokens - 1), true
}

// tokens records the answer to a request that was due after warm-up.
func (s *Step) tokens(q *request) {
	if q.outcome != sample.OK {
		return
	}
	t := s.tokenised()
	t.Answers++
	t.Count += q.tokens
	between, ok := q.betweenTokens()
	if !ok {
		return
	}
	t.Timed++
	t.Further += q.tokens - 1
	t.First.Add(max(0, q.firstByte-q.due))
	t.Rest.Add(q.done - q.firstByte)
	if q.done-q.firstByte < wholeWithin {
		t.Whole++
		return
	}
	record(&t.Inter, 3, between)
}

func (s *Step) tokenised() *Tokens {
	if s.Tokens == nil {
		s.Tokens = &Tokens{}
	}
	return s.Tokens
}

// limited reports whether answers of the group have a deadline.
func (g *group) limited() bool { return g.deadline > 0 || g.firstDeadline > 0 }

// inTime reports whether an answer held every part of its deadline.
func (q *request) inTime() bool {
	return q.outcome == sample.OK && (q.g.deadline == 0 || q.done-q.due <= q.g.deadline) && (q.g.firstDeadline == 0 || q.firstInTime())
}

// firstInTime reports whether the first byte came in time. Where it is not
// known, the end of the answer bounds it; scan has seen to it that this decides.
func (q *request) firstInTime() bool {
	first := q.done
	if q.firstByte > 0 {
		first = q.firstByte
	}
	return first-q.due <= q.g.firstDeadline
}

// mostUnknown is the share of answers of which it may stay unknown whether their
// first byte came in time.
const mostUnknown = 0.001

// firstBytes drops the deadlines of first bytes when too few of them are known:
// then only the rest of the deadline can be held against answers, and that is
// not what was asked for.
func (f *folder) firstBytes() {
	if f.rows == 0 || float64(f.unclocked) <= mostUnknown*float64(f.rows) {
		return
	}
	f.state.FirstByteUnknown = float64(f.unclocked) / float64(f.rows)
	f.state.HasDeadline = false
	for _, g := range f.groups {
		g.firstDeadline, g.deadline = 0, 0
	}
}
