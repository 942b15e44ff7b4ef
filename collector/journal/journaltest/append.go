package journaltest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/journal"
)

func appendAndRead(f *fixture) {
	f.append(id(1), record("a", "one"), record("b", "two"), record("a", "three"))
	f.append(id(2), record("a", ""), record("a", strings.Repeat("large ", 1<<18)))
	f.wants("a", "one", "three", "", strings.Repeat("large ", 1<<18))
	f.wants("b", "two")
	f.wants("c")
	if diff := cmp.Diff([]string{"a", "b"}, f.streams()); diff != "" {
		f.Errorf("streams (-want +got):\n%s", diff)
	}
}

func metas(f *fixture) {
	want := []journal.Meta{
		{},
		{Rows: math.MaxUint32, Span: sample.Span{From: math.MinInt64, To: math.MaxInt64}},
		{Rows: 1, Span: sample.Span{From: math.MaxInt64, To: math.MinInt64}},
		{Rows: 512, Span: sample.Span{From: 1_790_000_000_000_000_000, To: 1_790_000_000_000_000_001}},
	}
	for i, m := range want {
		f.append(id(i), journal.Record{Stream: "s", Meta: m, Data: []byte{byte(i)}})
	}
	check := func() {
		f.Helper()
		var got []journal.Meta
		if err := f.log.Metas(f.Context(), "s", 0, func(_ journal.Position, m journal.Meta) error {
			got = append(got, m)
			return nil
		}); err != nil {
			f.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			f.Errorf("metas (-want +got):\n%s", diff)
		}
		for i, e := range f.read("s", f.positions("s")) {
			if e.Meta != want[i] {
				f.Errorf("entry %d is read with meta %v, want %v", i, e.Meta, want[i])
			}
		}
	}
	check()
	f.reopen()
	check()
}

func dataIsNotShared(f *fixture) {
	data := []byte("original")
	f.append(id(1), journal.Record{Stream: "s", Data: data})
	copy(data, "changed!")
	if err := f.log.Put(f.Context(), "k", data); err != nil {
		f.Fatal(err)
	}
	copy(data, "again!!!")
	f.wants("s", "original")
	for range 2 {
		got, err := f.log.Get(f.Context(), "k")
		if err != nil || string(got) != "changed!" {
			f.Errorf("document is %q (%v), want %q", got, err, "changed!")
		}
		clear(got) // the caller's own
	}
}

func refusedRecords(f *fixture) {
	if _, err := f.log.Append(f.Context(), id(1), []journal.Record{record("s", "x"), record("", "y")}); err == nil {
		f.Error("a record without a stream was accepted")
	}
	f.wants("s") // all or nothing
	f.append(id(1), record("s", "x"))
}

func nothingToAppend(f *fixture) {
	f.append(id(1))
	f.append(id(1))
	f.append(id(1), record("s", "x"))
	if got := f.streams(); !slices.Equal(got, []string{"s"}) {
		f.Errorf("streams are %q", got)
	}
}

func durable(f *fixture) {
	var want []string
	for i := range 50 {
		want = append(want, fmt.Sprint("entry ", i))
		f.append(id(i), record("s", want[i]), record(fmt.Sprint("other ", i%3), "x"))
		if i%20 == 7 {
			f.reopen()
		}
	}
	if err := f.log.Put(f.Context(), "doc", []byte("kept")); err != nil {
		f.Fatal(err)
	}
	before := f.positions("s")
	f.reopen()
	f.wants("s", want...)
	if diff := cmp.Diff(before, f.positions("s")); diff != "" {
		f.Errorf("positions changed (-before +after):\n%s", diff)
	}
	if got, err := f.log.Get(f.Context(), "doc"); err != nil || string(got) != "kept" {
		f.Errorf("document is %q (%v)", got, err)
	}
}

func idempotent(f *fixture) {
	f.append(id(1), record("s", "first"))
	f.appendWants(true, id(1), record("s", "first"))
	f.appendWants(true, id(1), record("t", "other records do not matter"))
	f.reopen()
	f.appendWants(true, id(1), record("s", "first"))
	f.append(id(2), record("s", "first")) // the same bytes with another id
	f.wants("s", "first", "first")
	f.wants("t")
}

func concurrentDuplicates(f *fixture) {
	const callers, rounds = 8, 20
	for round := range rounds {
		var wrote atomic.Int32
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() {
				duplicate, err := f.log.Append(f.Context(), id(round), []journal.Record{record("s", "x"), record("t", "y")})
				if err != nil {
					f.Errorf("append: %v", err)
				}
				if !duplicate {
					wrote.Add(1)
				}
			})
		}
		wg.Wait()
		if n := wrote.Load(); n != 1 {
			f.Fatalf("%d of %d callers with one id wrote, want 1", n, callers)
		}
	}
	for _, stream := range []string{"s", "t"} {
		if n := len(f.positions(stream)); n != rounds {
			f.Errorf("stream %q has %d entries, want %d", stream, n, rounds)
		}
	}
}

func concurrentAppends(f *fixture) {
	const writers, each = 6, 30
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				text := fmt.Sprint(w, " ", i)
				records := []journal.Record{record("all", text), record(fmt.Sprint("writer ", w), text)}
				if _, err := f.log.Append(f.Context(), id(w*each+i), records); err != nil {
					f.Errorf("append: %v", err)
				}
			}
		})
	}
	for range 2 {
		wg.Go(func() {
			for range 20 {
				_ = f.log.Streams(f.Context(), func(s string) error {
					f.read(s, f.positions(s))
					return nil
				})
			}
		})
	}
	wg.Wait()
	f.reopen()
	if n := len(f.positions("all")); n != writers*each {
		f.Errorf("%d entries, want %d", n, writers*each)
	}
	for w := range writers {
		var want []string
		for i := range each {
			want = append(want, fmt.Sprint(w, " ", i))
		}
		f.wants(fmt.Sprint("writer ", w), want...)
	}
}

// readersSeeAPrefix checks what lets a reader resume after the last position
// that it saw: nothing appears below it later.
func readersSeeAPrefix(f *fixture) {
	const writers, each = 4, 40
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				if _, err := f.log.Append(f.Context(), id(w*each+i), []journal.Record{record("s", "x")}); err != nil {
					f.Errorf("append: %v", err)
				}
			}
		})
	}
	stop := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		var seen []journal.Position
		for last := false; !last; {
			select {
			case <-stop:
				last = true
			default:
			}
			now := f.positions("s")
			if len(now) < len(seen) || !slices.Equal(seen, now[:len(seen)]) {
				f.Errorf("entries appeared below position %d that had been read", seen[len(seen)-1])
				return
			}
			seen = now
		}
		if len(seen) != writers*each {
			f.Errorf("%d entries, want %d", len(seen), writers*each)
		}
	})
	wg.Wait()
	close(stop)
	reader.Wait()
}

func positionsAreNeverUsedTwice(f *fixture) {
	used := map[journal.Position]bool{}
	next := 0
	for round := range 6 {
		for range 4 {
			f.append(id(next), record("s", "x"))
			next++
		}
		at := f.positions("s")
		for _, p := range at[len(at)-4:] {
			if used[p] {
				f.Fatalf("position %d is used again in round %d", p, round)
			}
			used[p] = true
		}
		f.delete("s", at[1:]...) // the newest too
		f.reopen()
		if round%2 == 1 {
			f.delete("s", at[0])
			f.reopen()
		}
	}
}
