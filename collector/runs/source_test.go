package runs_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/journal/memory"
	"github.com/plimsoll/plimsoll/collector/runs"
)

// sameRuns wants two lists to be equal in all that does not depend on when the
// data came.
func sameRuns(t *testing.T, want, got []runs.Info) {
	t.Helper()
	if diff := gocmp.Diff(want, got, cmpopts.IgnoreFields(runs.Info{}, "QuietAt")); diff != "" {
		t.Errorf("runs differ (-want +got):\n%s", diff)
	}
}

func TestSilenceDividesTheRunsOfASource(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		pause time.Duration
		runs  int
	}{
		{"100 s", 100 * time.Second, 1},
		{"exactly 10 min", 10 * time.Minute, 1},
		{"over 10 min", 10*time.Minute + 1, 2},
	} {
		for _, together := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, together), func(t *testing.T) {
				t.Parallel()
				f := start(t)
				first := at(-time.Hour)
				second := first + int64(100*time.Millisecond+c.pause)
				if together {
					f.send(rowed("", "orders", second, first))
				} else {
					f.send(rowed("", "orders", second), rowed("", "orders", first))
				}
				if list := f.list(); len(list) != c.runs {
					t.Errorf("runs = %v, want %d", ids(list), c.runs)
				}
				if got := f.get("orders-20261130T110000Z"); got.ID != "orders-20261130T110000Z" || got.Source != "orders" {
					t.Errorf("first run = %+v", got)
				}
			})
		}
	}
}

func TestALongRequestSpansSilence(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.send(rowed("", "orders", at(-2*time.Hour), at(-time.Hour)))
	if list := f.list(); len(list) != 2 {
		t.Fatalf("runs = %v, want 2", ids(list))
	}
	b := rowed("", "orders")
	b.Append(sample.Row{Sent: at(-110 * time.Minute), Done: at(-65 * time.Minute)})
	f.send(b)
	list := f.list()
	if len(list) != 1 || list[0].Rows != 3 || list[0].ID != "orders-20261130T100000Z" {
		t.Errorf("runs = %+v, want one of 3 rows", list)
	}
	if got := f.get("orders-20261130T110000Z"); got.ID != list[0].ID {
		t.Errorf("the id of the second part finds %q", got.ID)
	}
}

func TestRunsWithAnIDNeverSplit(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.send(rowed("r", "a", at(-20*time.Hour), at(0)), rowed("r", "a", at(-10*time.Hour)))
	if list := f.list(); len(list) != 1 || list[0].Rows != 3 {
		t.Errorf("runs = %+v, want one of 3 rows", list)
	}
}

func TestLateRowsMoveTheStartOfARun(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.send(rowed("", "orders", at(-time.Hour)))
	old := f.get("latest").ID
	if _, _, err := f.Declare(f.ctx, wire.Declaration{ID: old, Name: "evening"}); err != nil {
		t.Fatal(err)
	}
	f.send(rowed("", "orders", at(-65*time.Minute)))
	got := f.get(old)
	if got.ID == old || got.Rows != 2 || got.Name != "evening" || f.get(got.ID).Revision != got.Revision {
		t.Errorf("run = %+v, want the same run with another id", got)
	}
	f.pass(time.Hour)
	before := f.list()
	f.open(f.log.(*memory.Log).Reopen())
	sameRuns(t, before, f.list())
}

func TestPointsBelongToTheRunNearby(t *testing.T) {
	t.Parallel()
	f := start(t)
	// An exporter that never stops, and two runs an hour apart.
	for _, ns := range every(time.Minute, -5*time.Hour, 0) {
		f.send(pointed("", "gen-1", "orders", ns))
	}
	if list := f.list(); len(list) != 1 || list[0].Rows != 0 || list[0].Name != "orders" || list[0].Generator != "orders" {
		t.Fatalf("points alone: runs = %+v, want one", list)
	}
	f.send(rowed("", "gen-1", every(time.Minute, -3*time.Hour, -150*time.Minute)...))
	f.send(rowed("", "gen-1", every(time.Minute, -time.Hour, -30*time.Minute)...))
	list := f.list()
	if len(list) != 2 {
		t.Fatalf("runs = %v, want two", ids(list))
	}
	for _, i := range list {
		rows, points := f.evidence(i.ID)
		if len(rows) != 31 || len(points) != 51 || i.Batches != 52 {
			t.Errorf("run %s has %d rows and %d points in %d batches, want 31, 51 and 52", i.ID, len(rows), len(points), i.Batches)
		}
	}
	if err := f.Delete(f.ctx, list[0].ID); err != nil {
		t.Fatal(err)
	}
	if err := f.Delete(f.ctx, list[1].ID); err != nil {
		t.Fatal(err)
	}
	if left := f.list(); len(left) != 0 {
		t.Errorf("runs after both are deleted = %v, want none", ids(left))
	}
	if got := f.Stats(); got.Batches != 0 || got.Sources != 0 {
		t.Errorf("stats = %+v, want nothing left", got)
	}
}

func TestPointsOfAnotherRunAreCutOff(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.send(rowed("", "g", at(-3*time.Hour)), rowed("", "g", at(-time.Hour)))
	f.send(pointed("", "g", "svc", every(time.Minute, -4*time.Hour, 0)...))
	for _, i := range f.list() {
		if _, points := f.evidence(i.ID); len(points) != 21 {
			t.Errorf("run %s has %d points, want 21", i.ID, len(points))
		}
	}
}

// world is a set of rows and points of one source.
type world struct {
	rows   []sample.Row
	points []sample.Point
}

func drawWorld(t *rapid.T) world {
	var w world
	moment := rapid.Int64Range(0, 19*12) // five minutes each
	for range rapid.IntRange(0, 12).Draw(t, "rows") {
		sent := at(-20*time.Hour) + moment.Draw(t, "sent")*5*minute
		done := sent + rapid.Int64Range(0, 10).Draw(t, "length")*2*minute
		w.rows = append(w.rows, sample.Row{Sent: sent, Done: done, Index: sample.NoIndex})
	}
	for range rapid.IntRange(0, 12).Draw(t, "points") {
		w.points = append(w.points, sample.Point{Time: at(-20*time.Hour) + moment.Draw(t, "time")*5*minute})
	}
	return w
}

// requests deals the world out to batches, in a random order, some twice.
func (w world) requests(r *rand.Rand) []*sample.Batch {
	n := 1 + r.IntN(len(w.rows)+len(w.points)+1)
	list := make([]*sample.Batch, n)
	for i := range list {
		list[i] = rowed("", "Some Source")
		list[i].Series = []sample.Series{{Source: "Some Source", Service: "svc", Name: "m"}}
	}
	for _, i := range r.Perm(len(w.rows)) {
		list[r.IntN(n)].Append(w.rows[i])
	}
	for _, i := range r.Perm(len(w.points)) {
		b := list[r.IntN(n)]
		b.Points = append(b.Points, w.points[i])
	}
	return list
}

// seen is what must not depend on how the world was dealt out.
func seen(f *fixture) []string {
	var out []string
	for _, i := range f.list() {
		rows, points := f.evidence(i.ID)
		slices.SortFunc(rows, func(a, b sample.Row) int {
			return cmp.Or(cmp.Compare(a.Sent, b.Sent), cmp.Compare(a.Done, b.Done))
		})
		slices.SortFunc(points, func(a, b sample.Point) int { return cmp.Compare(a.Time, b.Time) })
		out = append(out, fmt.Sprint(i.ID, i.Name, i.State, i.StartedAt, i.Newest, i.Rows, rows, points))
	}
	return out
}

func TestRunsDependOnTheRowsAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		w := drawWorld(r)
		var first []string
		for trial := range 3 {
			rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0))
			f := start(t)
			for _, b := range w.requests(rnd) {
				id, again := f.id(), *b
				again.Sent, again.Done = slices.Clone(b.Sent), slices.Clone(b.Done)
				for k, batch := range []*sample.Batch{b, &again} {
					if got, err := f.Accept(f.ctx, id, []*sample.Batch{batch}); err != nil || got.Rejected > 0 ||
						got.Duplicate != (k > 0) && !batch.Empty() {
						r.Fatalf("Accept = %+v, %v", got, err)
					}
				}
			}
			f.pass(time.Hour) // what is live is a matter of arrival
			got := seen(f)
			before := f.list()
			f.open(f.log.(*memory.Log).Reopen())
			sameRuns(t, before, f.list())
			if first == nil && trial == 0 {
				first = got
			} else if diff := gocmp.Diff(first, got); diff != "" {
				r.Fatalf("another order or partition gives other runs:\n%s", diff)
			}
			var rows int64
			for _, i := range before {
				rows += i.Rows
				if f.get(i.ID).ID != i.ID {
					r.Fatalf("Resolve(%q) = %q", i.ID, f.get(i.ID).ID)
				}
			}
			if rows != int64(len(w.rows)) {
				r.Fatalf("runs have %d rows, want %d", rows, len(w.rows))
			}
		}
	})
}

func TestRevisionsOnlyGrow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		f := start(t)
		w := drawWorld(r)
		w.points = nil // points before any row may be about a run that dissolves
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0))
		last := map[string]uint64{}
		look := func() {
			for id, was := range last {
				info, err := f.Resolve(f.ctx, id)
				if err != nil || info.Revision < was {
					r.Fatalf("run %q went from revision %d to %d (%v)", id, was, info.Revision, err)
				}
				last[id] = info.Revision
			}
			for _, i := range f.list() {
				last[i.ID] = i.Revision
			}
		}
		for _, b := range w.requests(rnd) {
			f.send(b)
			look()
			switch rnd.IntN(6) {
			case 0:
				f.open(f.log.(*memory.Log).Reopen())
			case 1:
				f.pass(11 * time.Minute)
			case 2:
				for id := range last {
					if _, err := f.Mark(f.ctx, id, wire.Mark{Name: "m"}); err != nil {
						r.Fatal(err)
					}
				}
			case 3:
				for id := range last {
					if _, err := f.Finish(f.ctx, id); err != nil {
						r.Fatal(err)
					}
				}
			}
			look()
		}
		if _, err := f.Retain(f.ctx, time.Minute, 0); err != nil {
			r.Fatal(err)
		}
		look()
	})
}

func TestNamesOfSources(t *testing.T) {
	t.Parallel()
	f := start(t)
	for _, c := range []struct{ source, prefix string }{
		{"orders", "orders-2026"},
		{"k6/6f9619ff-8b86-d011-b42d-00c04fc964ff", "k6-"},
		{"K6", "k6-"},
		{"日本", "run-"},
		{"", "unknown-2026"},
		{strings.Repeat("x", 200), strings.Repeat("x", 31) + "-"},
	} {
		f.send(rowed("", c.source, at(0)))
		found, _, err := f.List(f.ctx, runs.Query{Q: c.prefix})
		if err != nil || !slices.ContainsFunc(found, func(i runs.Info) bool {
			return strings.HasPrefix(i.ID, c.prefix) && (i.Source == c.source || c.source == "")
		}) {
			t.Errorf("source %q: runs = %v, %v", c.source, ids(f.list()), err)
		}
	}
	if list := f.list(); len(list) != 6 {
		t.Errorf("runs = %v, want 6", ids(list))
	}
}
