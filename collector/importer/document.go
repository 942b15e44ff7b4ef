package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// document reads one JSON document piece by piece, so that a long array in it is
// never whole in memory. Its methods read a value; where fn is called it must
// read one value or skip it.
type document struct {
	src *Source
	dec *json.Decoder
}

func newDocument(src *Source) *document { return &document{src, json.NewDecoder(src)} }

// fail names the place of an error. A document that is cut off is a torn end.
func (d *document) fail(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		d.src.torn = true
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("read JSON at offset %d: %w", d.dec.InputOffset(), err)
}

// object reads an object; null is an empty one.
func (d *document) object(fn func(key string) error) error {
	return d.members('{', func() error {
		t, err := d.dec.Token()
		if err != nil {
			return d.fail(err)
		}
		key, _ := t.(string) // the decoder lets nothing else stand here
		return fn(key)
	})
}

// array reads an array; null is an empty one.
func (d *document) array(fn func() error) error { return d.members('[', fn) }

func (d *document) members(open json.Delim, fn func() error) error {
	t, err := d.dec.Token()
	if err != nil {
		return d.fail(err)
	}
	if t == nil {
		return nil
	}
	if t != open {
		return fmt.Errorf("read JSON at offset %d: found %v instead of %v", d.dec.InputOffset(), t, open)
	}
	for d.dec.More() {
		if err := fn(); err != nil {
			return err
		}
	}
	if _, err := d.dec.Token(); err != nil {
		return d.fail(err)
	}
	return nil
}

// value reads a value into v.
func (d *document) value(v any) error {
	if err := d.dec.Decode(v); err != nil {
		return d.fail(err)
	}
	return nil
}

// skip passes over a value.
func (d *document) skip() error {
	for depth := 0; ; {
		t, err := d.dec.Token()
		if err != nil {
			return d.fail(err)
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// more reports whether another document follows.
func (d *document) more() bool { return d.dec.More() }

// torn ends an import whose document was cut off: what was read until then
// stays, and the report says so.
func (k *Sink) torn(err error) error {
	if err != nil && errors.Is(err, io.ErrUnexpectedEOF) && k.report.Rows+k.report.Points > 0 {
		k.report.Torn = true
		return nil
	}
	return err
}
