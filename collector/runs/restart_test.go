package runs_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/journal"
	"github.com/plimsoll/plimsoll/collector/journal/memory"
	"github.com/plimsoll/plimsoll/collector/journal/pebble"
	"github.com/plimsoll/plimsoll/collector/runs"
)

// engines are the logs that a catalogue must come back from, each with the way
// to open it again.
func engines(t *testing.T) map[string]func() journal.Log {
	t.Helper()
	inMemory, dir := memory.New(), t.TempDir()
	var onDisk *pebble.Log
	t.Cleanup(func() {
		if err := errors.Join(onDisk.Close(), inMemory.Close()); err != nil {
			t.Error(err)
		}
	})
	return map[string]func() journal.Log{
		"memory": func() journal.Log { inMemory = inMemory.Reopen(); return inMemory },
		"pebble": func() journal.Log {
			if onDisk != nil {
				if err := onDisk.Close(); err != nil {
					t.Fatal(err)
				}
			}
			var err error
			if onDisk, err = pebble.Open(dir, pebble.Options{MinFree: -1}); err != nil {
				t.Fatal(err)
			}
			return onDisk
		},
	}
}

// populate makes a little of everything.
func populate(t *testing.T, f *fixture) {
	t.Helper()
	b := rowed("named", "a", every(time.Second, -time.Minute, 0)...)
	b.RunName = "Named"
	f.send(b, rowed("other", "a", at(0)), pointed("other", "a", "svc", at(0)))
	f.set(noon.Add(-time.Hour))
	f.send(rowed("", "src-1", at(-3*time.Hour), at(-time.Hour)))
	f.set(noon)
	f.send(pointed("", "src-1", "svc", every(time.Minute, -2*time.Hour, 0)...))
	f.send(rowed("", "src-1", at(-time.Minute)), rowed("", "src/2", at(0)))
	f.send(pointed("", "counter", "counts", at(0)), pointed(sample.Telemetry, "db", "db", at(0), at(-5*time.Hour)))
	f.send(rowed("deleted", "a", at(0)))
	f.send(rowed("finished", "a", at(0)))
	long := rowed("long", "a")
	long.Append(sample.Row{Sent: at(-20 * time.Minute), Done: at(0)})
	f.send(long)
	source := f.get("latest:counts").ID
	deadline := 2.0
	_, _, err1 := f.Declare(f.ctx, wire.Declaration{ID: "declared", Name: "d", DeadlineS: &deadline})
	_, _, err2 := f.Declare(f.ctx, wire.Declaration{ID: source, Name: "counted"})
	_, err3 := f.Mark(f.ctx, source, wire.Mark{Name: "m"})
	_, err4 := f.Finish(f.ctx, "finished")
	err5 := f.Delete(f.ctx, "deleted")
	err6 := f.SaveSummary(f.ctx, "named", runs.Summary{
		Revision: f.get("named").Revision, Outcome: "pass", Verdict: json.RawMessage(`{}`),
	})
	if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
		t.Fatal(err)
	}
}

func TestTheIndexIsWhatItWasAfterARestart(t *testing.T) {
	t.Parallel()
	for name, reopen := range engines(t) {
		t.Run(name, func(t *testing.T) {
			f := startWith(t, reopen(), config(24*time.Hour))
			populate(t, f)
			f.pass(9 * time.Minute) // some are finished by silence, some are live
			before, stats := f.list(), f.Stats()
			if len(before) != 10 {
				t.Fatalf("runs = %v, want 10", ids(before))
			}
			contents := seen(f)
			for range 2 {
				f.open(reopen())
				sameRuns(t, before, f.list())
				if diff := gocmp.Diff(contents, seen(f)); diff != "" {
					t.Errorf("evidence differs (-want +got):\n%s", diff)
				}
				got := f.Stats()
				got.Bytes = stats.Bytes
				if got != stats {
					t.Errorf("stats = %+v, want %+v", got, stats)
				}
			}
		})
	}
}

func TestRetentionOnDisk(t *testing.T) {
	t.Parallel()
	for name, reopen := range engines(t) {
		t.Run(name, func(t *testing.T) {
			f := startWith(t, reopen(), config(24*time.Hour))
			populate(t, f)
			f.pass(30 * time.Hour)
			got, err := f.Retain(f.ctx, time.Hour, 0)
			if err != nil || got.Runs != 9 || got.Telemetry == 0 {
				t.Errorf("Retain = %+v, %v", got, err)
			}
			before := f.list()
			f.open(reopen())
			sameRuns(t, before, f.list())
			if left := f.Stats(); left.Batches != 0 {
				t.Errorf("stats = %+v, want no batches", left)
			}
		})
	}
}
