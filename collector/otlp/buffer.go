package otlp

import (
	"bufio"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxPooled is the size up to which a buffer is kept for the next request.
const maxPooled = 8 << 20

// buffer is the memory that reading one request takes, reused.
type buffer struct {
	data  []byte
	input *bufio.Reader
	gzip  *gzip.Reader
	zstd  *zstd.Decoder
}

func (s *Server) getBuffer() *buffer { return s.buffers.Get().(*buffer) }

func (s *Server) putBuffer(b *buffer) {
	if b.input != nil {
		b.input.Reset(nil)
	}
	if b.zstd != nil {
		_ = b.zstd.Reset(nil)
	}
	if cap(b.data) <= maxPooled {
		b.data = b.data[:0]
		s.buffers.Put(b)
	} else if b.zstd != nil {
		b.zstd.Close()
	}
}

// read reads a body, inflating it if it is encoded, into data. It stops with
// errTooLarge as soon as there is more than limit. Size is what the sender
// announced, or negative. Hold is asked for room for so many bytes in all.
func (b *buffer) read(r io.Reader, encoding string, size, limit int64, hold func(int64) bool) error {
	in, err := b.inflater(r, encoding)
	if err != nil {
		return err
	}
	if encoding != "" {
		size = 0
	}
	b.data = b.data[:0]
	for {
		// One byte more than expected, so that the end is seen without growing.
		want := min(max(size, int64(len(b.data))+32<<10)+1, limit+1)
		if !hold(want) {
			return errBusy
		}
		if int64(cap(b.data)) < want {
			b.grow(min(max(want, 2*int64(cap(b.data))), limit+1))
		}
		n, err := in.Read(b.data[len(b.data):min(int64(cap(b.data)), want)])
		b.data = b.data[:len(b.data)+n]
		switch {
		case int64(len(b.data)) > limit:
			return errTooLarge
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

func (b *buffer) grow(size int64) {
	grown := make([]byte, len(b.data), size)
	copy(grown, b.data)
	b.data = grown
}

// inflater returns a reader of the decoded body. The decompressors are fast only
// on a buffered reader.
func (b *buffer) inflater(r io.Reader, encoding string) (io.Reader, error) {
	if encoding == "" {
		return r, nil
	}
	if b.input == nil {
		b.input = bufio.NewReaderSize(r, 32<<10)
	} else {
		b.input.Reset(r)
	}
	if encoding == "gzip" {
		if b.gzip == nil {
			b.gzip = new(gzip.Reader)
		}
		return b.gzip, b.gzip.Reset(b.input)
	}
	if b.zstd == nil {
		d, err := newZstd()
		if err != nil {
			return nil, err
		}
		b.zstd = d
	}
	return b.zstd, b.zstd.Reset(b.input)
}

// maxWindow is the largest window that zstd encoders use unless asked for more.
const maxWindow = 8 << 20

// newZstd returns a decoder that works in the caller's goroutine and refuses
// larger windows, which would take their memory before the first byte.
func newZstd() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(maxWindow))
}
