package importer

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// tsungDump is what Tsung writes with dumptraffic="protocol": HTTP requests with
// the time of their end in seconds since 1970 and how long they took in ms.
// Arrivals of users follow a schedule, requests of a session follow answers.
func tsungDump() Format {
	return Format{
		Name: "tsung-dump", Title: "Tsung dump", Generator: "tsung",
		Sniff: func(head []byte) bool { return bytes.HasPrefix(head, []byte("#date;pid;id;http method;")) },
		Read:  readTsung,
	}
}

// tsungColumns are where things stand in a line. A URL may hold semicolons, so
// what comes after it is counted from the end.
type tsungColumns struct {
	n                                          int
	date, status, duration, transaction, error int
}

func readTsung(_ context.Context, src *Source, sink *Sink) error {
	line, err := header(src, sink)
	if err != nil {
		return err
	}
	names := cut(nil, line, ';')
	at := func(name string) int {
		return slices.IndexFunc(names, func(b []byte) bool { return string(b) == name })
	}
	c := tsungColumns{len(names), at("#date"), at("HTTP status"), at("duration"), at("transaction"), at("error")}
	if c.date != 0 || c.status < 0 || c.duration < 0 {
		return fmt.Errorf("read %s: it lacks the column HTTP status or duration", sink.format.Title)
	}
	coarse := true
	err = records(src, sink, ';', func(f [][]byte) error {
		extra := len(f) - c.n
		if extra < 0 {
			return fmt.Errorf("%w: %d", errColumns, len(f))
		}
		done, err := decimal(f[c.date], 1e9)
		if err != nil {
			return err
		}
		took, err := decimal(f[c.duration+extra], 1e6)
		if err != nil {
			return err
		}
		coarse = coarse && done%1e9 == 0
		status, err := integer(f[c.status+extra])
		if err != nil {
			status = 0 // no answer
		}
		r := sample.Row{Sent: done - took, Done: done, Index: sample.NoIndex, Outcome: answered(status), Status: statusOf(status)}
		if c.error >= 0 {
			if text := f[c.error+extra]; len(text) > 0 {
				r.Outcome = failedWith(text)
			}
		}
		g := sample.Group{}
		if c.transaction >= 0 {
			if name := string(f[c.transaction+extra]); name != "-" {
				g.Scenario = name
			}
		}
		return stop(sink.Row(&g, &r))
	})
	if coarse {
		sink.Warn("times are whole seconds: what happens within a second cannot be told")
	}
	return err
}
