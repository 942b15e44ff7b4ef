package influx

import (
	"bufio"
	"errors"
	"io"
	"net/http"

	"github.com/klauspost/compress/gzip"
)

// Problems of bodies.
var (
	errBusy     = errors.New("too much is being received at once")
	errTooLarge = errors.New("Request Entity Too Large") //nolint:staticcheck // InfluxDB's words
)

// mostPooled is the size up to which a buffer is kept for the next request.
const mostPooled = 8 << 20

// buffer is the memory that reading one body takes, reused.
type buffer struct {
	data  []byte
	input *bufio.Reader
	gzip  *gzip.Reader
}

// read reads the body of a request, inflated, and keeps account of the room
// that it takes in held.
func (s *Server) read(w http.ResponseWriter, r *http.Request, b *buffer, held *int64) error {
	if r.ContentLength > s.cfg.MaxBody {
		return errTooLarge
	}
	var in io.Reader = http.MaxBytesReader(w, r.Body, s.cfg.MaxBody)
	if r.Header.Get("Content-Encoding") == "gzip" {
		if b.input == nil {
			b.input, b.gzip = bufio.NewReaderSize(nil, 32<<10), new(gzip.Reader)
		}
		b.input.Reset(in)
		if err := b.gzip.Reset(b.input); err != nil {
			return err
		}
		in = b.gzip
	}
	b.data = b.data[:0]
	for {
		if room := min(int64(len(b.data))+32<<10, s.cfg.MaxBody); room > *held {
			if !s.metrics.reserve(room-*held, s.cfg.MaxInFlight) {
				return errBusy
			}
			*held = room
		}
		if cap(b.data)-len(b.data) < 32<<10 {
			b.data = append(make([]byte, 0, max(2*cap(b.data), 64<<10)), b.data...)
		}
		n, err := in.Read(b.data[len(b.data):min(cap(b.data), int(s.cfg.MaxBody)+1)])
		b.data = b.data[:len(b.data)+n]
		switch {
		case int64(len(b.data)) > s.cfg.MaxBody:
			return errTooLarge
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
				return errTooLarge
			}
			return err
		}
	}
}

func (s *Server) putBuffer(b *buffer) {
	if b.input != nil {
		b.input.Reset(nil)
	}
	if cap(b.data) <= mostPooled {
		s.buffers.Put(b)
	}
}
