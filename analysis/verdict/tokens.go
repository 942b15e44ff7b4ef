package verdict

import (
	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/response"
)

// tokens fills in what is known of first bytes and of the tokens of answers.
func (j *judge) tokens(t *judged) {
	s, w := t.Step, t.wire
	if w.FirstByte = firstByte(s); w.FirstByte != nil {
		unknown := ratio(s.NoFirstByte, w.FirstByte.N)
		switch {
		case w.DroppedRatio > dropLimit:
			refuse(w.FirstByte, droppedReason(w.DroppedRatio))
		case unknown > dropLimit:
			refuse(w.FirstByte, "no number: "+share(unknown)+" gave up, and no first byte of theirs is known")
		case j.closed() && !j.fixed():
			w.FirstByte.Reason = "closed loop: counted from the send, under a load that the tool reduced itself"
		case !s.Grade.Timed():
			w.FirstByte.Reason = "no intended send times: counted from the send"
		}
	}
	if s.Tokens == nil {
		return
	}
	if w.InterToken = optional(s.Tokens.Inter); w.InterToken != nil && w.DroppedRatio > dropLimit {
		refuse(w.InterToken, droppedReason(w.DroppedRatio))
	}
	if j.st.SampledRows == 0 && s.Tokens.Warm > 0 {
		w.TokensPerS = per(float64(s.Tokens.Warm), s.WarmSeconds())
	}
}

// firstByte is the distribution of times to the first byte. Those of requests that
// were given up without a known one count as longer than any.
func firstByte(s *fold.Step) *wire.Response {
	if s.FirstByte == nil {
		return nil
	}
	c := &response.Cohort{Exact: s.FirstByte, Censored: response.New(3), Never: uint64(s.NoFirstByte)}
	r := distribution(c, func(q float64) response.Estimate { return c.Quantile(q, confidence) })
	return &r
}

// mostWhole is the share of answers beyond which it is said that they came whole.
const mostWhole = 0.05

// models says what is worth knowing of answers that consist of tokens.
func (j *judge) models() {
	if u := j.st.FirstByteUnknown; u > 0 {
		j.find("first_byte_unknown", wire.Warn, u,
			"For %s of the requests nothing says when the first byte came, and the end came after its deadline: goodput within %s to the first byte cannot be known.",
			share(u), lasting(value(j.st.FirstByteDeadlineS)))
	}
	k := j.st.Totals.Tokens
	if k == nil || k.Timed == 0 {
		return
	}
	n := float64(k.Timed)
	if whole := float64(k.Whole) / n; whole > mostWhole {
		j.find("answers_not_streamed", wire.Warn, whole,
			"%s of the answers of several tokens came whole, all within 1 ms of the first: they were not streamed, and the time to the first token is that to the last.", share(whole))
	}
	if k.Whole == k.Timed || k.Further == 0 {
		return
	}
	first, rest := k.First.Seconds()/n, k.Rest.Seconds()/n
	between := k.Rest.Seconds() / float64(k.Further)
	j.find("token_times", wire.Info, first+rest,
		"An answer took %s on average: %s to the first token, then %.4g more at %s each%s. All of it comes from the same spans, so that it adds up proves nothing about the service.",
		lasting(first+rest), lasting(first), float64(k.Further)/n, lasting(between), tokensLeftOut(k))
}

// tokensLeftOut says how many answers the mean leaves out.
func tokensLeftOut(k *fold.Tokens) string {
	if k.Timed == k.Answers {
		return ""
	}
	return " (" + human(k.Answers-k.Timed) + " answers of one token, or without the time of the first, left out)"
}
