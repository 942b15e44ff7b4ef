package otlp

import (
	"bufio"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"google.golang.org/grpc/encoding"
)

// registerCompressors makes grpc-go inflate with the fast implementations. Its
// registry belongs to the process and must not be written concurrently.
var registerCompressors = sync.OnceFunc(func() {
	encoding.RegisterCompressor(&gzipCompressor{})
	encoding.RegisterCompressor(&zstdCompressor{})
})

// gzipCompressor also compresses, as clients in the same process share it.
type gzipCompressor struct{ readers, writers sync.Pool }

// Name returns the name of the encoding.
func (c *gzipCompressor) Name() string { return "gzip" }

type pooledGzip struct {
	*gzip.Reader
	input *bufio.Reader
	pool  *sync.Pool
}

// Close gives the reader back. It is called once, after the last read.
func (r *pooledGzip) Close() error {
	r.input.Reset(nil)
	r.pool.Put(r)
	return nil
}

// Decompress returns a reader of the inflated message.
func (c *gzipCompressor) Decompress(r io.Reader) (io.Reader, error) {
	z, ok := c.readers.Get().(*pooledGzip)
	if !ok {
		z = &pooledGzip{Reader: new(gzip.Reader), input: bufio.NewReaderSize(nil, 32<<10), pool: &c.readers}
	}
	z.input.Reset(r)
	if err := z.Reset(z.input); err != nil {
		_ = z.Close()
		return nil, err
	}
	return z, nil
}

type pooledGzipWriter struct {
	*gzip.Writer
	pool *sync.Pool
}

// Close ends the message and gives the writer back.
func (w *pooledGzipWriter) Close() error {
	defer w.pool.Put(w)
	return w.Writer.Close()
}

// Compress returns a writer that compresses a message.
func (c *gzipCompressor) Compress(w io.Writer) (io.WriteCloser, error) {
	z, ok := c.writers.Get().(*pooledGzipWriter)
	if !ok {
		return &pooledGzipWriter{Writer: gzip.NewWriter(w), pool: &c.writers}, nil
	}
	z.Reset(w)
	return z, nil
}

type zstdCompressor struct{ readers, writers sync.Pool }

// Name returns the name of the encoding.
func (c *zstdCompressor) Name() string { return "zstd" }

type pooledZstd struct {
	*zstd.Decoder
	input *bufio.Reader
	pool  *sync.Pool
}

// Close gives the reader back. It is called once, after the last read.
func (r *pooledZstd) Close() error {
	r.input.Reset(nil)
	_ = r.Reset(nil)
	r.pool.Put(r)
	return nil
}

// Decompress returns a reader of the inflated message.
func (c *zstdCompressor) Decompress(r io.Reader) (io.Reader, error) {
	z, ok := c.readers.Get().(*pooledZstd)
	if !ok {
		d, err := newZstd()
		if err != nil {
			return nil, err
		}
		z = &pooledZstd{Decoder: d, input: bufio.NewReaderSize(nil, 32<<10), pool: &c.readers}
	}
	z.input.Reset(r)
	if err := z.Reset(z.input); err != nil {
		_ = z.Close()
		return nil, err
	}
	return z, nil
}

type pooledZstdWriter struct {
	*zstd.Encoder
	pool *sync.Pool
}

// Close ends the message and gives the writer back.
func (w *pooledZstdWriter) Close() error {
	defer w.pool.Put(w)
	return w.Encoder.Close()
}

// Compress returns a writer that compresses a message.
func (c *zstdCompressor) Compress(w io.Writer) (io.WriteCloser, error) {
	z, ok := c.writers.Get().(*pooledZstdWriter)
	if !ok {
		e, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
		return &pooledZstdWriter{Encoder: e, pool: &c.writers}, err
	}
	z.Reset(w)
	return z, nil
}
