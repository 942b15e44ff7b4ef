package show_test

import (
	"bytes"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/show"
)

// fixed is a comparison with every kind of figure: one that got better, one that got
// worse, one without an interval, a quantile among censored requests, a step that
// only one run has, and one whose percentiles are refused.
func fixed() *wire.Comparison {
	differ := func(before, after, lo, hi float64, says string) *wire.Difference {
		return &wire.Difference{
			Before: est(before), After: est(after), Change: wire.Estimate{Value: ptr(after - before), Lo: &lo, Hi: &hi, Confidence: 0.95}, Says: says,
		}
	}
	unknown := &wire.Difference{Before: wire.Estimate{Lo: ptr(5.0), Confidence: 0.95}, After: est(0.0676), Says: "unclear"}
	return &wire.Comparison{
		Before:   wire.ComparedRun{Run: wire.Run{ID: "checkout-before"}, Outcome: wire.OutcomeFail},
		After:    wire.ComparedRun{Run: wire.Run{ID: "checkout-after"}, Outcome: wire.OutcomePass},
		Headline: "Capacity went from 462/s to 459/s, a change within what the intervals allow. Of the figures of common steps 3 are better, 1 worse, 0 show no difference.",
		Notes:    []string{"The runs have other steps: 200/s, 300/s, 400/s and 450/s are of the first alone."},
		Capacity: differ(462, 459.5, -5, 0.1, "unclear"),
		Steps: []wire.ComparedStep{
			{Offered: ptr(450.0), BeforeClass: wire.ClassStable},
			{
				Offered: ptr(500.0), BeforeClass: wire.ClassLossy, AfterClass: wire.ClassShedding, Completed: differ(462, 460, -4.1, 0.2, "unclear"),
				Goodput: differ(351, 460, 107, 111, "better"), FailureRatio: differ(0.076, 0.08, 0.002, 0.006, "worse"), P50: unknown, P99: unknown,
			},
			{
				Name: "over", Offered: ptr(550.0), BeforeClass: wire.ClassLossy, AfterClass: wire.ClassShedding, Goodput: differ(88, 461, 371, 375, "better"),
				Reason: "4.1 % dropped before; a percentile of those that were sent would leave out the ones that waited longest",
			},
		},
	}
}

func TestComparison(t *testing.T) {
	t.Parallel()
	for _, colour := range []bool{false, true} {
		var out bytes.Buffer
		if err := show.Comparison(&out, fixed(), colour); err != nil {
			t.Fatal(err)
		}
		name := "compare.txt"
		if colour {
			name = "compare.colour.txt"
		}
		golden(t, name, out.Bytes())
	}
}

// Text from outside cannot do more than be read.
func TestComparisonIsClean(t *testing.T) {
	t.Parallel()
	c := fixed()
	c.Before.Run.ID, c.Steps[1].Name, c.Notes[0], c.Steps[2].Reason = "\x1b]0;owned\a", "\x1b[31mred\n", "\x1b[2J", "a\rb\x00"
	var out bytes.Buffer
	if err := show.Comparison(&out, c, false); err != nil {
		t.Fatal(err)
	}
	if bytes.ContainsAny(out.Bytes(), "\x1b\a\r\x00") {
		t.Errorf("%q", out.Bytes())
	}
}
