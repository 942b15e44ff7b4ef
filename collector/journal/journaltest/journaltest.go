// Package journaltest is the conformance suite of journal.Log: what the rest of
// the collector relies on, for every engine alike. An engine calls Run from a
// test of its own and needs nothing else to be usable.
//
// The suite goes beyond the comments of the interface in a few points, which
// are therefore part of it: an id is free again once all entries of its append
// are gone; an append of nothing keeps nothing, not even its id; an empty
// stream name is refused; closing twice is allowed; callbacks may use the log.
package journaltest

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/journal"
)

// Opener opens the log that is kept in dir, or a new one when dir is empty. A
// log that was closed and is opened again in the same dir has its contents.
type Opener func(t *testing.T, dir string) journal.Log

// Run checks that the logs that open returns keep the promises of journal.Log.
func Run(t *testing.T, open func(t *testing.T, dir string) journal.Log) {
	t.Helper()
	for _, c := range []struct {
		name  string
		check func(*fixture)
	}{
		{"append and read", appendAndRead},
		{"metas", metas},
		{"read order", readOrder},
		{"data is not shared", dataIsNotShared},
		{"refused records", refusedRecords},
		{"nothing to append", nothingToAppend},
		{"durable", durable},
		{"idempotent", idempotent},
		{"concurrent duplicates", concurrentDuplicates},
		{"concurrent appends", concurrentAppends},
		{"readers see a prefix", readersSeeAPrefix},
		{"positions are never used twice", positionsAreNeverUsedTwice},
		{"hostile names", hostileNames},
		{"delete", deleteEntries},
		{"delete frees ids", deleteFreesIDs},
		{"delete many", deleteMany},
		{"documents", documents},
		{"metas from a position", metasFrom},
		{"errors of callbacks", errorsOfCallbacks},
		{"callbacks use the log", callbacksUseTheLog},
		{"cancelled", cancelled},
		{"closed", closed},
		{"size", size},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := &fixture{T: t, open: open, dir: t.TempDir()}
			f.log = open(t, f.dir)
			t.Cleanup(func() { _ = f.log.Close() })
			c.check(f)
		})
	}
}

// fixture is a log under test with helpers that fail the test.
type fixture struct {
	*testing.T
	open Opener
	dir  string
	log  journal.Log
}

// reopen closes the log and opens it again.
func (f *fixture) reopen() {
	f.Helper()
	if err := f.log.Close(); err != nil {
		f.Fatalf("close: %v", err)
	}
	f.log = f.open(f.T, f.dir)
}

func (f *fixture) append(id journal.ID, records ...journal.Record) {
	f.Helper()
	f.appendWants(false, id, records...)
}

func (f *fixture) appendWants(duplicate bool, id journal.ID, records ...journal.Record) {
	f.Helper()
	got, err := f.log.Append(f.Context(), id, records)
	if err != nil {
		f.Fatalf("append: %v", err)
	}
	if got != duplicate {
		f.Fatalf("append reports duplicate %v, want %v", got, duplicate)
	}
}

// positions returns the positions of a stream, checked to be in order.
func (f *fixture) positions(stream string) []journal.Position {
	f.Helper()
	var at []journal.Position
	if err := f.log.Metas(f.Context(), stream, 0, func(p journal.Position, _ journal.Meta) error {
		at = append(at, p)
		return nil
	}); err != nil {
		f.Fatalf("metas of %q: %v", stream, err)
	}
	if !slices.IsSorted(at) || len(slices.Compact(slices.Clone(at))) != len(at) {
		f.Fatalf("positions of %q do not grow: %v", stream, at)
	}
	return at
}

// read returns the entries at the positions, with copies of their data.
func (f *fixture) read(stream string, at []journal.Position) []journal.Entry {
	f.Helper()
	var entries []journal.Entry
	if err := f.log.Read(f.Context(), stream, at, func(e journal.Entry) error {
		e.Data = slices.Clone(e.Data)
		entries = append(entries, e)
		return nil
	}); err != nil {
		f.Fatalf("read %q: %v", stream, err)
	}
	return entries
}

// wants checks that a stream holds these data, in this order.
func (f *fixture) wants(stream string, data ...string) {
	f.Helper()
	got := []string{}
	for _, e := range f.read(stream, f.positions(stream)) {
		got = append(got, string(e.Data))
	}
	if diff := cmp.Diff(append([]string{}, data...), got); diff != "" {
		f.Errorf("stream %q (-want +got):\n%s", stream, diff)
	}
}

func (f *fixture) streams() []string {
	f.Helper()
	var names []string
	if err := f.log.Streams(f.Context(), func(name string) error {
		names = append(names, name)
		return nil
	}); err != nil {
		f.Fatalf("streams: %v", err)
	}
	return names
}

func (f *fixture) delete(stream string, at ...journal.Position) {
	f.Helper()
	if err := f.log.Delete(f.Context(), stream, at); err != nil {
		f.Fatalf("delete from %q: %v", stream, err)
	}
}

// id returns a distinct id for n.
func id(n int) journal.ID {
	var id journal.ID
	binary.BigEndian.PutUint64(id[4:], uint64(n)*0x9e3779b97f4a7c15)
	return id
}

// record returns a record whose data is text.
func record(stream, text string) journal.Record {
	n := int64(len(text))
	return journal.Record{
		Stream: stream, Data: []byte(text),
		Meta: journal.Meta{Span: sample.Span{From: -n, To: n << 40}, Rows: uint32(n)},
	}
}
