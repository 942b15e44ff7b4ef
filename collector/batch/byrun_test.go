package batch_test

import (
	"fmt"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/batch"
)

// TestByRun sorts by run, and by source what names none; it keeps nothing of the
// request before.
func TestByRun(t *testing.T) {
	t.Parallel()
	r := batch.NewByRun()
	for range 2 {
		r.Reset()
		for i, to := range [][2]string{{"a", ""}, {"b", ""}, {"a", ""}, {"", "s"}, {"", "t"}, {"", "s"}} {
			at, ok := r.To(to[0], "name", to[1])
			if !ok {
				t.Fatal("no room")
			}
			g, ok := r.At(at).AddGroup(&sample.Group{Source: to[1]})
			if !ok || g != 0 {
				t.Fatalf("group %d", g)
			}
			r.At(at).Append(sample.Row{Sent: 1, Done: int64(i) + 2, Index: sample.NoIndex})
			r.At(at).AddPoint(&sample.Series{Name: "x"}, sample.Point{Time: int64(i) + 1})
		}
		got := ""
		for _, b := range r.Batches() {
			got += fmt.Sprintf("%s/%d/%d/%d ", b.RunID, b.Len(), len(b.Points), len(b.Series))
		}
		if got != "a/2/2/1 b/1/1/1 /2/2/1 /1/1/1 " {
			t.Fatal(got)
		}
	}
	for i := range batch.MostRuns + 1 {
		if _, ok := r.To(fmt.Sprint("run", i), "", ""); ok != (i < batch.MostRuns-4) {
			t.Fatalf("run %d: %v", i, ok)
		}
	}
}
