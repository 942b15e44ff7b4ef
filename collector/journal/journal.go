// Package journal declares the log that every acknowledged piece of evidence is
// kept in. A Log is a set of streams (one per run, or per source where runs are
// not named), each a sequence of entries in the order of arrival, and a small
// table of documents (declarations, marks, frozen results).
//
// Append is the one promise that matters: when it returns without an error the
// entries are durable, and appending the same id again changes nothing. The
// conformance suite in journaltest checks that promise for every engine.
package journal

import (
	"context"
	"errors"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Errors that callers tell apart.
var (
	// ErrFull says that the engine has no room; the same append may succeed later.
	ErrFull = errors.New("journal is full")
	// ErrClosed says that the log has been closed.
	ErrClosed = errors.New("journal is closed")
	// ErrNotFound says that there is no such document.
	ErrNotFound = errors.New("not found in journal")
)

// ID names an append; the same bytes from the same receiver have the same ID.
type ID [16]byte

// Meta describes an entry without its data.
type Meta struct {
	Span sample.Span // event time covered by the entry
	Rows uint32      // number of rows
}

// Record is one entry to append.
type Record struct {
	Stream string // name of the stream, not empty
	Meta   Meta
	Data   []byte // opaque to the journal; not kept after Append returns
}

// Position is the place of an entry within its stream. Positions grow with
// arrival and are never used twice, also after a restart.
type Position uint64

// Entry is an entry as read. Data is valid until the callback returns.
type Entry struct {
	Position Position
	Meta     Meta
	Data     []byte
}

// Log is a durable log. All methods may be called concurrently.
type Log interface {
	// Append makes all records durable, or none. It returns true when the id
	// was appended before; then nothing is written.
	Append(ctx context.Context, id ID, records []Record) (duplicate bool, err error)
	// Metas calls fn for each entry of a stream at position from or later, in the
	// order of positions, without reading data. It stops at fn's first error and
	// returns it.
	Metas(ctx context.Context, stream string, from Position, fn func(Position, Meta) error) error
	// Read reads the data of the entries at the given positions, in that order.
	// Missing positions are passed over.
	Read(ctx context.Context, stream string, at []Position, fn func(Entry) error) error
	// Streams calls fn for each stream that has entries, in order of name.
	Streams(ctx context.Context, fn func(stream string) error) error
	// Delete removes entries of a stream. An id may be appended again once all
	// entries of its append are gone.
	Delete(ctx context.Context, stream string, at []Position) error
	// Put keeps a document durably; nil removes it.
	Put(ctx context.Context, key string, value []byte) error
	// Get returns a document, or ErrNotFound.
	Get(ctx context.Context, key string) ([]byte, error)
	// Documents calls fn for each document whose key begins with prefix, in
	// order of key. Value is valid until fn returns.
	Documents(ctx context.Context, prefix string, fn func(key string, value []byte) error) error
	// Size returns the bytes that the log takes on its medium, about.
	Size() int64
	// Close releases the log. What was appended stays.
	Close() error
}
