package main

import (
	"context"
	"strconv"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/internal/export"
	"github.com/plimsoll/plimsoll/internal/simrun/truth"
)

// send exports a case as its generators would. Every tenth export is sent twice,
// as after an answer that got lost.
func (s *server) send(ctx context.Context, c *truth.Case) error {
	for n, part := range c.Parts() {
		if err := s.source(c, n).Rows(ctx, part.Rows); err != nil {
			return err
		}
	}
	return s.counters(ctx, c)
}

// source is the generator n of a case.
func (s *server) source(c *truth.Case, n int) *export.Source {
	out := &export.Source{
		Server: "http://" + s.OTLPHTTP, Number: n, Name: "simrun", Repeat: func(at int) bool { return at%10 == 9 },
	}
	out.Spans = append(out.Spans, export.Str("loadtest.scenario", "orders"))
	out.Resource = append(out.Resource,
		export.Str("service.name", "loadgen"), export.Str("service.instance.id", strconv.Itoa(n)), export.Str("loadtest.run.id", c.ID()),
		export.Str("loadtest.run.name", c.Name()), export.Str("loadtest.generator", "sim"), export.Number("loadtest.deadline", float64(c.DeadlineNS)/1e9))
	if m := c.Group.Model; m != sample.UnknownModel {
		out.Resource = append(out.Resource, export.Str("loadtest.arrival.model", m.String()))
	}
	if c.Group.Rate > 0 {
		out.Resource = append(out.Resource, export.Number("loadtest.arrival.rate", c.Group.Rate))
	}
	return out
}

// counters sends what the generators count, a second at a time.
func (s *server) counters(ctx context.Context, c *truth.Case) error {
	all := c.Counters()
	longest := 0
	for _, k := range all {
		longest = max(longest, len(k.At))
	}
	for i := range longest {
		at := int64(0)
		var levels []export.Level
		for _, k := range all {
			if i < len(k.At) {
				at = k.At[i]
				levels = append(levels, export.Level{Name: k.Name, Value: k.Values[i]})
			}
		}
		if err := s.source(c, 0).Levels(ctx, truth.Start, at, levels); err != nil {
			return err
		}
	}
	return nil
}
