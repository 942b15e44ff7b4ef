// Package bars holds what tests measure against what the judgements promise: each
// bar is printed as one line, which `make bars-analysis` collects into a table,
// and a bar that is not met fails the test.
//
// A line reads
//
//	BAR 5 | ok | 76.1 % >= 70 % | 100/s, 60 s, rho 1.05: unstable | 960 runs
//
// with the number of the bar (see docs/performance.md), whether it is met, the
// figure and its limit, what was measured, and on how much. It is used by tests
// alone.
package bars

import (
	"fmt"
	"testing"
)

// Bar is a figure with its limit.
type Bar struct {
	Number string // of the bar: "1" to "16", "live", "counts", "steps"
	Text   string // what was measured
	Of     string // on how much
	Unit   string // of figure and limit; empty: percent
	Slack  float64
}

// AtMost prints the bar and fails the test where got lies above limit + Slack.
func (b Bar) AtMost(t testing.TB, got, limit float64) {
	t.Helper()
	b.print(t, got, "<=", limit, got <= limit+b.Slack)
}

// AtLeast prints the bar and fails the test where got lies below limit − Slack.
func (b Bar) AtLeast(t testing.TB, got, limit float64) {
	t.Helper()
	b.print(t, got, ">=", limit, got >= limit-b.Slack)
}

func (b Bar) print(t testing.TB, got float64, relation string, limit float64, ok bool) {
	t.Helper()
	unit := b.Unit
	if unit == "" {
		unit = "%"
	}
	word := "ok"
	if !ok {
		word = "MISSED"
	}
	line := fmt.Sprintf("BAR %s | %s | %.3g %s %s %g %s | %s | %s", b.Number, word, got, unit, relation, limit, unit, b.Text, b.Of)
	if b.Slack > 0 {
		line += fmt.Sprintf(" (short form, %.3g of slack)", b.Slack)
	}
	if ok {
		t.Log(line)
		return
	}
	t.Error(line)
}
