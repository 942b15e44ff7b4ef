package journaltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll/plimsoll/collector/journal"
)

func readOrder(f *fixture) {
	for i := range 5 {
		f.append(id(i), record("s", strconv.Itoa(i)), record("t", "not ours"))
	}
	s, t := f.positions("s"), f.positions("t")
	at := []journal.Position{s[3], s[0], t[1], 1 << 62, s[4], s[4], 0, s[1]}
	var got []byte
	for _, e := range f.read("s", at) {
		got = append(got, e.Data...)
	}
	if string(got) != "30441" {
		f.Errorf("read %q, want %q", got, "30441")
	}
	if entries := f.read("s", nil); len(entries) > 0 {
		f.Errorf("reading no positions read %d entries", len(entries))
	}
	if entries := f.read("none", s); len(entries) > 0 {
		f.Errorf("a stream that does not exist has %d entries", len(entries))
	}
}

// names are hostile to engines that join or split keys.
func names() []string {
	return []string{
		"\x00", "\x00\x00", "\x00\x01", "\x00\xff", "\x01", "a", "a\x00", "a\x00\x00b", "a\x00\x01", "a\x00\xff", "a\x01",
		"a/", "a/../b", "aa", "a\xff", "a\xff\xff", "run 1", "run 10", "ünïcode ☃", "\xff", "\xff\xff\xff", "\x00telemetry",
		strings.Repeat("long/", 500),
	}
}

func hostileNames(f *fixture) {
	all := names()
	slices.Sort(all)
	for i, name := range all {
		f.append(id(i), record(name, name), record(name, "second"))
	}
	check := func() {
		f.Helper()
		if diff := cmp.Diff(all, f.streams()); diff != "" {
			f.Errorf("streams (-want +got):\n%s", diff)
		}
		for _, name := range all {
			f.wants(name, name, "second")
		}
	}
	check()
	f.reopen()
	check()
	for i, name := range all {
		f.delete(name, f.positions(name)...)
		if diff := cmp.Diff(all[i+1:], f.streams(), equalEmpty()); diff != "" {
			f.Fatalf("streams after deleting %q (-want +got):\n%s", name, diff)
		}
	}
}

func equalEmpty() cmp.Option {
	return cmp.Transformer("nil", func(s []string) string { return fmt.Sprintf("%q", s) })
}

func deleteEntries(f *fixture) {
	for i := range 6 {
		f.append(id(i), record("s", strconv.Itoa(i)), record("t", strconv.Itoa(i)))
	}
	s, t := f.positions("s"), f.positions("t")
	f.delete("s", s[4], s[1], 1<<60, t[0], s[1]) // any order, missing, another's, twice
	check := func() {
		f.Helper()
		f.wants("s", "0", "2", "3", "5")
		f.wants("t", "0", "1", "2", "3", "4", "5")
	}
	check()
	f.delete("none", s...)
	f.delete("s")
	f.reopen()
	check()
	f.delete("t", t...)
	f.wants("s", "0", "2", "3", "5")
	f.wants("t")
	if got := f.streams(); !slices.Equal(got, []string{"s"}) {
		f.Errorf("streams are %q after all entries of t are gone", got)
	}
}

func deleteFreesIDs(f *fixture) {
	f.append(id(1), record("s", "x"))
	f.append(id(2), record("s", "a"), record("t", "b"), record("t", "c"))
	f.delete("s", f.positions("s")...)
	f.append(id(1), record("s", "again"))
	// Appending the rest of id 2 again would keep b and c twice.
	f.appendWants(true, id(2), record("s", "a"), record("t", "b"), record("t", "c"))
	f.delete("t", f.positions("t")[0])
	f.reopen()
	f.appendWants(true, id(2), record("s", "a"))
	f.delete("t", f.positions("t")...)
	f.append(id(2), record("s", "a"), record("t", "b"))
	f.wants("s", "again", "a")
	f.wants("t", "b")
	f.appendWants(true, id(1), record("s", "again"))
}

// deleteMany deletes enough to need more than one step of an engine, with
// another stream between.
func deleteMany(f *fixture) {
	const n = 200
	for i := range n {
		records := make([]journal.Record, 0, 31)
		for range 30 {
			records = append(records, record("s", "data"))
		}
		f.append(id(i), append(records, record("t", strconv.Itoa(i)))...)
	}
	at := f.positions("s")
	f.delete("s", at[10:]...)
	f.reopen()
	if got := f.positions("s"); !slices.Equal(got, at[:10]) {
		f.Errorf("%d entries are left, want 10", len(got))
	}
	if got := len(f.read("t", f.positions("t"))); got != n {
		f.Errorf("the other stream has %d entries, want %d", got, n)
	}
	f.appendWants(true, id(0), record("s", "x"))
	f.delete("t", f.positions("t")...)
	f.append(id(n-1), record("s", "x"))
}

func documents(f *fixture) {
	ctx := f.Context()
	put := func(key string, value []byte) {
		f.Helper()
		if err := f.log.Put(ctx, key, value); err != nil {
			f.Fatalf("put %q: %v", key, err)
		}
	}
	check := func(prefix string, want ...string) {
		f.Helper()
		got := []string{}
		if err := f.log.Documents(ctx, prefix, func(key string, value []byte) error {
			got = append(got, key+"="+string(value))
			return nil
		}); err != nil {
			f.Fatalf("documents of %q: %v", prefix, err)
		}
		if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
			f.Errorf("documents of %q (-want +got):\n%s", prefix, diff)
		}
	}
	put("run/1", []byte("a"))
	put("run/10", []byte("b"))
	put("run/1\xff", []byte("c"))
	put("\xff\xff", []byte("d"))
	put("", []byte("e"))
	put("run0", []byte{})
	f.append(id(1), record("run/1", "an entry, not a document"))
	put("run/10", []byte("replaced"))
	check("run/1", "run/1=a", "run/10=replaced", "run/1\xff=c")
	put("run/1", nil)
	put("never was", nil)
	f.reopen()
	check("", "=e", "run/10=replaced", "run/1\xff=c", "run0=", "\xff\xff=d")
	check("\xff", "\xff\xff=d")
	check("nothing")
	if _, err := f.log.Get(ctx, "run/1"); !errors.Is(err, journal.ErrNotFound) {
		f.Errorf("a removed document gives %v, want ErrNotFound", err)
	}
	if got, err := f.log.Get(ctx, "run0"); err != nil || got == nil || len(got) > 0 {
		f.Errorf("an empty document is %v (%v), want empty and not nil", got, err)
	}
}

func errorsOfCallbacks(f *fixture) {
	f.append(id(1), record("s", "x"), record("s", "y"), record("t", "z"))
	if err := f.log.Put(f.Context(), "a", []byte("1")); err != nil {
		f.Fatal(err)
	}
	stop := errors.New("stop")
	calls := 0
	check := func(what string, err error) {
		f.Helper()
		if !errors.Is(err, stop) || calls != 1 {
			f.Errorf("%s made %d calls and returned %v, want the first call's error", what, calls, err)
		}
		calls = 0
	}
	fail := func() error { calls++; return stop }
	ctx := f.Context()
	check("Metas", f.log.Metas(ctx, "s", 0, func(journal.Position, journal.Meta) error { return fail() }))
	check("Read", f.log.Read(ctx, "s", f.positions("s"), func(journal.Entry) error { return fail() }))
	check("Streams", f.log.Streams(ctx, func(string) error { return fail() }))
	check("Documents", f.log.Documents(ctx, "", func(string, []byte) error { return fail() }))
}

func metasFrom(f *fixture) {
	for i := range 5 {
		f.append(id(i+1), record("s", "x"), record("t", "y"))
	}
	all := f.positions("s")
	for k, want := range map[journal.Position][]journal.Position{0: all, all[0]: all, all[2]: all[2:], all[2] + 1: all[3:], all[4] + 1: nil} {
		var got []journal.Position
		err := f.log.Metas(f.Context(), "s", k, func(p journal.Position, _ journal.Meta) error {
			got = append(got, p)
			return nil
		})
		if err != nil || !slices.Equal(got, want) {
			f.Errorf("metas from %d: %v, %v; want %v", k, got, err, want)
		}
	}
}

func callbacksUseTheLog(f *fixture) {
	f.append(id(1), record("s", "x"))
	n := 1
	more := func() error {
		n++
		_, err := f.log.Append(f.Context(), id(n), []journal.Record{record("s", "more")})
		return err
	}
	ctx := f.Context()
	for _, err := range []error{
		f.log.Metas(ctx, "s", 0, func(journal.Position, journal.Meta) error { return more() }),
		f.log.Read(ctx, "s", f.positions("s")[:1], func(journal.Entry) error { return more() }),
		f.log.Streams(ctx, func(string) error { return more() }),
	} {
		if err != nil {
			f.Errorf("using the log in a callback: %v", err)
		}
	}
	f.wants("s", "x", "more", "more", "more")
}

func cancelled(f *fixture) {
	f.append(id(1), record("s", "x"), record("s", "y"))
	if err := f.log.Put(f.Context(), "k", []byte("v")); err != nil {
		f.Fatal(err)
	}
	at := f.positions("s")
	ctx, cancel := context.WithCancel(f.Context())
	reads := 0
	err := f.log.Read(ctx, "s", at, func(journal.Entry) error {
		reads++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || reads != 1 {
		f.Errorf("a read cancelled at its first entry made %d calls and returned %v", reads, err)
	}
	for what, err := range everyCall(ctx, f.log, at) {
		if !errors.Is(err, context.Canceled) {
			f.Errorf("%s with a cancelled context returns %v", what, err)
		}
	}
	f.wants("s", "x", "y")
}

func closed(f *fixture) {
	f.append(id(1), record("s", "x"))
	at := f.positions("s")
	for range 2 {
		if err := f.log.Close(); err != nil {
			f.Fatalf("close: %v", err)
		}
	}
	for what, err := range everyCall(f.Context(), f.log, at) {
		if !errors.Is(err, journal.ErrClosed) {
			f.Errorf("%s after Close returns %v, want ErrClosed", what, err)
		}
	}
	f.log = f.open(f.T, f.dir)
	f.wants("s", "x")
}

// everyCall calls each method that takes a context and returns their errors.
func everyCall(ctx context.Context, log journal.Log, at []journal.Position) map[string]error {
	_, appendErr := log.Append(ctx, id(99), []journal.Record{record("s", "late")})
	_, getErr := log.Get(ctx, "k")
	return map[string]error{
		"Append":    appendErr,
		"Metas":     log.Metas(ctx, "s", 0, func(journal.Position, journal.Meta) error { return nil }),
		"Read":      log.Read(ctx, "s", at, func(journal.Entry) error { return nil }),
		"Streams":   log.Streams(ctx, func(string) error { return nil }),
		"Delete":    log.Delete(ctx, "s", at),
		"Put":       log.Put(ctx, "k", []byte("late")),
		"Get":       getErr,
		"Documents": log.Documents(ctx, "", func(string, []byte) error { return nil }),
	}
}

func size(f *fixture) {
	f.append(id(1), record("s", strings.Repeat("x", 1<<20)))
	if got := f.log.Size(); got < 1<<20 {
		f.Errorf("a log with 1 MiB of data says that it takes %d bytes", got)
	}
	if err := f.log.Close(); err != nil {
		f.Fatal(err)
	}
	_ = f.log.Size() // must not panic
}
