package importer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

var (
	errTornLine = errors.New("line is cut off")
	errColumns  = errors.New("wrong number of columns")
)

// cut splits a line at every separator.
func cut(dst [][]byte, line []byte, sep byte) [][]byte {
	for {
		i := bytes.IndexByte(line, sep)
		if i < 0 {
			return append(dst, line)
		}
		dst = append(dst, line[:i])
		line = line[i+1:]
	}
}

// unquote splits a line of CSV whose fields may stand in quotes. Only fields
// that hold a quote are copied.
func unquote(dst [][]byte, line []byte, sep byte) ([][]byte, error) {
	if bytes.IndexByte(line, '"') < 0 {
		return cut(dst, line, sep), nil
	}
	for {
		if len(line) == 0 || line[0] != '"' {
			i := bytes.IndexByte(line, sep)
			if i < 0 {
				return append(dst, line), nil
			}
			dst, line = append(dst, line[:i]), line[i+1:]
			continue
		}
		field, rest, err := quoted(line[1:])
		if err != nil {
			return dst, err
		}
		dst = append(dst, field)
		switch {
		case len(rest) == 0:
			return dst, nil
		case rest[0] != sep:
			return dst, fmt.Errorf("%w: text after a quote", errColumns)
		}
		line = rest[1:]
	}
}

var errQuote = errors.New("a quote is not closed")

// quoted reads to the end of a quoted field, where a doubled quote stands for one.
func quoted(b []byte) (field, rest []byte, err error) {
	for i := 0; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return nil, nil, errQuote
		}
		i += n + 1
		if i == len(b) || b[i] != '"' {
			return append(field, b[:i-1]...), b[i:], nil
		}
		field, b, i = append(field, b[:i]...), b[i+1:], 0
	}
}

// integer reads a whole number that is not negative.
func integer(b []byte) (int64, error) {
	if len(b) > 0 && len(b) <= 18 {
		var v int64
		for _, c := range b {
			if c < '0' || c > '9' {
				v = -1
				break
			}
			v = v*10 + int64(c-'0')
		}
		if v >= 0 {
			return v, nil
		}
	}
	v, err := strconv.ParseInt(view(b), 10, 64)
	if err != nil || v < 0 {
		return 0, fmt.Errorf("%w %q", errNumber, trimmed(b))
	}
	return v, nil
}

// header reads the first line, which names the columns.
func header(src *Source, sink *Sink) ([]byte, error) {
	line, err := src.Line()
	if err != nil {
		return nil, fmt.Errorf("read %s: no header: %w", sink.format.Title, err)
	}
	return bytes.Clone(line), nil
}

// records calls fn with the fields of every line, which are valid until it
// returns. A last line that is cut off is passed over: its last number may lack
// digits.
func records(src *Source, sink *Sink, sep byte, fn func(fields [][]byte) error) error {
	var fields [][]byte
	return lines(src, sink, func(line []byte) error {
		if src.Torn() {
			return errTornLine
		}
		fields = cut(fields[:0], line, sep)
		return fn(fields)
	})
}

// lines calls fn with every line, which is valid until it returns. What fn cannot
// read is counted as bad.
func lines(src *Source, sink *Sink, fn func(line []byte) error) error {
	for {
		line, err := src.Line()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = fn(line)
		}
		if err == nil {
			continue
		}
		if end, ok := errors.AsType[*stopped](err); ok {
			return end.error
		}
		if err := sink.Bad(err); err != nil {
			return err
		}
	}
}

// stopped is an error of the sink, which ends the import.
type stopped struct{ error }

// stop marks an error of the sink; nil stays nil.
func stop(err error) error {
	if err == nil {
		return nil
	}
	return &stopped{err}
}

// mostSpooled bounds what is copied to a temporary file, to be read twice.
const mostSpooled = 1 << 40

// twice lets the rest of the source be read two times: some files say only at
// their end when they began. The source is copied to a temporary file.
func (s *Source) twice(first, second func() error) (err error) {
	lines, offset := s.lines, s.offset
	f, err := s.Spool(mostSpooled)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for _, read := range []func() error{first, second} {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("read temporary file: %w", err)
		}
		s.r = bufio.NewReaderSize(f, bufferBytes)
		s.lines, s.offset, s.torn = lines, offset, false
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}
