package verdict_test

import (
	"math"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/verdict"
)

// answers are requests of 10/s for a minute, each answered by 50 + i mod 10
// tokens: the first after 0.1 s, or 0.4 s for every tenth, the others 20 ms
// apart. Every third was sent 50 ms late.
func answers() []sample.Row {
	var rows []sample.Row
	for i := range int64(600) {
		r := sample.Row{Intended: start + i*1e8, Index: sample.NoIndex, Tokens: 50 + i%10}
		r.Sent = r.Intended
		if i%3 == 0 {
			r.Sent += 50e6
		}
		r.FirstByte = r.Intended + 100e6
		if i%10 == 9 {
			r.FirstByte = r.Intended + 400e6
		}
		r.Done = r.FirstByte + (r.Tokens-1)*20e6
		rows = append(rows, r)
	}
	return rows
}

func TestTokens(t *testing.T) {
	t.Parallel()
	rows := answers()
	v := judge(t, evidence(openLoop, rows, nil), query.Options{})
	s := v.Totals
	if s.FirstByte == nil || s.InterToken == nil || !s.InterToken.Valid {
		t.Fatalf("first byte %+v, inter-token %+v", s.FirstByte, s.InterToken)
	}
	near(t, "first byte p50", s.FirstByte.P50.Value, 0.1, 0.001) // from when it was due
	near(t, "first byte p95", s.FirstByte.P95.Value, 0.4, 0.001)
	near(t, "inter-token p99", s.InterToken.P99.Value, 0.02, 0.001)
	var warm float64
	step := v.Steps[0]
	from := step.From.UnixNano() + int64(step.WarmupS*1e9)
	for _, r := range rows {
		if r.Done > from && r.Done <= step.To.UnixNano() {
			warm += float64(r.Tokens)
		}
	}
	near(t, "tokens per second", step.TokensPerS, warm/(step.DurationS-step.WarmupS), 0.001)
	f := finding(v, "token_times")
	if f == nil || !strings.Contains(f.Message, "20 ms each") || !strings.Contains(f.Message, "then 53.5 more") {
		t.Errorf("%+v", f)
	}
	near(t, "time of an answer", f.Value, 0.13+53.5*0.02, 0.001)

	series := func(points int) map[string][]*float64 {
		a, err := verdict.Analysis{}.Series(t.Context(), evidence(openLoop, rows, nil), query.Options{Names: []string{"tokens", "inter_token_p99"}, MaxPoints: points})
		if err != nil {
			t.Fatal(err)
		}
		return a.Columns
	}
	near(t, "tokens in second 30", series(0)["tokens"][30], 545, 0.2)
	near(t, "inter-token p99 of a third", series(3)["inter_token_p99"][1], 0.02, 0.02)
}

// TestNoTokens: what says nothing of tokens has none of it.
func TestNoTokens(t *testing.T) {
	t.Parallel()
	rows := answers()
	for i := range rows {
		rows[i].Tokens = 0
	}
	v := judge(t, evidence(openLoop, rows, nil), query.Options{})
	if s := v.Totals; s.InterToken != nil || s.TokensPerS != nil || finding(v, "token_times") != nil || s.FirstByte == nil {
		t.Errorf("%+v", s)
	}
	rows = answers()
	for i := range rows {
		rows[i].FirstByte = rows[i].Done // not streamed
	}
	v = judge(t, evidence(openLoop, rows, nil), query.Options{})
	if f := finding(v, "answers_not_streamed"); f == nil || *f.Value != 1 || v.Totals.InterToken != nil || v.Totals.TokensPerS == nil {
		t.Errorf("%+v %+v", f, v.Totals)
	}
}

// TestFirstByteDeadline counts an answer only if every part of the deadline holds.
func TestFirstByteDeadline(t *testing.T) {
	t.Parallel()
	good := func(rows []sample.Row, opt query.Options, d *wire.Declaration) (*float64, *wire.Verdict) {
		v := judge(t, evidence(openLoop, rows, d), opt)
		s := v.Totals
		if s.Completed == nil || *s.Completed == 0 || s.Goodput == nil {
			return nil, v
		}
		return some(*s.Goodput / *s.Completed), v
	}
	rows := answers()
	share, v := good(rows, query.Options{FirstByteDeadlineS: some(0.2)}, nil)
	near(t, "first byte within 200 ms", share, 0.9, 0.01)
	if v.Run.FirstByteDeadlineS == nil || *v.Run.FirstByteDeadlineS != 0.2 || v.Run.DeadlineS != nil {
		t.Errorf("%+v", v.Run)
	}
	share, _ = good(rows, query.Options{}, &wire.Declaration{FirstByteDeadlineS: some(0.2)})
	near(t, "declared", share, 0.9, 0.01)
	share, _ = good(rows, query.Options{FirstByteDeadlineS: some(0.2), DeadlineS: some(0.1 + 53.9*0.02)}, nil)
	near(t, "and the end within 1.178 s", share, 0.5, 0.01)
	share, _ = good(rows, query.Options{DeadlineS: some(3)}, nil)
	near(t, "the end alone", share, 1, 1e-9)

	// The curve over deadlines of the end counts only those whose first byte came in time.
	g, err := verdict.Analysis{}.Goodput(t.Context(), evidence(openLoop, rows, nil), query.Options{FirstByteDeadlineS: some(0.2)})
	if err != nil {
		t.Fatal(err)
	}
	last := g.Steps[0].Goodput[len(g.Steps[0].Goodput)-1]
	near(t, "goodput of a deadline of 100 s", last, 0.9**g.Steps[0].Completed, 0.01)

	// Where nothing says when the first byte came, goodput cannot be known; an
	// answer that ended in time began in time.
	for i := range rows {
		rows[i].FirstByte = 0
	}
	share, v = good(rows, query.Options{FirstByteDeadlineS: some(0.2), DeadlineS: some(9)}, nil)
	if f := finding(v, "first_byte_unknown"); share != nil || f == nil || *f.Value != 1 {
		t.Errorf("share %v, %+v", share, f)
	}
	if _, v = good(rows, query.Options{FirstByteDeadlineS: some(5)}, nil); v.Totals.Goodput == nil || finding(v, "first_byte_unknown") != nil {
		t.Errorf("answers that ended within the deadline of the first byte: %+v", v.Totals.Goodput)
	}
	objective := query.Options{FirstByteDeadlineS: some(0.2), Objectives: []wire.Objective{{GoodputRatioMin: some(0.5)}}}
	if v = judge(t, evidence(openLoop, rows, nil), objective); v.Outcome != wire.OutcomeInconclusive {
		t.Errorf("an objective that cannot be answered: %s", v.Outcome)
	}
}

// TestOperations: spans within an operation on a model are what it took, in
// whichever order and batches they come.
func TestOperations(t *testing.T) {
	t.Parallel()
	var operations, parts []sample.Row
	for i, r := range answers() {
		r.Self, r.Key, r.Flags = uint64(i+1), uint64(1_000_001), sample.Operation
		operations = append(operations, r)
		parts = append(parts, sample.Row{
			Sent: r.Sent, Done: r.Sent + 30e6, Intended: r.Intended, Index: sample.NoIndex, Self: uint64(i + 10_001), Key: uint64(i + 1),
		})
	}
	of := fold.Run{ID: "r", Name: "r", Finished: true}
	alone := judge(t, &foldtest.Evidence{Of: of, Batches: foldtest.Batches(openLoop, operations, 64)}, query.Options{})
	for _, size := range []int{1, 64, 5000} {
		b := append(foldtest.Batches(openLoop, parts, size), foldtest.Batches(openLoop, operations, 64)...)
		v := judge(t, &foldtest.Evidence{Of: of, Batches: b}, query.Options{})
		if v.Totals.Due != 600 || math.Abs(*v.Totals.ServiceTime.Mean-*alone.Totals.ServiceTime.Mean) > 1e-9 {
			t.Errorf("batches of %d: %d requests, mean service time %v; want 600 and %v", size, v.Totals.Due, *v.Totals.ServiceTime.Mean, *alone.Totals.ServiceTime.Mean)
		}
	}
}

// TestFirstByteOfThoseWhoGaveUp: percentiles of first bytes are not those of the
// requests that got one.
func TestFirstByteOfThoseWhoGaveUp(t *testing.T) {
	t.Parallel()
	for every, valid := range map[int]bool{5: false, 500: true} {
		rows := steady(10_000, 10e6, 500e6)
		for i := range rows {
			rows[i].FirstByte = rows[i].Sent + 100e6
			if i%every == 0 {
				rows[i].FirstByte, rows[i].Outcome, rows[i].Done = 0, sample.Timeout, rows[i].Sent+2e9
			}
		}
		r := judge(t, evidence(openLoop, rows, nil), query.Options{}).Totals.FirstByte
		if r.Valid != valid || r.N != 10_000 || r.P999.Value != nil {
			t.Errorf("one of %d gave up: %+v", every, r)
		}
		if valid {
			near(t, "p99", r.P99.Value, 0.1, 0.01)
		}
	}
}
