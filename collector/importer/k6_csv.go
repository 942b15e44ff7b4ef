package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// k6CSV reads what "k6 run --out csv=FILE" writes: one observation a line, with
// a header. Times are whole seconds unless K6_CSV_TIME_FORMAT says otherwise:
// then requests cannot be told apart in time, and only counts per second remain.
func k6CSV() Format {
	return Format{
		Name: "k6-csv", Title: "k6 CSV output", Generator: "k6",
		Sniff: func(head []byte) bool { return bytes.HasPrefix(head, []byte("metric_name,timestamp,metric_value")) },
		Read:  readK6CSV,
	}
}

// k6Row reads the lines of a CSV file by its header.
type k6Row struct {
	names  []string // of the columns, but for the first three
	clock  clock
	fields [][]byte
	tags   k6Tags
}

// k6Judged is how many times are looked at to tell whether they are whole seconds.
const k6Judged = 200

func readK6CSV(_ context.Context, src *Source, sink *Sink) error {
	header, err := src.Line()
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read k6 CSV: header: %w", err)
	}
	fields := cut(nil, header, ',')
	if len(fields) < 3 || string(fields[0]) != "metric_name" {
		return errors.New("read k6 CSV: line 1 is no header beginning with metric_name")
	}
	row := &k6Row{}
	for _, f := range fields[3:] {
		row.names = append(row.names, string(f))
	}
	coarse, unit := k6Coarse(src.Head())
	if coarse {
		c := newK6Counts(sink)
		sink.Warn("times are whole seconds: only counts per second can be had from this file, and nothing can be corrected")
		sink.Advise("K6_CSV_TIME_FORMAT=unix_nano writes exact times")
		return errors.Join(row.each(src, sink, c.sample), c.close())
	}
	k := newK6Reader(sink)
	k.unit = unit
	if err := row.each(src, sink, k.sample); err != nil {
		return err
	}
	return k.close()
}

// k6Coarse looks at the first times of a file: whether they are whole seconds,
// and else the unit to which they are known.
func k6Coarse(head []byte) (coarse bool, unit int64) {
	n, fine := 0, 0
	unit = 1
	rest := head
	for n < k6Judged {
		var line []byte
		var more bool
		if line, rest, more = bytes.Cut(rest, []byte("\n")); !more {
			break
		}
		f := cut(nil, line, ',')
		if len(f) < 3 || string(f[0]) == "metric_name" {
			continue
		}
		n++
		if bytes.IndexByte(f[1], '.') >= 0 {
			fine++
			continue
		}
		if v, err := integer(f[1]); err == nil {
			if _, unit = epoch(v); unit < 1e9 {
				fine++
			}
		}
	}
	return n > 0 && 10*fine < n, unit
}

// each hands every observation on.
func (r *k6Row) each(src *Source, sink *Sink, fn func(k6Metric, int64, float64, *k6Tags) error) error {
	return lines(src, sink, func(line []byte) error {
		if src.Torn() {
			return errTornLine
		}
		name, _, _ := bytes.Cut(line, []byte(","))
		m := k6MetricOf(name)
		if m == k6Other || string(name) == "metric_name" {
			if len(name) == len(line) {
				return fmt.Errorf("%w: 1", errColumns)
			}
			return nil
		}
		var err error
		if r.fields, err = unquote(r.fields[:0], line, ','); err != nil {
			return err
		}
		if len(r.fields) != len(r.names)+3 {
			return fmt.Errorf("%w: %d", errColumns, len(r.fields))
		}
		at, err := r.time(r.fields[1])
		if err != nil {
			return err
		}
		value, err := strconv.ParseFloat(view(r.fields[2]), 64)
		if err != nil {
			return fmt.Errorf("%w %q", errNumber, trimmed(r.fields[2]))
		}
		r.tags = k6Tags{grpc: bytes.HasPrefix(name, []byte("grpc_"))}
		if m == k6Duration || m == k6Iteration || m == k6Dropped || m == k6Failed {
			r.read()
		}
		return stop(fn(m, at, value, &r.tags))
	})
}

func (r *k6Row) time(b []byte) (int64, error) {
	if v, err := integer(b); err == nil {
		if at, _ := epoch(v); at > 0 && at < mostTime {
			return at, nil
		}
		return 0, fmt.Errorf("%w %q", errTime, trimmed(b))
	}
	return r.clock.parse(b)
}

// read takes the tags of a line.
func (r *k6Row) read() {
	for i, name := range r.names {
		value := r.fields[3+i]
		if len(value) == 0 {
			continue
		}
		switch name {
		case "extra_tags", "metadata":
			for len(value) > 0 {
				var pair []byte
				pair, value, _ = bytes.Cut(value, []byte("&"))
				key, v, _ := bytes.Cut(pair, []byte("="))
				r.tags.set(key, v)
			}
		default:
			r.tags.set([]byte(name), value)
		}
	}
	r.tags.joined = r.tags.joined && r.tags.vu > 0
}
