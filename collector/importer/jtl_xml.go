package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// jtlXML reads JMeter's results as XML.
func jtlXML() Format {
	return Format{
		Name: "jtl-xml", Title: "JMeter results (XML)", Generator: "jmeter",
		Sniff: func(head []byte) bool {
			head = bytes.TrimLeft(bytes.TrimPrefix(head, utf8BOM), " \t\r\n")
			return bytes.HasPrefix(head, []byte("<")) && bytes.Contains(head[:min(len(head), 1024)], []byte("<testResults"))
		},
		Read: readJTLXML,
	}
}

// readJTLXML reads samples by their depth: an httpSample stands for what is in
// it (redirects, parts of a page); a plain sample with samples in it is a
// Transaction Controller, and stands for nothing.
func readJTLXML(_ context.Context, src *Source, sink *Sink) error {
	j := newJTL(sink)
	m := markup{src: src}
	x := jtlNest{add: j.add, inner: &j.outer}
	for {
		t, err := m.next()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			sink.report.Torn = !x.closed
			return j.close()
		case err != nil:
			return fmt.Errorf("read JMeter results: before offset %d: %w", src.Offset(), err)
		case !isSample(t.name):
			x.closed = x.closed || t.end && string(t.name) == "testResults"
			continue
		}
		if !t.end {
			err = x.begin(&t, sink)
		}
		if err == nil && (t.end || t.empty) {
			err = x.end()
		}
		if err != nil {
			return err
		}
	}
}

// jtlNest follows how samples stand within one another.
type jtlNest struct {
	add    func(*jtlSample) error
	inner  *int64
	open   []jtlOpen
	closed bool
}

type jtlOpen struct {
	sample jtlSample
	http   bool
	parts  bool
	bad    bool
}

func isSample(name []byte) bool { return string(name) == "httpSample" || string(name) == "sample" }

func (x *jtlNest) begin(t *tag, sink *Sink) error {
	if len(x.open) > 1000 {
		return fmt.Errorf("read JMeter results: samples are nested more than %d deep", len(x.open))
	}
	o := jtlOpen{http: string(t.name) == "httpSample"}
	if len(x.open) > 0 {
		x.open[len(x.open)-1].parts = true
	}
	var err error
	if o.sample, err = jtlAttributes(t); err != nil {
		o.bad = true
		if err := sink.Bad(err); err != nil {
			return err
		}
	}
	x.open = append(x.open, o)
	return nil
}

func (x *jtlNest) end() error {
	if len(x.open) == 0 {
		return nil
	}
	o := x.open[len(x.open)-1]
	x.open = x.open[:len(x.open)-1]
	if o.bad {
		return nil
	}
	if !o.http && o.parts {
		*x.inner++
		return nil
	}
	for i := range x.open {
		if x.open[i].http {
			return nil // a part of a request
		}
	}
	return x.add(&o.sample)
}

func jtlAttributes(t *tag) (s jtlSample, err error) {
	s.success = true
	known := false
	err = t.each(func(name, value []byte) error {
		switch string(name) {
		case "ts":
			ms, err := integer(value)
			if err != nil || ms > 1e13 {
				return fmt.Errorf("%w %q", errTime, trimmed(value))
			}
			s.at, known = ms*1e6, true
		case "t", "lt":
			ms, err := integer(value)
			if err != nil || ms > 1e12 {
				return fmt.Errorf("%w %q", errNumber, trimmed(value))
			}
			if string(name) == "t" {
				s.elapsed = ms * 1e6
			} else {
				s.latency = ms * 1e6
			}
		case "s":
			s.success = string(value) != "false"
		case "rc":
			s.code = string(value)
		case "rm":
			s.message = string(value)
		case "na":
			s.threads = int64(small(value))
		case "tn":
			s.thread = string(value)
		}
		return nil
	})
	if err == nil && !known {
		err = fmt.Errorf("%w: sample without ts", errTime)
	}
	return s, err
}
