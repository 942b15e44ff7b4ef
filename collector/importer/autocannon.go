package importer

import (
	"bytes"
	"context"
	"fmt"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// autocannon is what autocannon prints with --json. When it runs with a rate (-R,
// -r) and without -C, it fills in latencies for what it did not send; the number
// of latencies then exceeds the number of answers. It takes 1 ms for the time
// between two requests whatever the rate, so that it adds far too many.
func autocannon() Format {
	return Format{
		Name: "autocannon", Title: "autocannon JSON", Generator: "autocannon", Document: true,
		Sniff: func(head []byte) bool {
			return bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) && bytes.Contains(head, []byte(`"p97_5"`)) &&
				bytes.Contains(head, []byte(`"non2xx"`)) && bytes.Contains(head, []byte(`"pipelining"`))
		},
		Read: readAutocannon,
	}
}

type autocannonResult struct {
	Connections float64            `json:"connections"`
	Pipelining  float64            `json:"pipelining"`
	Start       string             `json:"start"`
	Finish      string             `json:"finish"`
	Errors      float64            `json:"errors"` // time-outs and mismatches included
	Timeouts    float64            `json:"timeouts"`
	OK          float64            `json:"2xx"`
	Other       float64            `json:"non2xx"`
	Latency     map[string]float64 `json:"latency"`
	Requests    struct {
		Sent float64 `json:"sent"`
	} `json:"requests"`
}

// autocannonQuantiles are the percentiles by their names in the result.
func autocannonQuantiles() map[string]float64 {
	return map[string]float64{
		"p0_001": 0.00001, "p0_01": 0.0001, "p0_1": 0.001, "p1": 0.01, "p2_5": 0.025, "p10": 0.1, "p25": 0.25, "p50": 0.5, "p75": 0.75,
		"p90": 0.9, "p97_5": 0.975, "p99": 0.99, "p99_9": 0.999, "p99_99": 0.9999, "p99_999": 0.99999, "max": 1,
	}
}

func readAutocannon(_ context.Context, src *Source, sink *Sink) error {
	var r autocannonResult
	if err := newDocument(src).value(&r); err != nil {
		return err
	}
	var c clock
	from, err := c.parse([]byte(r.Start))
	if err != nil {
		return fmt.Errorf("read %s: start: %w", sink.format.Title, err)
	}
	to, err := c.parse([]byte(r.Finish))
	if err != nil || to <= from {
		return fmt.Errorf("read %s: finish %q is no later time: %w", sink.format.Title, r.Finish, err)
	}
	for name, v := range map[string]float64{"connections": r.Connections, "errors": r.Errors, "2xx": r.OK, "non2xx": r.Other, "sent": r.Requests.Sent} {
		if v < 0 || v > 1e15 {
			return fmt.Errorf("read %s: %s: %w %g", sink.format.Title, name, errNumber, v)
		}
	}
	return r.tell(sink, from, to)
}

func (r *autocannonResult) tell(sink *Sink, from, to int64) error {
	t := tally{sink: sink, tool: "autocannon", from: from, to: to}
	answers := r.OK + r.Other
	t.count(sentName, r.Requests.Sent)
	t.count(endedName, answers+r.Errors)
	t.count(failedName, r.Other+r.Errors)
	t.level(workersName, r.Connections*max(1, r.Pipelining))
	n := r.Latency["totalCount"]
	mean := r.Latency["mean"] / 1e3
	d := r.distribution(n)
	if n > answers {
		t.times(responseSummaryName, d, mean*n)
		sink.Warn("autocannon made up %.0f of its %.0f latencies, for requests that it did not send: it takes 1 ms for the time between two requests whatever the rate, so its percentiles say nothing", n-answers, n)
		sink.Advise("-C prints latencies as they were measured")
	} else {
		if r.Errors == 0 {
			t.count(inFlightTimeName, mean*n)
		}
		t.times(serviceSummaryName, d, mean*n)
	}
	if open := r.Requests.Sent - answers - r.Errors; open > 0 {
		sink.Warn("%.0f requests were sent and not answered when the run ended", open)
	}
	return t.err
}

// distribution reads the table of percentiles. Latencies are kept in whole ms,
// rounded down, to three digits.
func (r *autocannonResult) distribution(n float64) *sample.Distribution {
	if n < 1 || n > 1e15 {
		return nil
	}
	var table []ranked
	for name, q := range autocannonQuantiles() {
		if ms, ok := r.Latency[name]; ok && ms >= 0 && ms < 1e12 {
			width := 1.0
			for ms >= 2048*width {
				width *= 2
			}
			table = append(table, ranked{rankOf(q, uint64(n)), max(0, ms+1-width) / 1e3, (ms + 1) / 1e3})
		}
	}
	return ranks(uint64(n), table)
}
