package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// jtlCSV reads JMeter's results as CSV, with a header in any order, or without
// one in the default order.
func jtlCSV() Format {
	return Format{
		Name: "jtl-csv", Title: "JMeter results (CSV)", Generator: "jmeter",
		Sniff: func(head []byte) bool {
			line, _, _ := bytes.Cut(head, []byte("\n"))
			_, _, ok := jtlHeader(bytes.TrimSuffix(bytes.TrimPrefix(line, utf8BOM), []byte("\r")))
			return ok
		},
		Read: readJTLCSV,
	}
}

// jtlColumns are the places of the columns that are read, -1 where there is none.
type jtlColumns struct{ at, elapsed, latency, thread, success, code, message, threads int }

// jtlHeader finds the columns by the first line. Known is false when the line is
// a sample already.
func jtlHeader(line []byte) (sep byte, c jtlColumns, ok bool) {
	for _, sep := range []byte{',', '\t', ';', '|'} {
		fields, err := unquote(nil, line, sep)
		if err != nil || len(fields) < 3 {
			continue
		}
		var names []string
		for _, f := range fields {
			names = append(names, strings.Trim(string(f), ` "`))
		}
		if slices.Contains(names, "timeStamp") && slices.Contains(names, "elapsed") {
			return sep, jtlPlaces(names), true
		}
		if names = jtlDefault(fields); names != nil {
			return sep, jtlPlaces(names), true
		}
	}
	return 0, c, false
}

func jtlPlaces(names []string) jtlColumns {
	at := func(name string) int { return slices.Index(names, name) }
	return jtlColumns{
		at: at("timeStamp"), elapsed: at("elapsed"), latency: at("Latency"), thread: at("threadName"),
		success: at("success"), code: at("responseCode"), message: at("responseMessage"),
		threads: at("allThreads"),
	}
}

// jtlDefault names the columns of a file without a header: the default order of
// JMeter 5 (17 columns), 3 and 4 (16), or 2 (12). The place of success tells.
func jtlDefault(fields [][]byte) []string {
	names := map[int]string{
		17: "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect",
		16: "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,Latency,IdleTime,Connect",
		12: "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,bytes,grpThreads,allThreads,Latency",
	}[len(fields)]
	if names == "" || len(fields[0]) != 13 || string(fields[7]) != "true" && string(fields[7]) != "false" {
		return nil
	}
	for _, i := range []int{0, 1} {
		if _, err := integer(fields[i]); err != nil {
			return nil
		}
	}
	return strings.Split(names, ",")
}

// utf8BOM is what some editors put before a file.
var utf8BOM = []byte("\xef\xbb\xbf")

// jtlLines bounds the lines of one sample: messages may hold line ends.
const jtlLines = 1000

func readJTLCSV(_ context.Context, src *Source, sink *Sink) error {
	j := newJTL(sink)
	first, _, _ := bytes.Cut(src.Head(), []byte("\n"))
	first = bytes.TrimSuffix(bytes.TrimPrefix(first, utf8BOM), []byte("\r"))
	sep, columns, ok := jtlHeader(first)
	if !ok {
		return fmt.Errorf("read JMeter results: the first line names no columns timeStamp and elapsed, and is no sample in the default order")
	}
	if bytes.Contains(first, []byte("timeStamp")) {
		if _, err := src.Line(); err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read JMeter results: header: %w", err)
		}
	}
	p := jtlParser{columns: columns, threads: map[string]string{}}
	var fields [][]byte
	var joined []byte
	parts := 0
	err := lines(src, sink, func(line []byte) error {
		if parts > 0 {
			joined = append(append(joined, '\n'), line...)
			line = joined
		}
		var err error
		fields, err = unquote(fields[:0], line, sep)
		if errors.Is(err, errQuote) && parts < jtlLines && !src.Torn() {
			if parts++; parts == 1 {
				joined = append(joined[:0], line...)
			}
			return nil
		}
		parts = 0
		if err != nil {
			return err
		}
		s, err := p.sample(fields)
		if err != nil {
			return err
		}
		if src.Torn() {
			return errTornLine
		}
		return stop(j.add(&s))
	})
	if err != nil {
		return err
	}
	return j.close()
}

// jtlParser reads samples from the fields of a line.
type jtlParser struct {
	columns jtlColumns
	threads map[string]string
	layout  string // of times as text; empty when they are numbers
}

func (p *jtlParser) sample(f [][]byte) (s jtlSample, err error) {
	c := &p.columns
	get := func(i int) []byte {
		if i < 0 || i >= len(f) {
			return nil
		}
		return f[i]
	}
	if c.at >= len(f) || c.elapsed >= len(f) {
		return s, fmt.Errorf("%w: %d", errColumns, len(f))
	}
	if s.at, err = p.time(f[c.at]); err != nil {
		return s, err
	}
	elapsed, err := integer(f[c.elapsed])
	if err != nil || elapsed > 1e12 {
		return s, fmt.Errorf("%w %q", errNumber, trimmed(f[c.elapsed]))
	}
	latency, err := integer(get(c.latency))
	if err != nil || latency > elapsed {
		latency = 0
	}
	s.elapsed, s.latency = elapsed*1e6, latency*1e6
	s.thread, s.threads = p.intern(get(c.thread)), int64(small(get(c.threads)))
	s.success = string(get(c.success)) != "false"
	code := get(c.code)
	if c.success < 0 { // the code says it
		n := small(code)
		s.success = n > 0 && n < 400
	}
	if !s.success || len(code) != 3 {
		s.code, s.message = string(code), string(get(c.message))
	} else if s.code = "200"; string(code) != "200" {
		s.code = p.intern(code)
	}
	if m := get(c.message); bytes.HasPrefix(m, []byte("Number of samples in transaction")) {
		s.message = string(m)
	}
	return s, nil
}

// intern shares the text of names that come again.
func (p *jtlParser) intern(b []byte) string {
	s, ok := p.threads[string(b)]
	if !ok {
		if len(p.threads) > jtlThreads {
			clear(p.threads)
		}
		s = string(b)
		p.threads[s] = s
	}
	return s
}

// time reads a time stamp: milliseconds since 1970, or a date as JMeter's
// properties allow it, taken as UTC.
func (p *jtlParser) time(b []byte) (int64, error) {
	if p.layout == "" {
		if ms, err := integer(b); err == nil && ms > 0 && ms < 1e13 {
			return ms * 1e6, nil
		}
	}
	layouts := []string{p.layout}
	if p.layout == "" {
		layouts = []string{
			"2006/01/02 15:04:05.000", "2006-01-02 15:04:05.000", "2006/01/02 15:04:05", "2006-01-02 15:04:05",
			"01/02/06 15:04:05", "2006-01-02T15:04:05.000", "2006-01-02T15:04:05.000Z07:00",
		}
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, string(b)); err == nil && t.Year() > 1970 && t.Year() < 2200 {
			p.layout = layout
			return t.UnixNano(), nil
		}
	}
	return 0, fmt.Errorf("%w %q", errTime, trimmed(b))
}
