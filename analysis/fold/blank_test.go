package fold_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// TestTooManyScenarios takes ids in the place of scenarios for what they are: all
// requests count, none by its scenario.
func TestTooManyScenarios(t *testing.T) {
	t.Parallel()
	many := func(n int, step bool) []*sample.Batch {
		var out []*sample.Batch
		for i := range int64(2000) {
			g := sample.Group{Source: "gen", Generator: "t", Model: sample.Open, Rate: 100, Scenario: fmt.Sprint("user-", int(i)%n)}
			if step {
				g.Scenario, g.Step = "orders", fmt.Sprint("iteration-", int(i)%n)
			}
			due := epoch + i*10e6
			r := sample.Row{Sent: due, Done: due + 20e6, Index: i / int64(n)}
			out = append(out, foldtest.Batches(g, []sample.Row{r}, 1)...)
		}
		rand.New(rand.NewPCG(1, 1)).Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		return out
	}
	for _, c := range []struct {
		n        int
		nameless bool
	}{{1000, false}, {1001, true}} {
		st := folded(t, &foldtest.Evidence{Batches: many(c.n, false)})
		if st.Nameless != c.nameless || st.Requests != 2000 || (len(st.Scenarios) == c.n) == c.nameless {
			t.Errorf("%d scenarios: nameless %t, %d requests, %d scenarios", c.n, st.Nameless, st.Requests, len(st.Scenarios))
		}
		if c.nameless && st.Grade != fold.GradeS {
			t.Errorf("an index without its scenario gives grade %s", st.Grade)
		}
	}
	ev := &foldtest.Evidence{Of: fold.Run{ID: "r", Finished: true}, Batches: many(1500, false)}
	_, err := fold.Build(t.Context(), ev, query.Options{Scenario: "user-1"})
	if e, ok := errors.AsType[*query.UnknownError](err); !ok || e.TooMany != 1000 {
		t.Errorf("one of too many scenarios: %v", err)
	}
	if st := folded(t, &foldtest.Evidence{Batches: many(1500, true)}); st.Nameless || len(st.Steps) != 1 || len(st.Scenarios) != 1 {
		t.Errorf("too many names of steps: %d steps, %d scenarios", len(st.Steps), len(st.Scenarios))
	}
}
