package importer

import (
	"bytes"
	"context"
	"encoding/xml"
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
	dec := xml.NewDecoder(src)
	dec.Strict = false // messages hold what servers sent
	dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	x := jtlNest{add: j.add, inner: &j.outer}
	for {
		token, err := dec.RawToken()
		switch {
		case errors.Is(err, io.EOF):
			if x.depth > 0 || !x.closed {
				sink.report.Torn = true
			}
			return j.close(nil)
		case err != nil && atEnd(src):
			sink.report.Torn = true
			return j.close(nil)
		case err != nil:
			return fmt.Errorf("read JMeter results: offset %d: %w", dec.InputOffset(), err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if err := x.begin(&t, sink); err != nil {
				return err
			}
		case xml.EndElement:
			if err := x.end(t.Name.Local); err != nil {
				return err
			}
		}
	}
}

// atEnd reports whether nothing follows.
func atEnd(src *Source) bool {
	_, err := src.Peek(1)
	return err != nil
}

// jtlNest follows how samples stand within one another.
type jtlNest struct {
	add    func(*jtlSample) error
	inner  *int64
	depth  int
	open   []jtlOpen
	closed bool
}

type jtlOpen struct {
	sample jtlSample
	http   bool
	parts  bool
	bad    bool
}

func isSample(name string) bool { return name == "httpSample" || name == "sample" }

func (x *jtlNest) begin(t *xml.StartElement, sink *Sink) error {
	x.depth++
	if !isSample(t.Name.Local) {
		return nil
	}
	if len(x.open) > 1000 {
		return fmt.Errorf("read JMeter results: samples are nested more than %d deep", len(x.open))
	}
	o := jtlOpen{http: t.Name.Local == "httpSample"}
	if len(x.open) > 0 {
		x.open[len(x.open)-1].parts = true
	}
	var err error
	if o.sample, err = jtlAttributes(t.Attr); err != nil {
		o.bad = true
		if err := sink.Bad(err); err != nil {
			return err
		}
	}
	x.open = append(x.open, o)
	return nil
}

func (x *jtlNest) end(name string) error {
	x.depth--
	x.closed = x.closed || name == "testResults"
	if !isSample(name) || len(x.open) == 0 {
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

func jtlAttributes(attributes []xml.Attr) (s jtlSample, err error) {
	s.success = true
	known := false
	for i := range attributes {
		a := &attributes[i]
		switch a.Name.Local {
		case "ts":
			var ms int64
			if ms, err = integer([]byte(a.Value)); err != nil || ms > 1e13 {
				return s, fmt.Errorf("%w %q", errTime, trimmed([]byte(a.Value)))
			}
			s.at, known = ms*1e6, true
		case "t", "lt":
			ms, err := integer([]byte(a.Value))
			if err != nil || ms > 1e12 {
				return s, fmt.Errorf("%w %q", errNumber, trimmed([]byte(a.Value)))
			}
			if a.Name.Local == "t" {
				s.elapsed = ms * 1e6
			} else {
				s.latency = ms * 1e6
			}
		case "s":
			s.success = a.Value != "false"
		case "rc":
			s.code = a.Value
		case "rm":
			s.message = a.Value
		case "tn":
			s.thread = a.Value
		}
	}
	if !known {
		return s, fmt.Errorf("%w: sample without ts", errTime)
	}
	return s, nil
}
