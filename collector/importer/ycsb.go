package importer

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

const ycsbHeader = " latency raw data: op, timestamp(ms), latency(us)"

// ycsbRaw is what YCSB writes with measurementtype=raw, alone or within its
// output: operations with the time of their end in ms since 1970 and how long
// they took in µs. With measurement.interval=intended or both there are series
// whose times YCSB itself counts from when an operation was due (grade X); they
// are read instead of their twins.
func ycsbRaw() Format {
	return Format{
		Name: "ycsb-raw", Title: "YCSB raw measurements", Generator: "ycsb",
		Sniff: func(head []byte) bool { return bytes.Contains(head, []byte(ycsbHeader)) },
		Read:  readYCSB,
	}
}

const ycsbIntended = "Intended-"

func readYCSB(_ context.Context, src *Source, sink *Sink) error {
	intended, composite := false, false
	first := func() error {
		return lines(src, sink, func(line []byte) error {
			intended = intended || bytes.HasPrefix(line, []byte(ycsbIntended))
			return nil
		})
	}
	second := func() error {
		return records(src, sink, ',', func(f [][]byte) error {
			if len(f) != 3 || len(f[0]) == 0 || f[0][0] == '[' || bytes.Contains(f[0], []byte(" ")) {
				return nil // the rest of the output
			}
			op := string(f[0])
			name, due := strings.CutPrefix(op, ycsbIntended)
			switch {
			case due != intended || name == "CLEANUP":
				return nil
			case strings.HasPrefix(name, "READ-MODIFY-WRITE"):
				composite = true // its read and its write are there too
				return nil
			}
			return ycsbRow(sink, name, due, f)
		})
	}
	err := src.twice(first, second)
	if composite {
		sink.Warn("READ-MODIFY-WRITE was left out: its reads and updates are in the file as well")
	}
	if intended {
		sink.Warn("times are counted from when YCSB wanted each operation: they are shown as they are (grade X), and when it was sent is not known")
	} else {
		sink.Advise("-target with measurement.interval=intended lets YCSB count from when each operation was due")
	}
	return err
}

func ycsbRow(sink *Sink, name string, due bool, f [][]byte) error {
	ms, err := integer(f[1])
	if err != nil || ms > mostTime/1e6 {
		return fmt.Errorf("%w %q", errTime, trimmed(f[1]))
	}
	us, err := integer(f[2])
	if err != nil || us > mostTime/1e3 {
		return fmt.Errorf("%w %q", errNumber, trimmed(f[2]))
	}
	r := sample.Row{Sent: ms*1e6 - us*1e3, Done: ms * 1e6, Index: sample.NoIndex}
	g := sample.Group{Scenario: name, Model: sample.Closed}
	if base, kind, ok := strings.Cut(name, "-"); ok { // READ-FAILED, READ-TIMEOUT
		g.Scenario, r.Outcome = base, failedWith([]byte(kind))
	}
	if due {
		r.Intended, r.Flags, g.Model = r.Sent, sample.Corrected, sample.Open
	}
	return stop(sink.Row(&g, &r))
}
