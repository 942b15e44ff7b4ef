package runs_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/collector/runs"
)

func TestListPages(t *testing.T) {
	t.Parallel()
	f := start(t)
	var want []string
	for i := range 25 {
		// Several begin at the same time.
		f.send(rowed(fmt.Sprintf("run-%02d", i), "a", at(-time.Duration(i/3)*time.Minute)))
		want = append(want, fmt.Sprintf("run-%02d", i))
	}
	for _, limit := range []int{1, 4, 25, 26, 1 << 40} {
		var got []string
		q := runs.Query{Limit: limit}
		for {
			items, next, err := f.List(f.ctx, q)
			if err != nil || len(items) > limit {
				t.Fatalf("List(%+v) = %d items, %v", q, len(items), err)
			}
			got = append(got, ids(items)...)
			if next == "" {
				break
			}
			q.Cursor = next
			// A run that begins meanwhile does not move the others.
			f.send(rowed(fmt.Sprint("new-", limit, len(got)), "a", at(time.Minute)))
		}
		if !slices.Equal(got, want) {
			t.Errorf("with limit %d: %v, want %v", limit, got, want)
		}
		for _, i := range f.list() {
			if i.ID[:3] == "new" {
				if err := f.Delete(f.ctx, i.ID); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, bad := range []string{"!", "eHl6", "MTIz"} {
		if _, _, err := f.List(f.ctx, runs.Query{Cursor: bad}); !errors.Is(err, runs.ErrBadCursor) {
			t.Errorf("cursor %q: %v, want ErrBadCursor", bad, err)
		}
	}
}

func TestListFinds(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.send(rowed("Alpha-1", "a", at(0)), rowed("beta-2", "a", at(0)))
	if _, _, err := f.Declare(f.ctx, wire.Declaration{ID: "c", Name: "ALPHABET"}); err != nil {
		t.Fatal(err)
	}
	for q, want := range map[string]int{"": 3, "alpha": 2, "BETA": 1, "bet": 2, "-": 2, "zzz": 0} {
		if items, _, err := f.List(f.ctx, runs.Query{Q: q}); err != nil || len(items) != want {
			t.Errorf("List(%q) = %v, %v; want %d", q, ids(items), err, want)
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	f := start(t)
	for _, ref := range []string{"", "latest", "latest:x", "orders-20261130T120000Z"} {
		if _, err := f.Resolve(f.ctx, ref); !errors.Is(err, runs.ErrNotFound) {
			t.Errorf("Resolve(%q) of nothing: %v", ref, err)
		}
	}
	old := rowed("one", "a", at(-time.Hour))
	old.RunName = "orders"
	f.send(old, rowed("two", "a", at(-time.Minute)), rowed("", "orders-src", at(-time.Second)))
	start := noon.Add(time.Hour)
	if _, _, err := f.Declare(f.ctx, wire.Declaration{ID: "planned", Name: "orders", Start: &start}); err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]string{
		"one": "one", "latest": "orders-src-20261130T115959Z", "latest:orders": "one", "latest:two": "two",
		"orders-src-20261130T115959Z": "orders-src-20261130T115959Z",
		"orders-src-20261130T120900Z": "orders-src-20261130T115959Z", // once the start of a part of it
	} {
		if got := f.get(ref).ID; got != want {
			t.Errorf("Resolve(%q) = %q, want %q", ref, got, want)
		}
	}
	for _, ref := range []string{"orders", "latest:nothing", "latest:", "orders-src-20261130T123000Z", "-20261130T115959Z"} {
		if got, err := f.Resolve(f.ctx, ref); !errors.Is(err, runs.ErrNotFound) && ref != "latest:" {
			t.Errorf("Resolve(%q) = %q, %v; want ErrNotFound", ref, got.ID, err)
		}
	}
}
