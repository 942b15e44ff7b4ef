package plugin

import (
	"context"
	"strings"

	"github.com/grafana/grafana-plugin-sdk-go/data"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// compared collects the rows of a comparison.
type compared struct {
	step, what, before, after, change, says []string
	ratio                                   []*float64
}

// compare is a row per figure of each step: before, after, the change with its
// interval, and what that says.
func (d *Datasource) compare(ctx context.Context, q *Query) (data.Frames, error) {
	with := q.params()
	with.Del("source")
	got, err := d.client.Compare(ctx, q.Run, q.Other, with)
	if err != nil {
		return nil, err
	}
	var rows compared
	rows.words("run", "outcome", got.Before.Outcome, got.After.Outcome)
	if got.Capacity != nil {
		rows.figure("run", "capacity", got.Capacity, perSecond)
	}
	if got.Before.KneeShape != "" || got.After.KneeShape != "" {
		rows.words("run", "beyond the knee", orDash(got.Before.KneeShape), orDash(got.After.KneeShape))
	}
	rows.words("run", "after the push", plain(got.Before.Metastability), plain(got.After.Metastability))
	for _, both := range []bool{true, false} { // what only one run has comes last
		for i := range got.Steps {
			if s := &got.Steps[i]; both == (s.Before != nil && s.After != nil) {
				rows.add(s)
			}
		}
	}
	f := table(
		"compare",
		field("step", "Step", rows.step),
		field("what", "Figure", rows.what),
		field("before", "Before", rows.before),
		field("after", "After", rows.after),
		field("change", "Change (95 %)", rows.change),
		mapped(field("says", "Says", rows.says), words()),
		decimals(unit(field("ratio", "After / before", rows.ratio), unitRatio), 0),
	)
	info(f, got.Headline)
	for _, text := range got.Notes {
		warn(f, text)
	}
	return data.Frames{shown(cut(f, d.settings.MaxRows, "rows"), "table")}, nil
}

func (r *compared) row(step, what, before, after, change, says string, ratio *float64) {
	r.step, r.what, r.before, r.after = append(r.step, step), append(r.what, what), append(r.before, before), append(r.after, after)
	r.change, r.says, r.ratio = append(r.change, change), append(r.says, says), append(r.ratio, ratio)
}

func (r *compared) words(step, what, before, after string) {
	r.row(step, what, orDash(before), orDash(after), "", "", nil)
}

func (r *compared) figure(step, what string, d *wire.Difference, write func(float64) string) {
	if d == nil {
		return
	}
	var ratio *float64
	if b, a := d.Before.Value, d.After.Value; b != nil && a != nil && *b > 0 {
		ratio = some(*a / *b)
	}
	r.row(step, what, estimated(&d.Before, write), estimated(&d.After, write), changeText(&d.Change, write), d.Says, ratio)
}

func (r *compared) add(s *wire.ComparedStep) {
	name := s.Name
	if name == "" && s.Offered != nil {
		name = perSecond(*s.Offered)
	}
	missing := func(class string) string {
		if class == "" {
			return "no such step"
		}
		return class
	}
	r.words(name, "class", missing(s.BeforeClass), missing(s.AfterClass))
	if s.Before == nil || s.After == nil {
		return
	}
	r.figure(name, "completed", s.Completed, perSecond)
	r.figure(name, "goodput", s.Goodput, perSecond)
	r.figure(name, "failed", s.FailureRatio, percent)
	r.figure(name, "p50", s.P50, seconds)
	r.figure(name, "p95", s.P95, seconds)
	r.figure(name, "p99", s.P99, seconds)
	if s.Reason != "" {
		r.row(name, "response times", "no number", "no number", s.Reason, "", nil)
	}
}

func percent(v float64) string { return digits(v*100) + " %" }

func estimated(e *wire.Estimate, write func(float64) string) string {
	switch {
	case e.Value != nil:
		return write(*e.Value)
	case e.Lo != nil:
		return "> " + write(*e.Lo)
	}
	return "no number"
}

func changeText(e *wire.Estimate, write func(float64) string) string {
	signed := func(v float64) string {
		if v < 0 {
			return "−" + write(-v)
		}
		return "+" + write(v)
	}
	switch {
	case e.Lo != nil && e.Hi != nil:
		return strings.Join([]string{signed(*e.Lo), "to", signed(*e.Hi)}, " ")
	case e.Value != nil:
		return signed(*e.Value) + ", interval unknown"
	}
	return "unknown"
}
