package plugin

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/data"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

func millis(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

// steps is a row per step. Percentiles are words with their intervals, so that a
// refused one says why; their numbers are hidden fields beside them.
func (d *Datasource) steps(v *wire.Verdict, q *Query) *data.Frame {
	steps := picked(v, q)
	rates := func(name, title string, get func(s *wire.Step) *float64) *data.Field {
		return unit(field(name, title, column(steps, get)), unitRate)
	}
	times := func(name, title string, get func(s *wire.Step) string) *data.Field {
		return field(name, title, column(steps, get))
	}
	p99 := times("p99", "p99 response", func(s *wire.Step) string { return number(&s.ResponseTime, &s.ResponseTime.P99) })
	f := table(
		"steps",
		field("step", "Step", column(steps, func(s *wire.Step) string { return placed(v, s) })),
		mapped(field("class", "Class", column(steps, func(s *wire.Step) string { return orDash(s.Class) })), words()),
		rates("offered", "Offered", func(s *wire.Step) *float64 { return s.Offered }),
		rates("completed", "Completed", func(s *wire.Step) *float64 { return s.Completed }),
		rates("goodput", "Goodput", func(s *wire.Step) *float64 { return s.Goodput }),
		times("p50", "p50 response", func(s *wire.Step) string { return number(&s.ResponseTime, &s.ResponseTime.P50) }),
		p99,
		times("p99_service", "p99 uncorrected", func(s *wire.Step) string { return number(&s.ServiceTime, &s.ServiceTime.P99) }),
		field("in_flight", "In flight, by halves", column(steps, halves)),
		lost(steps),
		unit(field("drain", "Drain", column(steps, func(s *wire.Step) *float64 { return s.DrainS })), unitSeconds),
		field("due", "Due", column(steps, func(s *wire.Step) float64 { return float64(s.Due) })),
		field("why", "Why", column(steps, func(s *wire.Step) string { return s.Stability.Reason })),
		hidden(unit(field("from", "From", column(steps, func(s *wire.Step) time.Time { return s.From })), unitTime)),
		hidden(unit(field("to", "To", column(steps, func(s *wire.Step) time.Time { return s.To })), unitTime)),
		hidden(unit(field("p50_s", "p50", column(steps, func(s *wire.Step) *float64 { return valid(&s.ResponseTime, &s.ResponseTime.P50) })), unitSeconds)),
		hidden(unit(field("p99_s", "p99", column(steps, func(s *wire.Step) *float64 { return valid(&s.ResponseTime, &s.ResponseTime.P99) })), unitSeconds)),
		hidden(unit(field("first_half", "In flight, first half", column(steps, func(s *wire.Step) *float64 { return s.InFlight.FirstHalf })), unitCount)),
		hidden(unit(field("second_half", "In flight, second half", column(steps, func(s *wire.Step) *float64 { return s.InFlight.SecondHalf })), unitCount)),
	)
	if extra := streaming(steps); extra != nil {
		f.Fields = append(f.Fields[:8:8], append(extra, f.Fields[8:]...)...)
	}
	if links := d.traceLinks(); links != nil {
		p99.Config.Links = links
		f.Fields = append(f.Fields, hidden(field("traces", "Traces", column(steps, func(s *wire.Step) string { return d.traces(v.Run.ID, s) }))))
	}
	refusals(f, steps)
	return shown(f, "table")
}

// placed names a step of a table, in which the rate of a return stands a second time.
func placed(v *wire.Verdict, s *wire.Step) string {
	back := returned(v.Steps)
	if back != nil && s.Index >= back.Index && s.Name == "" && v.Metastability.State != wire.NotTested {
		return stepName(s) + ", back"
	}
	return stepName(s)
}

// streaming are the columns of services that answer in parts.
func streaming(steps []*wire.Step) []*data.Field {
	var first, tokens bool
	for _, s := range steps {
		first = first || s.FirstByte != nil
		tokens = tokens || s.TokensPerS != nil
	}
	var out []*data.Field
	if first {
		out = append(out, field("first_byte", "p99 first byte", column(steps, func(s *wire.Step) string {
			if s.FirstByte == nil {
				return "–"
			}
			return number(s.FirstByte, &s.FirstByte.P99)
		})))
	}
	if tokens {
		out = append(out,
			decimals(field("tokens", "Tokens/s", column(steps, func(s *wire.Step) *float64 { return s.TokensPerS })), 0),
			field("inter_token", "p99 between tokens", column(steps, func(s *wire.Step) string {
				if s.InterToken == nil {
					return "–"
				}
				return number(s.InterToken, &s.InterToken.P99)
			})))
	}
	return out
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// valid is a quantile that is not refused.
func valid(r *wire.Response, e *wire.Estimate) *float64 {
	if !r.Valid {
		return nil
	}
	return e.Value
}

// lost is the share of the requests due that came to nothing.
func lost(steps []*wire.Step) *data.Field {
	f := unit(field("lost", "Lost", column(steps, func(s *wire.Step) float64 {
		return s.DroppedRatio + s.ErrorRatio + s.TimeoutRatio + s.ShedRatio + s.CancelledRatio
	})), unitRatio)
	return limit(decimals(describe(f, "Dropped, error, timeout, shed and cancelled, over due"), 1), 0.001, yellow, 0.01, red)
}

func halves(s *wire.Step) string {
	a, b := s.InFlight.FirstHalf, s.InFlight.SecondHalf
	if a == nil || b == nil {
		return "–"
	}
	return digits(*a) + " → " + digits(*b)
}

// refusals says which steps have no percentiles, and why.
func refusals(f *data.Frame, steps []*wire.Step) {
	for _, s := range steps {
		if !s.ResponseTime.Valid {
			warn(f, fmt.Sprintf("%s: %s.", stepName(s), refusal(&s.ResponseTime)))
		}
	}
}

// traceLinks lead to the traces of the slowest requests, where a data source
// with traces is set. The hidden column holds the whole address: a link inside
// Grafana would take the range of the dashboard, or none, and not that of the step.
func (d *Datasource) traceLinks() []data.DataLink {
	if d.settings.TracesUID == "" {
		return nil
	}
	return []data.DataLink{{Title: "Traces of the slowest requests", URL: "${__data.fields.traces:raw}"}}
}

// traces is the address of Explore with the slowest requests of a step.
func (d *Datasource) traces(run string, s *wire.Step) string {
	to := s.To
	if s.ServiceTime.Max != nil {
		to = to.Add(time.Duration(*s.ServiceTime.Max * float64(time.Second)))
	}
	panes, err := json.Marshal(map[string]any{"traces": map[string]any{
		"datasource": d.settings.TracesUID,
		"queries": []any{map[string]any{
			"refId": "A", "datasource": map[string]any{"uid": d.settings.TracesUID},
			"queryType": "traceql", "query": slowest(run, s), "limit": 20, "tableType": "traces",
		}},
		"range": map[string]any{"from": millis(s.From), "to": millis(to.Add(time.Second))},
	}})
	if err != nil {
		return ""
	}
	return "/explore?schemaVersion=1&panes=" + strings.ReplaceAll(url.QueryEscape(string(panes)), "+", "%20")
}

// slowest asks, in TraceQL, for the slowest requests of a run: spans last from
// the send, so the bound is the uncorrected p99 of the step, or its lower bound
// where times are cut off, or what is near the longest where there is no p99.
func slowest(run string, s *wire.Step) string {
	bound := s.ServiceTime.P99.Value
	if bound == nil {
		bound = s.ServiceTime.P99.Lo
	}
	if bound == nil && s.ServiceTime.Max != nil {
		most := 0.9 * *s.ServiceTime.Max
		bound = &most
	}
	query := "{ .loadtest.run.id = " + strconv.Quote(run)
	if bound != nil {
		query += fmt.Sprintf(" && duration >= %dus", int64(*bound*1e6))
	}
	return query + " }"
}
