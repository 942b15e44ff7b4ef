package importer

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
)

// gatlingBinary reads simulation.log of Gatling from 3.13 on: records without
// frames, numbers big endian, times in milliseconds after the start of the run.
// A record that cannot be read loses all that follow.
func gatlingBinary() Format {
	return Format{
		Name: "gatling-binary", Title: "Gatling simulation.log (binary)", Generator: "gatling",
		Sniff: func(head []byte) bool {
			if len(head) < 16 || head[0] != 0 {
				return false
			}
			n := binary.BigEndian.Uint32(head[1:])
			if n < 3 || n > 40 || len(head) < int(6+n) || head[5+n] != 0 {
				return false
			}
			version := head[5 : 5+n]
			return version[0] >= '0' && version[0] <= '9' && version[1] == '.'
		},
		Read: readGatlingBinary,
	}
}

// Types of records.
const (
	gatlingRunRecord = iota
	gatlingRequestRecord
	gatlingUserRecord
	gatlingGroupRecord
	gatlingErrorRecord
)

// Bounds of what a record may hold, and of texts that are remembered.
const (
	gatlingBytes   = 16 << 20 // bytes of a text
	gatlingKeep    = 200      // bytes of it that are of use
	gatlingTexts   = 1 << 20
	gatlingCounted = 100_000 // groups, scenarios, assertions
)

func readGatlingBinary(_ context.Context, src *Source, sink *Sink) error {
	g := newGatling(sink)
	r := &gatlingReader{src: src}
	for n := 1; ; n++ {
		at := src.Offset()
		kind, err := src.ReadByte()
		if errors.Is(err, io.EOF) {
			return g.close()
		}
		if err == nil && (n == 1) != (kind == gatlingRunRecord) {
			err = fmt.Errorf("a record of type %d is out of place", kind)
		}
		var e gatlingEvent
		counts := false
		if err == nil {
			e, counts, err = r.record(kind)
		}
		switch {
		case errors.Is(err, io.EOF):
			sink.report.Torn = true
			return g.close()
		case err != nil:
			return fmt.Errorf("read Gatling log: record %d at offset %d: %w", n, at, err)
		}
		if kind == gatlingErrorRecord {
			g.errors++
		}
		if counts {
			if err := g.add(&e); err != nil {
				return err
			}
		}
	}
}

// gatlingReader reads records.
type gatlingReader struct {
	src       *Source
	begun     int64 // of the run, ns
	scenarios []string
	texts     []string
	buf       [8]byte
}

// record reads a record after its type. It returns io.EOF when the file ends in
// it, and true when the record counts.
func (r *gatlingReader) record(kind byte) (e gatlingEvent, counts bool, err error) {
	switch kind {
	case gatlingRunRecord:
		return e, false, r.run()
	case gatlingUserRecord:
		return r.user()
	case gatlingRequestRecord:
		e, err = r.request()
		return e, err == nil, err
	case gatlingGroupRecord:
		if err = r.groups(); err == nil {
			err = r.pass(4 + 4 + 4 + 1)
		}
		return e, false, err
	case gatlingErrorRecord:
		if _, err = r.cached(); err == nil {
			err = r.pass(4)
		}
		return e, false, err
	}
	return e, false, fmt.Errorf("type %d is not known", kind)
}

func (r *gatlingReader) run() error {
	for range 2 { // version and class
		if _, err := r.text(); err != nil {
			return err
		}
	}
	ms, err := r.number(8)
	if err != nil {
		return err
	}
	if ms <= 0 || ms > 7e12 {
		return fmt.Errorf("%w: the run began at %d ms", errTime, ms)
	}
	r.begun = ms * 1e6
	if _, err := r.text(); err != nil { // description
		return err
	}
	n, err := r.count()
	if err != nil {
		return err
	}
	for range n {
		name, err := r.text()
		if err != nil {
			return err
		}
		r.scenarios = append(r.scenarios, name)
	}
	if n, err = r.count(); err != nil {
		return err
	}
	for range n { // assertions
		size, err := r.number(4)
		if err == nil && (size < 0 || size > gatlingBytes) {
			err = fmt.Errorf("an assertion has %d bytes", size)
		}
		if err == nil {
			err = r.pass(size)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *gatlingReader) user() (e gatlingEvent, counts bool, err error) {
	i, err := r.number(4)
	if err != nil {
		return e, false, err
	}
	if i < 0 || i >= int64(len(r.scenarios)) {
		return e, false, fmt.Errorf("scenario %d of %d", i, len(r.scenarios))
	}
	start, err := r.src.ReadByte()
	if err != nil {
		return e, false, err
	}
	e.scenario, e.kind = r.scenarios[i], gatlingEnd
	if start != 0 {
		e.kind = gatlingStart
	}
	e.from, err = r.time()
	return e, err == nil, err
}

func (r *gatlingReader) request() (e gatlingEvent, err error) {
	if err = r.groups(); err != nil {
		return e, err
	}
	if _, err = r.cached(); err != nil { // name
		return e, err
	}
	if e.from, err = r.time(); err != nil {
		return e, err
	}
	if e.to, err = r.time(); err != nil {
		return e, err
	}
	ok, err := r.src.ReadByte()
	if err != nil {
		return e, err
	}
	e.ok = ok != 0
	e.message, err = r.cached()
	return e, err
}

func (r *gatlingReader) groups() error {
	n, err := r.count()
	for ; err == nil && n > 0; n-- {
		_, err = r.cached()
	}
	return err
}

// count reads how many of something follow.
func (r *gatlingReader) count() (int64, error) {
	n, err := r.number(4)
	if err == nil && (n < 0 || n > gatlingCounted) {
		err = fmt.Errorf("a count of %d", n)
	}
	return n, err
}

// time reads a time after the start of the run, in ns.
func (r *gatlingReader) time() (int64, error) {
	ms, err := r.number(4)
	return r.begun + ms*1e6, err
}

// number reads a signed number of 4 or 8 bytes.
func (r *gatlingReader) number(size int) (int64, error) {
	b := r.buf[:size]
	if err := r.fill(b); err != nil {
		return 0, err
	}
	if size == 4 {
		return int64(int32(binary.BigEndian.Uint32(b))), nil
	}
	return int64(binary.BigEndian.Uint64(b)), nil
}

// fill reads whole, or returns io.EOF.
func (r *gatlingReader) fill(b []byte) error {
	if _, err := io.ReadFull(r.src, b); err != nil {
		return io.EOF
	}
	return nil
}

// pass passes over bytes.
func (r *gatlingReader) pass(n int64) error {
	if m, _ := io.CopyN(io.Discard, r.src, n); m < n {
		return io.EOF
	}
	return nil
}

// cached reads a text that was given before, or is given now.
func (r *gatlingReader) cached() (string, error) {
	i, err := r.number(4)
	switch {
	case err != nil:
		return "", err
	case i < 0:
		if -i > int64(len(r.texts)) {
			return "", fmt.Errorf("text %d of %d", -i, len(r.texts))
		}
		return r.texts[-i-1], nil
	case i != int64(len(r.texts))+1:
		return "", fmt.Errorf("text %d follows text %d", i, len(r.texts))
	}
	text, err := r.text()
	if err != nil {
		return "", err
	}
	if len(r.texts) > gatlingTexts {
		r.texts = append(r.texts, "") // ever new messages: their sense is lost, their number not
	} else {
		r.texts = append(r.texts, text)
	}
	return text, nil
}

// text reads a text, of which only the beginning is kept.
func (r *gatlingReader) text() (string, error) {
	n, err := r.number(4)
	switch {
	case err != nil:
		return "", err
	case n == 0:
		return "", nil
	case n < 0 || n > gatlingBytes:
		return "", fmt.Errorf("a text of %d bytes", n)
	}
	b := make([]byte, min(n, 2*gatlingKeep))
	if err := r.fill(b); err != nil {
		return "", err
	}
	if err := r.pass(n - int64(len(b))); err != nil {
		return "", err
	}
	coder, err := r.src.ReadByte()
	if err != nil {
		return "", err
	}
	return decodeJava(b, coder), nil
}

// decodeJava reads the inside of a Java string: Latin-1 (0), or UTF-16 in the
// byte order of the machine (1), which is little endian wherever Gatling runs.
func decodeJava(b []byte, coder byte) string {
	if coder == 0 {
		out := make([]rune, len(b))
		for i, c := range b {
			out[i] = rune(c)
		}
		return string(out)
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}
