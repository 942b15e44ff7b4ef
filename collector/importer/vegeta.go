package importer

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// vegetaJSON reads "vegeta encode --to json".
func vegetaJSON() Format {
	return Format{
		Name: "vegeta-json", Title: "Vegeta results as JSON", Generator: "vegeta",
		Sniff: func(head []byte) bool {
			line, _, _ := bytes.Cut(head, []byte("\n"))
			return bytes.HasPrefix(line, []byte(`{"attack":`)) && bytes.Contains(line, []byte(`"seq":`)) &&
				bytes.Contains(line, []byte(`"latency":`))
		},
		Read: func(_ context.Context, src *Source, sink *Sink) error {
			v := newVegeta(sink)
			at := new(clock)
			err := lines(src, sink, func(line []byte) error {
				r, err := vegetaLine(line, at)
				if err != nil {
					return err
				}
				return stop(v.add(&r))
			})
			if err != nil {
				return err
			}
			return v.close()
		},
	}
}

// vegetaResult is one result of an attack.
type vegetaResult struct {
	attack  string
	seq     int64
	code    int64
	sent    int64
	latency int64
	failure []byte
}

func vegetaLine(line []byte, at *clock) (vegetaResult, error) {
	var r vegetaResult
	s := jsonScan{b: line}
	s.object(func(key []byte) {
		switch string(key) {
		case "attack":
			r.attack = string(s.text())
		case "seq":
			r.seq = s.integer()
		case "code":
			r.code = s.integer()
		case "timestamp":
			t, err := at.parse(s.text())
			if err != nil && s.err == nil {
				s.err = err
			}
			r.sent = t
		case "latency":
			r.latency = s.integer()
		case "error":
			r.failure = s.text()
		default:
			s.skip()
		}
	})
	s.end()
	return r, s.err
}

// vegetaCSV reads "vegeta encode --to csv": no header; send time and latency in
// ns, code, bytes out and in, error, body, attack, number, method, URL, headers.
func vegetaCSV() Format {
	return Format{
		Name: "vegeta-csv", Title: "Vegeta results as CSV", Generator: "vegeta",
		Sniff: func(head []byte) bool {
			line, _, _ := bytes.Cut(head, []byte("\n"))
			fields, err := unquote(nil, line, ',')
			if err != nil || len(fields) < 9 || len(fields[0]) != 19 {
				return false
			}
			for _, i := range []int{0, 1, 2, 3, 4, 8} {
				if _, err := integer(fields[i]); err != nil {
					return false
				}
			}
			return true
		},
		Read: func(_ context.Context, src *Source, sink *Sink) error {
			v := newVegeta(sink)
			var fields [][]byte
			err := lines(src, sink, func(line []byte) error {
				if src.Torn() {
					return errTornLine
				}
				var err error
				if fields, err = unquote(fields[:0], line, ','); err != nil {
					return err
				}
				r, err := v.fields(fields)
				if err != nil {
					return err
				}
				return stop(v.add(&r))
			})
			if err != nil {
				return err
			}
			return v.close()
		},
	}
}

func (v *vegeta) fields(f [][]byte) (r vegetaResult, err error) {
	if len(f) < 9 {
		return r, fmt.Errorf("%w: %d", errColumns, len(f))
	}
	for _, c := range []struct {
		to *int64
		at int
	}{{&r.sent, 0}, {&r.code, 1}, {&r.latency, 2}, {&r.seq, 8}} {
		if *c.to, err = integer(f[c.at]); err != nil {
			return r, err
		}
	}
	if v.name != string(f[7]) {
		v.name = string(f[7])
	}
	r.attack, r.failure = v.name, f[5]
	return r, nil
}

// vegetaGob reads what "vegeta attack" writes: a stream of Go's gob encoding.
func vegetaGob() Format {
	return Format{
		Name: "vegeta-gob", Title: "Vegeta results", Generator: "vegeta",
		Sniff: func(head []byte) bool {
			head = head[:min(len(head), 256)]
			return bytes.Contains(head, []byte("\x06Result\x01")) && bytes.Contains(head, []byte("\x06Attack\x01")) &&
				bytes.Contains(head, []byte("\x07Latency\x01"))
		},
		Read: readVegetaGob,
	}
}

// vegetaWire has the fields of Vegeta's own type that are read.
type vegetaWire struct {
	Attack    string
	Seq       uint64
	Code      uint16
	Timestamp gobTime
	Latency   int64
	Error     string
}

// gobTime is a time as time.Time encodes itself, in nanoseconds.
type gobTime int64

// GobDecode implements gob.GobDecoder: version, seconds since year 1 and
// nanoseconds, both big endian, then the zone.
func (t *gobTime) GobDecode(b []byte) error {
	if len(b) < 15 || b[0] != 1 && b[0] != 2 {
		return errTime
	}
	var s int64
	for _, c := range b[1:9] {
		s = s<<8 | int64(c)
	}
	var ns int64
	for _, c := range b[9:13] {
		ns = ns<<8 | int64(c)
	}
	const yearOne = 62135596800 // seconds before 1970
	if s -= yearOne; s <= 0 || s > 1<<33 || ns < 0 || ns >= 1e9 {
		return errTime
	}
	*t = gobTime(s*1e9 + ns)
	return nil
}

// readVegetaGob reads to the end. What is broken in a gob stream cannot be passed
// over: what follows is lost.
func readVegetaGob(_ context.Context, src *Source, sink *Sink) error {
	v := newVegeta(sink)
	dec := gob.NewDecoder(src)
	for n := int64(1); ; n++ {
		var w vegetaWire
		err := dec.Decode(&w)
		switch {
		case errors.Is(err, io.EOF):
			return v.close()
		case errors.Is(err, io.ErrUnexpectedEOF):
			sink.report.Torn = true
			return v.close()
		case err != nil:
			return fmt.Errorf("read Vegeta results: record %d, before offset %d: %w", n, src.Offset(), err)
		}
		r := vegetaResult{
			attack: w.Attack, seq: int64(w.Seq), code: int64(w.Code), sent: int64(w.Timestamp), latency: w.Latency,
			failure: []byte(w.Error),
		}
		if err := v.add(&r); err != nil {
			return err
		}
	}
}

// outcome is as Vegeta has it: everything from 200 to 399 is a success.
func (r *vegetaResult) outcome() sample.Outcome {
	switch {
	case r.code >= 200 && r.code < 400:
		return sample.OK
	case r.code == 0:
		return failedWith(r.failure)
	}
	return answered(r.code)
}
