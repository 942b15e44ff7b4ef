package importer

import (
	"bytes"
	"context"
	"fmt"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// h2loadLog is what h2load writes with --log-file: when a request began in µs
// since 1970, its status (-1 when it failed), and µs until its end. Requests that
// were under way at the end of the run are in no line.
func h2loadLog() Format {
	return Format{Name: "h2load-log", Title: "h2load log", Generator: "h2load", Sniff: sniffH2load, Read: readH2load}
}

func sniffH2load(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	f := cut(nil, line, '\t')
	if len(f) < 3 || len(f[0]) != 16 {
		return false
	}
	_, err1 := integer(f[0])
	_, err2 := integer(f[2])
	_, _, ok := h2loadStatus(f[1])
	return err1 == nil && err2 == nil && ok
}

func h2loadStatus(b []byte) (sample.Outcome, int16, bool) {
	if string(b) == "-1" {
		return sample.Error, 0, true
	}
	v, err := integer(b)
	if err != nil || len(b) != 3 {
		return 0, 0, false
	}
	return answered(v), statusOf(v), true
}

func readH2load(_ context.Context, src *Source, sink *Sink) error {
	g := &sample.Group{Model: sample.Closed}
	var row sample.Row
	err := records(src, sink, '\t', func(f [][]byte) error {
		if len(f) < 3 {
			return fmt.Errorf("%w: %d", errColumns, len(f))
		}
		sent, err := integer(f[0])
		if err != nil || sent > mostTime/1e3 {
			return fmt.Errorf("%w %q", errTime, trimmed(f[0]))
		}
		took, err := integer(f[2])
		if err != nil || took > mostTime/1e3 {
			return fmt.Errorf("%w %q", errNumber, trimmed(f[2]))
		}
		outcome, status, ok := h2loadStatus(f[1])
		if !ok {
			return fmt.Errorf("%w %q", errNumber, trimmed(f[1]))
		}
		row = sample.Row{Sent: sent * 1e3, Done: (sent + took) * 1e3, Index: sample.NoIndex, Outcome: outcome, Status: status}
		return stop(sink.Row(g, &row))
	})
	sink.Warn("h2load writes no request that was under way when the run ended, and with --rps (per client) none of its waiting")
	sink.Advise("an open generator (Vegeta, oha -q with --latency-correction --db-url, k6 arrival rates) sends whatever the service does")
	return err
}
