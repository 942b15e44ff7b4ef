package importer

import (
	"bytes"
	"context"
	"fmt"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/convention"
)

// ghzReport is what ghz writes with "-O json": every call with the time of its
// end. Waiting for a free worker is in no number, so with a rate and without
// --async the calls after a slow one are late.
func ghzReport() Format {
	return Format{
		Name: "ghz", Title: "ghz report", Generator: "ghz", Document: true,
		Sniff: func(head []byte) bool {
			return bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) && bytes.Contains(head, []byte(`"statusCodeDistribution"`)) &&
				bytes.Contains(head, []byte(`"concurrency"`)) && bytes.Contains(head, []byte(`"call"`))
		},
		Read: readGhz,
	}
}

type ghzOptions struct {
	RPS      float64 `json:"rps"`
	Async    bool    `json:"async"`
	Schedule string  `json:"load-schedule"`
}

type ghzCall struct {
	Timestamp string `json:"timestamp"`
	Latency   int64  `json:"latency"` // ns
	Error     string `json:"error"`
	Status    string `json:"status"`
}

func readGhz(_ context.Context, src *Source, sink *Sink) error {
	d := newDocument(src)
	g := sample.Group{Model: sample.Closed}
	calls := 0
	var c clock
	err := d.object(func(key string) error {
		switch key {
		case "options":
			var o ghzOptions
			if err := d.value(&o); err != nil {
				return err
			}
			g.Model = ghzModel(sink, &o)
			return nil
		case "details":
			return d.array(func() error {
				var call ghzCall
				if err := d.value(&call); err != nil {
					return err
				}
				calls++
				return ghzRow(sink, &g, &c, &call, calls)
			})
		}
		return d.skip()
	})
	if err == nil && calls == 0 {
		return fmt.Errorf("read %s: it has no details of calls (-O json writes them)", sink.format.Title)
	}
	return sink.torn(err)
}

// ghzModel says how ghz decided when to call.
func ghzModel(sink *Sink, o *ghzOptions) sample.Model {
	switch {
	case o.RPS <= 0 && (o.Schedule == "" || o.Schedule == "const"):
		return sample.Closed
	case o.Async:
		return sample.Open
	}
	sink.Warn("ghz was asked for a rate without --async: calls wait for a free worker, and how long is in no number")
	sink.Advise("--async calls whatever the service does")
	return sample.UnknownModel
}

func ghzRow(sink *Sink, g *sample.Group, c *clock, call *ghzCall, n int) error {
	done, err := c.parse([]byte(call.Timestamp))
	if err != nil || call.Latency < 0 || call.Latency > mostTime {
		return sink.Bad(fmt.Errorf("call %d: %w: %.40q, %d ns", n, errTime, call.Timestamp, call.Latency))
	}
	code := convention.GRPCCode([]byte(call.Status))
	r := sample.Row{Sent: done - call.Latency, Done: done, Index: sample.NoIndex, Status: int16(max(code, 0))}
	switch {
	case code >= 0:
		r.Outcome = called(code, call.Error)
	case call.Error != "":
		r.Outcome = failedWith([]byte(call.Error))
	}
	return sink.Row(g, &r)
}
