package verdict_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

var update = flag.Bool("update", false, "write the documents that tests compare with")

const examplePath = "../../docs/verdict.example.json"

// example is the run of the contract: 120/s for 60 s onto a service that
// carries 100/s, with the generator's own count of requests in flight.
func example() *foldtest.Evidence {
	t0 := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	at := t0.UnixNano()
	var rows []sample.Row
	for i := range int64(7200) {
		due := at + i*1e9/120
		r := foldtest.Row(due, due+i*7919%1_000_000, at+i*10e6+1000)
		r.Key, r.Flags = uint64(i+1), sample.RequestKey|sample.LastAttempt
		rows = append(rows, r)
	}
	ev := evidence(sample.Group{Source: "otelgen", Generator: "otelgen", Scenario: "orders", Model: sample.Open}, rows, nil)
	deadline, timeout := 2.0, 30.0
	ev.Of = fold.Run{ID: "orders-42", Name: "orders", Finished: true, Revision: 118, Declaration: &wire.Declaration{
		ID: "orders-42", Name: "orders", DeadlineS: &deadline, TimeoutS: &timeout, Start: &t0,
		Arrival: &wire.Arrival{Model: "open", Process: "constant"},
		Steps:   []wire.DeclareStep{{RatePerS: 120, DurationS: 60}},
	}}
	counted := &sample.Batch{Series: []sample.Series{{Source: "otelgen", Name: "loadtest.requests.in_flight_time", Kind: sample.Counter}}}
	for s := int64(1); s <= 72; s++ {
		var sum int64
		for _, r := range rows {
			if from := r.Sent; from < at+s*1e9 {
				sum += min(r.Done, at+s*1e9) - from
			}
		}
		counted.Points = append(counted.Points, sample.Point{Start: at - 1, Time: at + s*1e9, Value: float64(sum) / 1e9 * 1.0003})
	}
	ev.Batches = append(ev.Batches, counted)
	return ev
}

func TestExampleDocument(t *testing.T) {
	t.Parallel()
	v := judge(t, example(), query.Options{})
	got, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *update {
		if err := os.WriteFile(examplePath, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(examplePath)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the document has changed; run with -update and look at the difference:\n%s", got)
	}
}

// TestExampleKeepsTheContract holds the numbers that the contract prints.
func TestExampleKeepsTheContract(t *testing.T) {
	t.Parallel()
	v := judge(t, example(), query.Options{})
	s := v.Steps[0]
	near(t, "offered", s.Offered, 120, 0)
	near(t, "ended", s.Ended, 100, 0.001)
	near(t, "completed", s.Completed, 100, 0.001)
	near(t, "goodput", s.Goodput, 20, 0)
	near(t, "attempts", s.AttemptsPerS, 120, 0.001)
	near(t, "in flight", s.InFlight.Mean, 600, 0.001)
	near(t, "first half", s.InFlight.FirstHalf, 300, 0.003)
	near(t, "second half", s.InFlight.SecondHalf, 900, 0.003)
	near(t, "attempts per request", s.AttemptsPerReq, 1, 0)
	near(t, "at end", s.InFlight.AtEnd, 1200, 0)
	near(t, "max", s.ResponseTime.Max, 12, 0.002)
	near(t, "lambda w", s.LittlesLaw.LambdaW, 720, 0.03)
	near(t, "drain", s.DrainS, 12, 0.001)
	if s.Due != 7200 || s.Sent != 7200 || s.Dropped != 0 || s.Balance.OpenAtEnd != 1200 || s.Counts.OK != 7200 {
		t.Errorf("%+v %+v", s.Balance, s.Counts)
	}
	if l := s.LittlesLaw; !l.Independent || l.OK == nil || !*l.OK || l.Source != "loadtest.requests.in_flight_time" || *l.ExactResidual > 1e-12 {
		t.Errorf("%+v", l)
	}
	if s.Class != wire.ClassUnstable || v.Outcome != wire.OutcomeFail || v.Run.OfferedSource != "declared" || *v.Run.Grade != "A" {
		t.Errorf("%s %s %+v", s.Class, v.Outcome, v.Run)
	}
	if v.Knee.State != wire.NotTested || v.Metastability.State != wire.NotTested || v.SaturationThroughput != nil {
		t.Errorf("%+v", v.Knee)
	}
	for _, part := range []string{"At 120/s", "1,200 requests", "12 s to drain", "100/s (97.4 to 102.6)"} {
		if !strings.Contains(v.Headline, part) {
			t.Errorf("headline %q lacks %q", v.Headline, part)
		}
	}
}
