package runs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/journal"
	"github.com/plimsoll/plimsoll/collector/journal/memory"
	"github.com/plimsoll/plimsoll/collector/runs"
)

func TestAcceptKeepsWhatItAcknowledges(t *testing.T) {
	t.Parallel()
	f := start(t)
	b := rowed("orders-42", "host-1", every(time.Second, -time.Minute, 0)...)
	b.RunName = "orders"
	b.Series, b.Points = []sample.Series{{Source: "host-1", Service: "k6", Name: "m"}}, []sample.Point{{Time: at(0), Value: 1}}
	f.send(b)

	got := f.get("orders-42")
	if got.Name != "orders" || got.Generator != "gen" || got.State != wire.Live || got.Rows != 61 || got.Batches != 2 {
		t.Errorf("run = %+v", got)
	}
	if !got.StartedAt.Equal(noon.Add(-time.Minute)) || got.EndedAt != nil || !got.Newest.Equal(noon.Add(100*time.Millisecond)) {
		t.Errorf("times = %v, %v, %v", got.StartedAt, got.EndedAt, got.Newest)
	}
	rows, points := f.evidence("orders-42")
	if len(rows) != 61 || len(points) != 1 {
		t.Errorf("evidence has %d rows and %d points, want 61 and 1", len(rows), len(points))
	}
}

func TestAcceptKnowsDuplicates(t *testing.T) {
	t.Parallel()
	f := start(t)
	id := f.id()
	for i := range 3 {
		got, err := f.Accept(f.ctx, id, []*sample.Batch{rowed("r", "a", at(0))})
		if err != nil || got.Duplicate != (i > 0) {
			t.Fatalf("Accept %d = %+v, %v", i, got, err)
		}
	}
	if got := f.get("r"); got.Rows != 1 || got.Batches != 1 {
		t.Errorf("run has %d rows in %d batches, want 1 in 1", got.Rows, got.Batches)
	}
}

func TestAgeRules(t *testing.T) {
	t.Parallel()
	start25h := noon.Add(-25 * time.Hour)
	steps := []wire.DeclareStep{{RatePerS: 1, DurationS: 60}}
	for _, c := range []struct {
		name     string
		maxAge   time.Duration
		declared *wire.Declaration
		row      sample.Row
		refused  string
	}{
		{name: "now", maxAge: hour24, row: sample.Row{Sent: at(0), Done: at(1)}},
		{name: "old", maxAge: hour24, row: sample.Row{Sent: at(-25 * time.Hour), Done: at(-25*time.Hour + 1)}, refused: "older than 24h"},
		{name: "old without a limit", row: sample.Row{Sent: at(-9000 * time.Hour), Done: at(-9000 * time.Hour)}},
		{name: "due long ago", maxAge: hour24, row: sample.Row{Intended: 1, Sent: at(0), Done: at(1)}, refused: "older"},
		{name: "a little ahead", maxAge: hour24, row: sample.Row{Sent: at(0), Done: at(5 * time.Minute)}},
		{name: "ahead", maxAge: hour24, row: sample.Row{Sent: at(0), Done: at(5*time.Minute + 1)}, refused: "ahead of this clock"},
		{name: "ahead without a limit", row: sample.Row{Sent: at(0), Done: at(time.Hour)}, refused: "ahead of this clock"},
		{name: "due ahead", maxAge: hour24, row: sample.Row{Intended: at(time.Hour), Sent: at(0), Done: at(1)}, refused: "ahead"},
		{name: "ends before it begins", maxAge: hour24, row: sample.Row{Sent: at(0), Done: at(-1)}, refused: "clock_step"},
		{name: "no time", row: sample.Row{}, refused: "without a plausible time"},
		{name: "far out", row: sample.Row{Sent: at(0), Done: 1<<63 - 1}, refused: "without a plausible time"},
		{
			name: "old but declared", maxAge: hour24, declared: &wire.Declaration{ID: "r", Start: &start25h, Steps: steps},
			row: sample.Row{Sent: at(-25 * time.Hour), Done: at(-25*time.Hour + 1)},
		},
		{
			name: "before the declared start", maxAge: hour24, declared: &wire.Declaration{ID: "r", Start: &start25h, Steps: steps},
			row: sample.Row{Sent: at(-26 * time.Hour), Done: at(-26*time.Hour + 1)}, refused: "older",
		},
		{
			name: "old, declared without a start", maxAge: hour24, declared: &wire.Declaration{ID: "r", Steps: steps},
			row: sample.Row{Sent: at(-90 * time.Hour), Done: at(-90*time.Hour + 1)},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := startWith(t, memory.New(), config(c.maxAge))
			if c.declared != nil {
				if _, _, err := f.Declare(f.ctx, *c.declared); err != nil {
					t.Fatal(err)
				}
			}
			b := rowed("r", "a", at(-time.Second))
			b.Append(c.row)
			b.Append(rowed("r", "a", at(-2*time.Second)).Row(0))
			got, err := f.Accept(f.ctx, f.id(), []*sample.Batch{b})
			if err != nil {
				t.Fatal(err)
			}
			refused := int64(0)
			if c.refused != "" {
				refused = 1
			}
			if got.Rejected != refused || !strings.Contains(got.Message, c.refused) || got.Message != "" && c.refused == "" {
				t.Errorf("receipt = %+v, want %d refused with %q", got, refused, c.refused)
			}
			if rows := f.get("r").Rows; rows != 3-refused {
				t.Errorf("kept %d rows, want %d", rows, 3-refused)
			}
			var counted int64
			for _, n := range f.Refused() {
				counted += n
			}
			if counted != refused {
				t.Errorf("Refused = %v, want %d in all", f.Refused(), refused)
			}
		})
	}
}

const hour24 = 24 * time.Hour

func TestPointsHaveAnAgeToo(t *testing.T) {
	t.Parallel()
	f := start(t)
	got, err := f.Accept(f.ctx, f.id(), []*sample.Batch{
		pointed("r", "a", "svc", at(-48*time.Hour), at(0), at(time.Hour)),
		pointed(sample.Telemetry, "db", "db", at(-48*time.Hour), at(0)),
	})
	if err != nil || got.Rejected != 3 {
		t.Errorf("receipt = %+v, %v; want 3 refused", got, err)
	}
	if _, points := f.evidence("r"); len(points) != 1 {
		t.Errorf("kept %d points, want 1", len(points))
	}
}

func TestImportHasNoAgeRules(t *testing.T) {
	t.Parallel()
	f := start(t)
	got, err := f.Import(f.ctx, f.id(), []*sample.Batch{rowed("r", "a", at(-9000*time.Hour))})
	if err != nil || got.Rejected != 0 {
		t.Fatalf("receipt = %+v, %v", got, err)
	}
	if got := f.get("r"); got.Rows != 1 || got.State != wire.Live {
		t.Errorf("run = %+v", got)
	}
}

func TestNothingIsCreatedFromNothing(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.send()
	f.send(&sample.Batch{RunID: "r"}, &sample.Batch{Groups: []sample.Group{{Source: "a"}}})
	got, err := f.Accept(f.ctx, f.id(), []*sample.Batch{rowed("r", "a", at(-48*time.Hour))})
	if err != nil || got.Rejected != 1 {
		t.Fatalf("receipt = %+v, %v", got, err)
	}
	if list := f.list(); len(list) != 0 {
		t.Errorf("runs = %v, want none", ids(list))
	}
}

func TestHostileIDs(t *testing.T) {
	t.Parallel()
	f := start(t)
	for _, id := range []string{
		" ", "a\x00b", "a\nb", "a\x1b[31mb", "a\u202eb", "a\u200bb", "\xff", strings.Repeat("x", 257),
		"latest", "latest:a", ".", "..",
	} {
		got, err := f.Accept(f.ctx, f.id(), []*sample.Batch{rowed(id, "a", at(0)), rowed("good", "a", at(0))})
		if err != nil || got.Rejected != 1 || !strings.Contains(got.Message, "run id") {
			t.Errorf("Accept with id %q = %+v, %v; want 1 refused", id, got, err)
		}
		if _, _, err := f.Declare(f.ctx, wire.Declaration{ID: id}); !invalid(err) {
			t.Errorf("Declare with id %q: %v, want InvalidError", id, err)
		}
	}
	stray := rowed(sample.Telemetry, "a", at(0))
	if got, err := f.Accept(f.ctx, f.id(), []*sample.Batch{stray}); err != nil || got.Rejected != 1 {
		t.Errorf("Accept of telemetry with rows = %+v, %v; want 1 refused", got, err)
	}
	odd := "ünïcode / with? 100% &#; <b>"
	f.send(rowed(odd, "a", at(0)))
	if got := f.get(odd); got.ID != odd || got.Rows != 1 {
		t.Errorf("run = %+v", got)
	}
	if list := f.list(); len(list) != 2 {
		t.Errorf("runs = %q, want 2", ids(list))
	}
}

func invalid(err error) bool {
	_, ok := errors.AsType[*runs.InvalidError](err)
	return ok
}

func TestHostileNamesAndSources(t *testing.T) {
	t.Parallel()
	f := start(t)
	long := strings.Repeat("é", 5000)
	b := rowed("", "\x00"+long, at(0))
	b.RunName = "evil\x1b[2J" + long
	f.send(b, rowed("", "\x00"+long+"x", at(0)))
	list := f.list()
	if len(list) != 2 || list[0].ID == list[1].ID {
		t.Fatalf("runs = %q, want two", ids(list))
	}
	for _, i := range list {
		if len(i.ID) > 70 || len(i.Name) > 256 || strings.ContainsAny(i.Name+i.ID+i.Source, "\x00\x1b") {
			t.Errorf("run = %q %q", i.ID, i.Name)
		}
		if got := f.get(i.ID); got.ID != i.ID {
			t.Errorf("Resolve(%q) = %q", i.ID, got.ID)
		}
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	cfg := config(0)
	cfg.MaxRuns, cfg.MaxSources, cfg.MaxMarks = 3, 1, 2
	f := startWith(t, memory.New(), cfg)
	refuse := func(what string, b *sample.Batch) {
		t.Helper()
		got, err := f.Accept(f.ctx, f.id(), []*sample.Batch{b})
		if err != nil || got.Rejected != 1 || !strings.Contains(got.Message, what) {
			t.Errorf("receipt = %+v, %v; want 1 refused: %s", got, err, what)
		}
	}
	f.send(rowed("", "one", at(0)))
	refuse("from a source beyond", rowed("", "two", at(0)))
	f.send(rowed("a", "s", at(0)), rowed("b", "s", at(0)))
	refuse("begin a run beyond", rowed("c", "s", at(0)))
	refuse("begin a run beyond", rowed("", "one", at(-time.Hour)))
	f.send(rowed("a", "s", at(1)), rowed("", "one", at(-time.Minute)))
	if _, _, err := f.Declare(f.ctx, wire.Declaration{ID: "c"}); !errors.Is(err, runs.ErrTooMany) {
		t.Errorf("Declare: %v, want ErrTooMany", err)
	}
	for i, want := range []error{nil, nil, runs.ErrTooMany} {
		if _, err := f.Mark(f.ctx, "a", wire.Mark{At: noon, Name: fmt.Sprint(i)}); !errors.Is(err, want) {
			t.Errorf("Mark %d: %v, want %v", i, err, want)
		}
	}
	if err := f.Delete(f.ctx, "b"); err != nil {
		t.Fatal(err)
	}
	f.send(rowed("c", "s", at(0)))
}

// failing is a log whose appends or documents fail on demand.
type failing struct {
	journal.Log
	appends, puts error
	durable       bool // an append that fails is durable all the same
}

func (l *failing) Append(ctx context.Context, id journal.ID, records []journal.Record) (bool, error) {
	if l.appends != nil {
		if l.durable {
			if _, err := l.Log.Append(ctx, id, records); err != nil {
				return false, err
			}
		}
		return false, l.appends
	}
	return l.Log.Append(ctx, id, records)
}

func (l *failing) Put(ctx context.Context, key string, value []byte) error {
	if l.puts != nil {
		return l.puts
	}
	return l.Log.Put(ctx, key, value)
}

func TestSeveralRunsAreKeptWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	log := &failing{Log: memory.New()}
	f := startWith(t, log, config(0))
	request := func() []*sample.Batch {
		return []*sample.Batch{
			rowed("a", "x", at(0)), rowed("b", "x", at(0)), rowed("", "src", at(0)),
			pointed(sample.Telemetry, "db", "db", at(0)),
		}
	}
	id := f.id()
	for _, set := range []func(error){
		func(err error) { log.appends = err },
		func(err error) { log.puts = err },
	} {
		set(journal.ErrFull)
		if _, err := f.Accept(f.ctx, id, request()); !errors.Is(err, journal.ErrFull) {
			t.Fatalf("Accept: %v, want ErrFull", err)
		}
		if list := f.list(); len(list) != 0 || f.Stats() != (runs.Stats{Bytes: f.log.Size()}) {
			t.Errorf("runs = %v, stats %+v; want none", ids(list), f.Stats())
		}
		set(nil)
	}
	f.open(log)
	if list := f.list(); len(list) != 0 {
		t.Errorf("runs after restart = %v, want none", ids(list))
	}
	if _, err := f.Accept(f.ctx, id, request()); err != nil {
		t.Fatal(err)
	}
	if list := f.list(); len(list) != 3 {
		t.Errorf("runs = %v, want 3", ids(list))
	}
}

func TestAnAppendThatFailsMayBeDurable(t *testing.T) {
	t.Parallel()
	log := &failing{Log: memory.New(), durable: true}
	f := startWith(t, log, config(0))
	f.send(rowed("b", "x", at(0)))
	id := f.id()
	request := []*sample.Batch{rowed("a", "x", at(1)), rowed("b", "x", at(1))}
	log.appends = context.DeadlineExceeded
	if _, err := f.Accept(f.ctx, id, request); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Accept: %v", err)
	}
	log.appends = nil
	if got, err := f.Accept(f.ctx, id, request); err != nil || !got.Duplicate {
		t.Fatalf("Accept again = %+v, %v; want a duplicate", got, err)
	}
	f.send(rowed("b", "x", at(2)))
	for run, want := range map[string]int64{"a": 1, "b": 3} {
		rows, _ := f.evidence(run)
		if got := f.get(run); got.Rows != want || int64(len(rows)) != want {
			t.Errorf("run %q has %d rows and gives %d, want %d", run, got.Rows, len(rows), want)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	f := start(t)
	const workers, requests = 8, 30
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range requests {
				sent := at(-time.Duration(i*workers+w) * time.Second)
				f.send(rowed("shared", "a", sent), rowed("", fmt.Sprint("src", w%3), sent),
					rowed(fmt.Sprint("own", w), "a", sent), pointed(sample.Telemetry, "db", "db", sent))
			}
		})
		wg.Go(func() {
			for range requests {
				f.list()
				if _, err := f.Resolve(f.ctx, "latest:shared"); err != nil && !errors.Is(err, runs.ErrNotFound) {
					t.Error(err)
				}
				ev, err := f.Open(f.ctx, "shared")
				if errors.Is(err, runs.ErrNotFound) {
					continue
				}
				if err != nil {
					t.Error(err)
					continue
				}
				seen, at := 0, make([]int, len(ev.Entries()))
				for k := range at {
					at[k] = k
				}
				if err := ev.Read(f.ctx, at, func(_ int, b *sample.Batch) error { seen += b.Len(); return nil }); err != nil {
					t.Error(err)
				}
				if n := int(ev.Run().Revision / 2); seen != len(at) || n < seen {
					t.Errorf("snapshot of revision %d has %d rows in %d entries", ev.Run().Revision, seen, len(at))
				}
			}
		})
		wg.Go(func() {
			id := fmt.Sprint("own", w)
			for i := range requests {
				_, _, err1 := f.Declare(f.ctx, wire.Declaration{ID: id, Name: id})
				_, err2 := f.Mark(f.ctx, id, wire.Mark{At: noon, Name: fmt.Sprint(i)})
				_, err3 := f.Finish(f.ctx, id)
				if err := errors.Join(err1, err2, err3); err != nil {
					t.Error(err)
				}
			}
			_, err := f.Retain(f.ctx, time.Hour, 1<<40)
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := f.get("shared"); got.Rows != workers*requests || got.Batches != workers*requests {
		t.Errorf("shared run has %d rows in %d batches, want %d", got.Rows, got.Batches, workers*requests)
	}
	before := f.list()
	f.open(f.log.(*memory.Log).Reopen())
	sameRuns(t, before, f.list())
}

func BenchmarkAccept(b *testing.B) {
	f := start(b)
	batch := rowed("r", "a", every(time.Millisecond, -time.Second, 0)...)
	batches := []*sample.Batch{batch}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Accept(f.ctx, f.id(), batches); err != nil {
			b.Fatal(err)
		}
	}
}
