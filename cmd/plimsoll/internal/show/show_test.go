package show_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/show"
)

var update = flag.Bool("update", false, "write the golden files anew")

func at(s float64) time.Time {
	return time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC).Add(time.Duration(s * float64(time.Second)))
}

func ptr[T any](v T) *T { return &v }

func est(v float64) wire.Estimate {
	return wire.Estimate{Value: &v, Lo: ptr(v * 0.98), Hi: ptr(v * 1.02), Confidence: 0.95}
}

func response(p50, p95, p99 float64, n int64) wire.Response {
	return wire.Response{Valid: true, Grade: ptr("A"), N: n, Steady: true, P50: est(p50), P95: est(p95), P99: est(p99)}
}

// push is a run of three steps: one that is fine, one past capacity, and one
// with dropped arrivals and censored requests.
func push() *wire.Verdict {
	fine := wire.Step{
		Index: 0, Name: "warm", From: at(0), To: at(60), DurationS: 60, Offered: ptr(80.0), Due: 4800, Sent: 4800, Completed: ptr(79.97), Goodput: ptr(79.97),
		Balance: wire.Balance{Due: 4800, Good: 4797, OpenAtEnd: 3}, ResponseTime: response(0.0123, 0.0345, 0.0678, 4320),
		ServiceTime: response(0.0121, 0, 0.0667, 4320),
		InFlight:    wire.InFlight{FirstHalf: ptr(1.02), SecondHalf: ptr(0.994), AtEnd: ptr(3.0)}, Class: wire.ClassStable, DrainS: ptr(0.05),
		LittlesLaw: wire.Little{Independent: true, Counted: ptr(1.007), LambdaW: ptr(1.01), Corrected: ptr(1.008), Residual: ptr(0.001), Tolerance: ptr(0.002), OK: ptr(true)},
	}
	over := wire.Step{
		Index: 1, From: at(60), To: at(120), DurationS: 60, Offered: ptr(120.0), Due: 7200, Sent: 7200, Completed: ptr(100.0), Goodput: ptr(20.0),
		Balance: wire.Balance{Due: 7200, CarriedIn: 3, Good: 1203, Late: 4800, OpenAtEnd: 1200}, ResponseTime: response(6, 11.4, 11.9, 6480),
		ServiceTime: response(0.012, 0, 0.0669, 6480),
		InFlight:    wire.InFlight{FirstHalf: ptr(300.0), SecondHalf: ptr(900.0), AtEnd: ptr(1200.0)}, Class: wire.ClassUnstable, DrainS: ptr(12.0),
		LittlesLaw: wire.Little{Counted: ptr(600.4), Corrected: ptr(600.0), Residual: ptr(0.0007), Tolerance: ptr(0.002), OK: ptr(true)},
	}
	over.ResponseTime.Steady = false
	over.ResponseTime.P99 = wire.Estimate{Lo: ptr(2.0), Confidence: 0.95}
	lost := wire.Step{
		Index: 2, Name: "a step with a very long name", From: at(120), To: at(180), DurationS: 60, Offered: ptr(1234.0), Due: 74040, Dropped: 3036, DroppedRatio: 0.041,
		Balance: wire.Balance{Due: 74040, CarriedIn: 1200, Dropped: 3036, Good: 72204}, Class: wire.ClassInvalid,
		ResponseTime: wire.Response{Reason: "4.1 % dropped", N: 71004}, ServiceTime: wire.Response{Reason: "4.1 % dropped"},
		LittlesLaw: wire.Little{Note: "no independent count was sent"},
	}
	return &wire.Verdict{
		Schema: wire.Schema, Revision: 118, Outcome: wire.OutcomeFail,
		Run: wire.Run{
			ID: "orders-42", Name: "orders", Generator: "otelgen", State: wire.Finished, StartedAt: ptr(at(0)), EndedAt: ptr(at(192)),
			Grade: ptr("A"), DeadlineS: ptr(2.0), OfferedSource: "declared",
		},
		Headline: "At 120/s the backlog grew to 1,200 requests and took 12 s to drain: more than the 100/s (97.4 to 102.6) this service carries.",
		Steps:    []wire.Step{fine, over, lost},
		Knee: wire.Knee{
			State: "found", Offered: ptr(101.0), Shape: ptr("saturation"), Recommended: ptr(87.6),
			Capacity: &wire.Estimate{Value: ptr(100.0), Lo: ptr(97.4), Hi: ptr(102.6), Confidence: 0.95},
		},
		Metastability: wire.Metastability{State: "recovered", RecoveredAfterS: ptr(12.4)},
		Audit: wire.Audit{Loop: "open", Findings: []wire.Finding{
			{Code: "dropped", Severity: wire.Invalid, Step: ptr(2), Value: ptr(0.041), Message: "At least 4.1 % of arrivals were lost."},
		}},
		Findings: []wire.Finding{
			{Code: "unstable_step", Severity: wire.Fail, Step: ptr(1), Value: ptr(34.0), Message: "In flight grew from 300 to 900 between halves of 60 s."},
			{Code: "percentile_support", Severity: wire.Warn, Message: "p99.9 needs 9,000 requests, there are 4,320: a percentile that rests on a handful of requests says little about the service and much about luck."},
			{Code: "dropped", Severity: wire.Invalid, Step: ptr(2), Value: ptr(0.041), Message: "At least 4.1 % of arrivals were lost."},
		},
	}
}

// hostile has text from outside that would like to be more than text.
func hostile() *wire.Verdict {
	v := push()
	v.Run.ID = "\x1b]0;owned\a\x9b2J"
	v.Run.Name = "a\n::error::forged\r\u202Egnp.exe"
	v.Steps[0].Name = "\x1b[31mred"
	v.Findings[0].Message = "100%\n::set-output name=x::y <b>&\x00"
	v.Findings[0].Code = "co:de,\x1b"
	return v
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("output differs from %s (-want +got):\n%s", file, diff)
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	list := &wire.RunList{NextCursor: "b3JkZXJz", Runs: []wire.RunItem{
		{ID: "orders-42", Name: "orders", State: wire.Finished, StartedAt: ptr(at(0)), EndedAt: ptr(at(192)), Outcome: wire.OutcomeFail, Headline: push().Headline},
		{ID: "\x1b[2Jx", Name: "a name that is longer than it should be", State: wire.Live, StartedAt: ptr(at(0))},
	}}
	for name, v := range map[string]*wire.Verdict{"push": push(), "hostile": hostile(), "empty": {Outcome: wire.OutcomeInconclusive}} {
		var table, junit, github bytes.Buffer
		for _, err := range []error{show.Table(&table, v, false), show.JUnit(&junit, v), show.GitHub(&github, v)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		golden(t, name+".txt", table.Bytes())
		golden(t, name+".junit.xml", junit.Bytes())
		golden(t, name+".github.txt", github.Bytes())
		harmless(t, name, table.String()+junit.String()+github.String())
		if err := xml.Unmarshal(junit.Bytes(), new(struct{ XMLName xml.Name })); err != nil {
			t.Errorf("%s: junit is not XML: %v", name, err)
		}
		for line := range strings.SplitSeq(table.String(), "\n") {
			if n := utf8.RuneCountInString(line); n > 100 {
				t.Errorf("%s: line of %d columns: %s", name, n, line)
			}
		}
	}
	var colour, runs bytes.Buffer
	if err := show.Table(&colour, push(), true); err != nil {
		t.Fatal(err)
	}
	golden(t, "push.colour.txt", colour.Bytes())
	if err := show.Runs(&runs, list, false); err != nil {
		t.Fatal(err)
	}
	golden(t, "runs.txt", runs.Bytes())
	harmless(t, "runs", runs.String())
}

// harmless fails if the text holds what a terminal obeys, or a workflow
// command that nobody meant.
func harmless(t *testing.T, name, text string) {
	t.Helper()
	for _, r := range text {
		if r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202E') {
			t.Errorf("%s: output holds %U", name, r)
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "::") && !strings.Contains(line, " title=plimsoll%3A") {
			t.Errorf("%s: forged command: %s", name, line)
		}
	}
}

// JSON output decodes to what the server sent.
func TestJSON(t *testing.T) {
	t.Parallel()
	body, err := json.Marshal(hostile())
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := show.JSON(&out, body); err != nil {
		t.Fatal(err)
	}
	harmless(t, "json", out.String())
	var want, got wire.Verdict
	if err := json.Unmarshal(body, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("document changed (-sent +written):\n%s", diff)
	}
}
