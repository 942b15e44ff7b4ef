package runs_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll/plimsoll/collector/journal/memory"
)

// TestPointsJoinTheRunOfTheirSource: some generators name the run on spans
// alone. Their metrics are no run of their own.
func TestPointsJoinTheRunOfTheirSource(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.send(rowed("t1", "Artillery-test", every(time.Second, -30*time.Minute, -29*time.Minute)...))
	f.send(pointed("", "Artillery-test", "Artillery-test", at(-29*time.Minute-30*time.Second), at(-29*time.Minute)))
	f.send(pointed("", "Artillery-test", "Artillery-test", at(-28*time.Minute-10*time.Second))) // at its end
	f.send(rowed("t2", "Artillery-test", every(time.Second, -28*time.Minute, -27*time.Minute)...))
	f.send(pointed("", "Artillery-test", "Artillery-test", at(-28*time.Minute+10*time.Second)))
	if diff := cmp.Diff([]string{"t2", "t1"}, ids(f.list())); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	for id, want := range map[string]int{"t1": 3, "t2": 1} {
		if _, points := f.evidence(id); len(points) != want {
			t.Errorf("%s has %d points, want %d", id, len(points), want)
		}
	}
	f.open(f.log.(*memory.Log).Reopen())
	f.send(pointed("", "Artillery-test", "Artillery-test", at(-27*time.Minute)))
	if _, points := f.evidence("t2"); len(points) != 2 {
		t.Errorf("after a restart t2 has %d points, want 2", len(points))
	}

	// Another source, another time, another run's own points stay apart.
	f.send(pointed("", "other", "other", at(-27*time.Minute)))
	f.send(pointed("", "Artillery-test", "Artillery-test", at(-10*time.Minute)))
	f.send(pointed("t3", "Artillery-test", "Artillery-test", at(-27*time.Minute)))
	if n := len(f.list()); n != 5 {
		t.Errorf("%d runs, want 5: %v", n, ids(f.list()))
	}
}
