package importer

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	bufferBytes = 256 << 10
	headBytes   = 64 << 10 // most that formats see to recognise a file
	minHead     = 4 << 10  // what a pipe is waited for, and what names a run
	maxLine     = 1 << 20  // bytes of one line, unless a format allows more
)

// errLongLine says that a line was passed over because it is too long.
var errLongLine = errors.New("line is too long")

// Source is a file as formats read it: decompressed, buffered and counted. It
// is an io.Reader; Line reads text.
type Source struct {
	// Name is the last part of the file's name, without the ending of its
	// compression; empty for standard input.
	Name string

	r       *bufio.Reader
	head    []byte
	offset  int64 // of what is read next
	lines   int64 // that have been read
	long    []byte
	torn    bool
	limit   int
	cut     error // the stream ended before its end
	ended   int64 // as the user says
	written int64 // the file
	closing func()
}

// open prepares a stream for reading. A live stream is not waited for longer
// than it takes to recognise it.
func open(name string, r io.Reader, live bool) (*Source, error) {
	s := &Source{Name: name, limit: maxLine, closing: func() {}}
	in := bufio.NewReaderSize(&whole{r: r, src: s}, bufferBytes)
	magic, err := in.Peek(4)
	if err != nil && len(magic) == 0 && s.cut != nil {
		return nil, s.cut
	}
	var plain io.Reader = in
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("read gzip: %w", err)
		}
		plain = &whole{r: z, src: s}
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20))
		if err != nil {
			return nil, fmt.Errorf("read zstd: %w", err)
		}
		s.closing = z.Close
		plain = &whole{r: z, src: s}
	}
	s.r = in
	if plain != io.Reader(in) {
		s.r = bufio.NewReaderSize(plain, bufferBytes)
	}
	want := headBytes
	if live {
		want = minHead
	}
	_, err = s.r.Peek(want)
	if err != nil && !errors.Is(err, io.EOF) {
		s.closing()
		return nil, err
	}
	s.head, _ = s.r.Peek(min(s.r.Buffered(), headBytes))
	s.head = bytes.Clone(s.head)
	return s, nil
}

// whole turns an end before the end of a stream into a plain end, which the
// source remembers: what was read up to there is as good as ever.
type whole struct {
	r   io.Reader
	src *Source
}

func (w *whole) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		if w.src.cut == nil {
			w.src.cut = err
		}
		err = io.EOF
	}
	return n, err
}

// Head returns the beginning of the file, up to 64 KiB, without reading it.
func (s *Source) Head() []byte { return s.head }

// Read reads raw bytes; with Line it shares the position.
func (s *Source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.offset += int64(n)
	return n, err
}

// ReadByte reads one byte.
func (s *Source) ReadByte() (byte, error) {
	b, err := s.r.ReadByte()
	if err == nil {
		s.offset++
	}
	return b, err
}

// Peek returns the next n bytes without reading them; n is at most 64 KiB.
func (s *Source) Peek(n int) ([]byte, error) { return s.r.Peek(n) }

// AllowLines sets how many bytes a line may have; the default is 1 MiB.
func (s *Source) AllowLines(bytes int) { s.limit = bytes }

// Line returns the next line without its end ("\n" or "\r\n"). It is valid
// until the next call. At the end it returns io.EOF. A line that is too long is
// passed over with an error, after which Line may be called again.
func (s *Source) Line() ([]byte, error) {
	line, err := s.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = s.longLine(line)
	} else {
		s.offset += int64(len(line))
	}
	if err != nil && !errors.Is(err, io.EOF) {
		s.lines++
		return nil, err
	}
	if len(line) == 0 {
		return nil, io.EOF
	}
	s.lines++
	if n := len(line) - 1; line[n] == '\n' {
		line = line[:n]
		if n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
	} else {
		s.torn = true
	}
	return line, nil
}

// longLine goes on where the buffer was full.
func (s *Source) longLine(part []byte) ([]byte, error) {
	s.long = append(s.long[:0], part...)
	total := len(part)
	for {
		part, err := s.r.ReadSlice('\n')
		total += len(part)
		if total <= s.limit {
			s.long = append(s.long, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		s.offset += int64(total)
		if total > s.limit {
			return nil, fmt.Errorf("%w: %d bytes", errLongLine, total)
		}
		return s.long, err
	}
}

// Torn reports whether the line that was read last had no end: it may lack a
// part, digits of its last number for example.
func (s *Source) Torn() bool { return s.torn }

// Lines returns the number of lines read so far: the number of the current one.
func (s *Source) Lines() int64 { return s.lines }

// Offset returns the number of (decompressed) bytes read so far.
func (s *Source) Offset() int64 { return s.offset }

// place names where the source is, for errors.
func (s *Source) place() string {
	if s.lines > 0 {
		return fmt.Sprintf("line %d", s.lines)
	}
	return fmt.Sprintf("offset %d", s.offset)
}
