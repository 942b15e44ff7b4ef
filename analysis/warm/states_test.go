package warm_test

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/verdict"
	"github.com/plimsoll/plimsoll/analysis/warm"
)

const start = int64(1_790_000_000_000_000_000)

// evidence is a run of two rates, the second past what one server of 10 ms carries.
func evidence() *foldtest.Evidence {
	var rows []sample.Row
	var free int64
	at := start
	for range 1500 {
		gap := int64(20e6)
		if at >= start+20e9 {
			gap = 8e6
		}
		free = max(free, at) + 10e6
		rows = append(rows, foldtest.Row(at, at, free))
		at += gap
	}
	return &foldtest.Evidence{
		Of:      fold.Run{ID: "r", Finished: true, Revision: 7},
		Batches: foldtest.Batches(sample.Group{Source: "gen", Scenario: "s", Model: sample.Open, Deadline: 2e9}, rows, 100),
	}
}

// counting counts the folds and takes a given time on the clock for each.
type counting struct {
	n    atomic.Int64
	took time.Duration
	now  atomic.Int64
}

func (c *counting) fold(ctx context.Context, ev fold.Evidence, opt query.Options) (*fold.State, error) {
	c.n.Add(1)
	c.now.Add(int64(c.took))
	return fold.Build(ctx, ev, opt)
}

func (c *counting) clock() time.Time { return time.Unix(0, c.now.Load()) }

// TestManyQuestionsOneFold asks everything at once, several times over: the run
// is read once, and the answers are those of a fold of one's own.
func TestManyQuestionsOneFold(t *testing.T) {
	t.Parallel()
	ev := evidence()
	var c counting
	states := warm.NewStates(c.fold, 1<<26, c.clock)
	defer states.Close()
	warmed, plain := verdict.Analysis{Fold: states.Of}, verdict.Analysis{}
	for _, q := range []struct {
		name string
		ask  func(a verdict.Analysis) (any, error)
	}{
		{"verdict", func(a verdict.Analysis) (any, error) { return a.Judge(t.Context(), ev, query.Options{}) }},
		{"objective", func(a verdict.Analysis) (any, error) {
			p, limit := 0.5, 0.1
			return a.Judge(t.Context(), ev, query.Options{Objectives: []wire.Objective{{Quantile: &p, MaxS: &limit}}})
		}},
		{"series", func(a verdict.Analysis) (any, error) { return a.Series(t.Context(), ev, query.Options{MaxPoints: 7}) }},
		{"heatmap", func(a verdict.Analysis) (any, error) {
			return a.Heatmap(t.Context(), ev, query.Options{MaxPoints: 5})
		}},
		{"spectrum", func(a verdict.Analysis) (any, error) { return a.Spectrum(t.Context(), ev, query.Options{}) }},
		{"goodput", func(a verdict.Analysis) (any, error) { return a.Goodput(t.Context(), ev, query.Options{}) }},
	} {
		want := ask(t, q.ask, plain)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if got := ask(t, q.ask, warmed); got != want {
					t.Errorf("%s of a warm state differs:\n%s\nwant\n%s", q.name, got, want)
				}
			})
		}
		wg.Wait()
	}
	if n := c.n.Load(); n != 1 {
		t.Errorf("the run was folded %d times, want once", n)
	}
	if states.Used() < 10_000 {
		t.Errorf("the state counts as %d bytes", states.Used())
	}
	deadline := 0.5
	if _, err := warmed.Judge(t.Context(), ev, query.Options{DeadlineS: &deadline}); err != nil || c.n.Load() != 2 {
		t.Errorf("another deadline: %v, %d folds; want 2", err, c.n.Load())
	}
	states.Forget("r")
	if _, err := warmed.Judge(t.Context(), ev, query.Options{}); err != nil || c.n.Load() != 3 || states.Used() == 0 {
		t.Errorf("after Forget: %v, %d folds; want 3", err, c.n.Load())
	}
}

func ask(t *testing.T, fn func(verdict.Analysis) (any, error), a verdict.Analysis) string {
	t.Helper()
	got, err := fn(a)
	if err != nil {
		t.Error(err)
	}
	text, err := json.Marshal(got)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// TestSlowLooksAreKept looks at a run that goes on: a look that took two seconds
// stands for twenty, a quick one is taken anew for each revision, and a run that
// is finished is always judged as it is.
func TestSlowLooksAreKept(t *testing.T) {
	t.Parallel()
	ev := evidence()
	ev.Of.Finished = false
	c := counting{took: 2 * time.Second}
	states := warm.NewStates(c.fold, 1<<26, c.clock)
	defer states.Close()
	look := func(wantRevision uint64, wantFolds int64) {
		t.Helper()
		st, err := states.Of(t.Context(), ev, query.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if st.Run.Revision != wantRevision || c.n.Load() != wantFolds {
			t.Errorf("revision %d after %d folds, want %d after %d", st.Run.Revision, c.n.Load(), wantRevision, wantFolds)
		}
	}
	look(7, 1)
	ev.Of.Revision = 8
	look(7, 1)
	c.now.Add(int64(21 * time.Second))
	look(8, 2)
	ev.Of.Revision = 9
	look(8, 2)
	ev.Of.Finished = true
	look(9, 3)
	c.took = 0
	one := states.Used()
	ev.Of.Finished, ev.Of.Revision = false, 10
	c.now.Add(int64(time.Minute))
	look(10, 4)
	ev.Of.Revision = 11
	look(11, 5)
	if states.Used() > one+one/10 {
		t.Errorf("%d bytes are held of a run that was looked at anew, %d of one look", states.Used(), one)
	}
}
