package importer

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// Spool is a source as a file, for formats that must be read in any order.
type Spool struct {
	*os.File

	Size int64
}

// Spool writes the rest of the source into a temporary file. The caller closes
// it, which removes it. More than most bytes are refused.
func (s *Source) Spool(most int64) (*Spool, error) {
	f, err := os.CreateTemp("", "plimsoll-import-*")
	if err != nil {
		return nil, fmt.Errorf("create temporary file: %w", err)
	}
	n, err := io.Copy(f, io.LimitReader(s, most+1))
	if err == nil && n > most {
		err = fmt.Errorf("file is larger than %d bytes", most)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write temporary file: %w", err), f.Close(), os.Remove(f.Name()))
	}
	return &Spool{File: f, Size: n}, nil
}

// Close removes the file.
func (s *Spool) Close() error { return errors.Join(s.File.Close(), os.Remove(s.Name())) }

// All reads the rest of the source, for formats that are one document. More
// than most bytes are refused.
func (s *Source) All(most int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(s, most+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(b)) > most:
		return nil, fmt.Errorf("file is larger than %d bytes", most)
	}
	return b, nil
}
