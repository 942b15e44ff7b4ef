package importer

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// mostOTLP bounds one message of an OTLP file.
const mostOTLP = 64 << 20

// otlpJSON reads export requests as JSON, one a line, as the Collector's file
// exporter writes them.
func otlpJSON() Format {
	return Format{
		Name: "otlp-json", Title: "OTLP as JSON lines", Generator: "otlp",
		Sniff: func(head []byte) bool {
			head = bytes.TrimLeft(head, " \t\r\n")
			head = head[:min(len(head), 200)]
			return bytes.HasPrefix(head, []byte("{")) &&
				(bytes.Contains(head, []byte(`"resourceSpans"`)) || bytes.Contains(head, []byte(`"resourceMetrics"`)) ||
					bytes.Contains(head, []byte(`"resourceLogs"`)))
		},
		Read: func(_ context.Context, src *Source, sink *Sink) error {
			if sink.OTLP == nil {
				return errNoOTLP
			}
			src.AllowLines(mostOTLP)
			o := otlpFile{sink: sink}
			err := lines(src, sink, func(line []byte) error {
				if len(bytes.TrimSpace(line)) == 0 {
					return nil
				}
				return o.json(line)
			})
			if err != nil {
				return err
			}
			return o.close()
		},
	}
}

// otlpProto reads export requests as protobuf, each after its length: in four
// bytes, as the Collector's file exporter writes it, or as a varint.
func otlpProto() Format {
	return Format{
		Name: "otlp-proto", Title: "OTLP as protobuf", Generator: "otlp",
		Sniff: func(head []byte) bool {
			return otlpFraming(head) != noFraming
		},
		Read: readOTLPProto,
	}
}

var errNoOTLP = errors.New("OTLP files are not read here")

// framing is how lengths stand before messages.
type framing uint8

const (
	noFraming framing = iota
	fourBytes
	varint
)

// otlpFraming tells how messages are framed: after the length stands field 1 of
// the request, whose own length fits into it.
func otlpFraming(head []byte) framing {
	fits := func(b []byte, n uint64) bool {
		if n < 2 || n > mostOTLP || len(b) < 4 || b[0] != 0x0a {
			return false
		}
		inner, size := binary.Uvarint(b[1:])
		if size <= 0 || inner+uint64(size)+1 > n {
			return false
		}
		// A resource (field 1) or the first scope (field 2) comes next.
		next := b[1+size:]
		return inner == 0 || len(next) > 0 && (next[0] == 0x0a || next[0] == 0x12)
	}
	if len(head) >= 8 && fits(head[4:], uint64(binary.BigEndian.Uint32(head))) {
		return fourBytes
	}
	if n, size := binary.Uvarint(head); size > 0 && fits(head[size:], n) {
		return varint
	}
	return noFraming
}

func readOTLPProto(_ context.Context, src *Source, sink *Sink) error {
	if sink.OTLP == nil {
		return errNoOTLP
	}
	frame := otlpFraming(src.Head())
	if frame == noFraming {
		return errors.New("read OTLP file: no length before the first message")
	}
	o := otlpFile{sink: sink}
	var buf []byte
	for n := 1; ; n++ {
		at := src.Offset()
		size, err := frame.length(src)
		switch {
		case errors.Is(err, io.EOF):
			return o.close()
		case errors.Is(err, io.ErrUnexpectedEOF):
			sink.report.Torn = true
			return o.close()
		case err != nil || size > mostOTLP:
			return fmt.Errorf("read OTLP file: message %d at offset %d: its length %d is beyond %d bytes", n, at, size, mostOTLP)
		}
		if uint64(cap(buf)) < size {
			buf = make([]byte, size)
		}
		buf = buf[:size]
		if _, err := io.ReadFull(src, buf); err != nil {
			sink.report.Torn = true
			return o.close()
		}
		err = o.proto(buf)
		if end, ok := errors.AsType[*stopped](err); ok {
			return end.error
		}
		if err != nil {
			if err := sink.Bad(err); err != nil {
				return err
			}
		}
	}
}

// length reads the length of a message; io.EOF means that there is none.
func (f framing) length(src *Source) (uint64, error) {
	if f == varint {
		n, err := binary.ReadUvarint(src)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return 1 << 63, err
		}
		return n, err
	}
	var b [4]byte
	if _, err := io.ReadFull(src, b[:]); err != nil {
		return 0, err
	}
	return uint64(binary.BigEndian.Uint32(b[:])), nil
}

// otlpFile hands on what messages hold.
type otlpFile struct {
	sink   *Sink
	others int64
}

func (o *otlpFile) json(line []byte) error {
	signal, err := otlpSignal(line)
	if err != nil {
		return err
	}
	switch signal {
	case "resourceSpans":
		return o.batches(o.sink.OTLP.TracesJSON(line))
	case "resourceMetrics":
		return o.batches(o.sink.OTLP.MetricsJSON(line))
	default:
		o.others++
		return nil
	}
}

// otlpSignal returns the first key of a message that says what it holds.
func otlpSignal(line []byte) (signal string, err error) {
	s := jsonScan{b: line}
	s.object(func(key []byte) {
		if signal == "" && bytes.HasPrefix(key, []byte("resource")) {
			signal = string(key)
			s.fail() // enough: the decoder reads it whole
			return
		}
		s.skip()
	})
	if signal != "" {
		return signal, nil
	}
	return "", s.err
}

// proto reads a message. Nothing in it says whether it holds spans or metrics:
// the first fields of the first one tell.
func (o *otlpFile) proto(b []byte) error {
	switch otlpKind(b) {
	case 's':
		return o.batches(o.sink.OTLP.Traces(b))
	case 'm':
		return o.batches(o.sink.OTLP.Metrics(b))
	}
	o.others++
	return nil
}

// otlpKind tells what an export request holds: 's' for spans, which begin with
// an id of 16 bytes and one of 8, 'm' for metrics, which begin with a name, 0 for
// anything else.
func otlpKind(b []byte) byte {
	for _, field := range []int{1, 2, 2} { // resource, scope, entry
		var ok bool
		if b, ok = protoField(b, field); !ok {
			return 0
		}
	}
	if id, ok := protoField(b, 1); ok && len(id) == 16 {
		if id, ok := protoField(b, 2); ok && len(id) == 8 {
			return 's'
		}
	}
	if name, ok := protoField(b, 1); ok && len(name) > 0 && utf8.Valid(name) {
		return 'm'
	}
	return 0
}

// protoField returns the first length-delimited field with a number.
func protoField(b []byte, number int) ([]byte, bool) {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, false
		}
		b = b[n:]
		var size uint64
		switch tag & 7 {
		case 0:
			if _, n = binary.Uvarint(b); n <= 0 {
				return nil, false
			}
			size = uint64(n)
		case 1:
			size = 8
		case 5:
			size = 4
		case 2:
			if size, n = binary.Uvarint(b); n <= 0 {
				return nil, false
			}
			if b = b[n:]; size > uint64(len(b)) {
				return nil, false
			}
			if tag>>3 == uint64(number) {
				return b[:size], true
			}
		default:
			return nil, false
		}
		if size > uint64(len(b)) {
			return nil, false
		}
		b = b[size:]
	}
	return nil, false
}

func (o *otlpFile) batches(batches []*sample.Batch, err error) error {
	if err != nil {
		return err
	}
	for _, b := range batches {
		if b.Empty() {
			continue
		}
		if err := o.sink.Batch(b); err != nil {
			return stop(err)
		}
	}
	return nil
}

func (o *otlpFile) close() error {
	if o.others > 0 {
		o.sink.Warn("%d messages hold neither requests of a generator nor metrics that are read, or another signal", o.others)
	}
	return nil
}
