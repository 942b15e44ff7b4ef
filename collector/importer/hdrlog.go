package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// hdrLog is a histogram log of HdrHistogram: a histogram for each interval. YCSB
// writes one per operation (.hdr), in µs; a log named Intended-… has times that
// YCSB itself counted from when each operation was due (grade X). No other log
// says what its values are; they are taken for nanoseconds.
func hdrLog() Format {
	return Format{
		Name: "hdr-log", Title: "HdrHistogram log", Generator: "hdrhistogram",
		Sniff: func(head []byte) bool {
			return bytes.HasPrefix(head, []byte("#[")) && bytes.Contains(head, []byte("[Histogram log format version")) ||
				bytes.HasPrefix(head, []byte(`"StartTimestamp","Interval_Length"`))
		},
		Read: readHdrLog,
	}
}

// hdrFlush is how many buckets are collected before they are handed on.
const hdrFlush = 1 << 16

// hdrReader reads a log line by line.
type hdrReader struct {
	sink        *Sink
	tool        string
	unit        float64 // seconds of a value
	due         bool    // times count from when an operation was due
	operation   string
	start, base int64 // ns
	based       bool  // base is known
	buckets     int
}

func readHdrLog(_ context.Context, src *Source, sink *Sink) error {
	r := hdrReader{sink: sink, tool: "hdrhistogram", unit: 1e-9}
	if strings.HasPrefix(src.Name, ycsbIntended) {
		r.due = true
	}
	err := lines(src, sink, func(line []byte) error {
		switch {
		case len(line) == 0 || line[0] == '"':
			return nil
		case line[0] == '#':
			return r.comment(string(line))
		}
		return r.interval(line)
	})
	switch {
	case r.tool != "ycsb":
		sink.Warn("values are taken for nanoseconds: the log does not say what they are")
	case r.due:
		sink.Warn("times are counted from when YCSB wanted each operation: they are shown as they are (grade X)")
	default:
		sink.Warn("times are counted from the send; with measurement.interval=both the log Intended-%s counts from when each operation was due: import it as a run of its own", r.operation)
	}
	return err
}

func (r *hdrReader) comment(line string) error {
	text := strings.TrimSuffix(strings.TrimPrefix(line, "#["), "]")
	key, rest, ok := strings.Cut(text, ": ")
	if !ok {
		return nil
	}
	switch key {
	case "Logging for":
		r.tool, r.unit = "ycsb", 1e-6
		name, due := strings.CutPrefix(rest, ycsbIntended)
		r.operation, r.due = name, due
		return nil
	case "StartTime", "BaseTime":
		seconds, _, _ := strings.Cut(rest, " ")
		at, err := decimal([]byte(seconds), 1e9)
		if err != nil {
			return err
		}
		if key == "StartTime" {
			r.start = at
		} else {
			r.base, r.based = at, true
		}
	}
	return nil
}

var errInterval = errors.New("malformed interval")

// interval reads "[Tag=x,]start,length,max,histogram".
func (r *hdrReader) interval(line []byte) error {
	tag := ""
	if rest, ok := bytes.CutPrefix(line, []byte("Tag=")); ok {
		name, after, ok := bytes.Cut(rest, []byte(","))
		if !ok {
			return fmt.Errorf("%w: nothing after its tag", errInterval)
		}
		tag, line = string(name), after
	}
	f := cut(make([][]byte, 0, 4), line, ',')
	if len(f) != 4 {
		return fmt.Errorf("%w: %d columns", errInterval, len(f))
	}
	at, err := decimal(f[0], 1e9)
	if err != nil {
		return err
	}
	length, err := decimal(f[1], 1e9)
	if err != nil || length <= 0 {
		return fmt.Errorf("%w: length %q", errInterval, trimmed(f[1]))
	}
	d, sum, err := hdrBars(f[3], r.unit)
	if err != nil {
		return fmt.Errorf("%w: %w", errInterval, err)
	}
	if !r.based { // as HdrHistogram does: times a year before the start count from it
		r.based = true
		if at < r.start-int64(365*24*3600e9) {
			r.base = r.start
		}
	}
	at += r.base
	if at < int64(1e9)*3600*24*365 {
		return stop(fmt.Errorf("read %s: %w", r.sink.format.Title, errUndated))
	}
	t := tally{sink: r.sink, tool: r.tool, scenario: tag, from: at, to: at + length}
	return stop(r.tell(&t, d, sum))
}

func (r *hdrReader) tell(t *tally, d *sample.Distribution, sum float64) error {
	if t.scenario == "" {
		t.scenario = r.operation
	}
	t.count(endedName, float64(d.Count))
	name := serviceTimeName
	if r.due {
		name = responseTimeName
	}
	t.times(name, d, sum)
	if r.buckets += len(d.Buckets); t.err == nil && r.buckets > hdrFlush {
		r.buckets = 0
		return r.sink.Flush()
	}
	return t.err
}
