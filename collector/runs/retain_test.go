package runs_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/journal/memory"
	"github.com/plimsoll/plimsoll/collector/runs"
)

func TestRetainByAge(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.send(rowed("old", "a", at(0)), rowed("", "src", at(0)), pointed("", "src", "svc", at(0)),
		pointed(sample.Telemetry, "db", "db", at(0)))
	source := f.get("latest:svc").ID
	for _, id := range []string{"old", source} {
		sum := runs.Summary{Revision: f.get(id).Revision, Outcome: "pass", Headline: "fine", Verdict: json.RawMessage(`1`)}
		if err := f.SaveSummary(f.ctx, id, sum); err != nil {
			t.Fatal(err)
		}
	}
	f.pass(24 * time.Hour)
	f.send(rowed("new", "a", at(24*time.Hour)), rowed("", "src", at(24*time.Hour)))
	before := f.get("old").Revision
	got, err := f.Retain(f.ctx, 23*time.Hour, 0)
	if err != nil || got != (runs.Retained{Runs: 2, Rows: 2, Telemetry: 1}) {
		t.Errorf("Retain = %+v, %v", got, err)
	}
	if again, err := f.Retain(f.ctx, 23*time.Hour, 0); err != nil || again != (runs.Retained{}) {
		t.Errorf("Retain again = %+v, %v", again, err)
	}
	for _, restarted := range []bool{false, true} {
		if restarted {
			f.open(f.log.(*memory.Log).Reopen())
		}
		for _, id := range []string{"old", source} {
			got := f.get(id)
			if got.ID != id || got.GoneAt == nil || got.Rows != 1 || got.Outcome != "pass" || got.State != wire.Finished ||
				got.StartedAt == nil || !got.StartedAt.Equal(noon) || got.Batches != 0 {
				t.Errorf("run = %+v, want its line without rows", got)
			}
			if v, err := f.Verdict(f.ctx, id); err != nil || string(v) != "1" {
				t.Errorf("Verdict(%q) = %s, %v", id, v, err)
			}
			if ev, err := f.Open(f.ctx, id); err != nil || len(ev.Entries()) != 0 {
				t.Errorf("Open(%q) = %v, %v", id, ev, err)
			}
		}
		if now := f.get("old").Revision; now <= before {
			t.Errorf("revision went from %d to %d", before, now)
		}
		if len(f.list()) != 4 {
			t.Errorf("runs = %v, want 4", ids(f.list()))
		}
	}
	if err := f.Delete(f.ctx, source); err != nil || len(f.list()) != 3 {
		t.Errorf("Delete of a run without rows: %v, runs %v", err, ids(f.list()))
	}
}

func TestRetainByBytes(t *testing.T) {
	t.Parallel()
	f := start(t)
	for i := range 10 {
		f.send(rowed(fmt.Sprint(i), "a", every(10*time.Millisecond, 0, 10*time.Second)...))
		if i < 8 {
			if _, err := f.Finish(f.ctx, fmt.Sprint(i)); err != nil {
				t.Fatal(err)
			}
		}
		f.pass(time.Second)
	}
	size := f.log.Size()
	got, err := f.Retain(f.ctx, 0, size/2)
	if err != nil || got.Runs < 4 || got.Runs > 6 {
		t.Errorf("Retain of half = %+v, %v", got, err)
	}
	for i := range 10 {
		if gone := f.get(fmt.Sprint(i)).GoneAt != nil; gone != (i < got.Runs) {
			t.Errorf("run %d: gone = %v, want the oldest %d gone", i, gone, got.Runs)
		}
	}
	if again, err := f.Retain(f.ctx, 0, size*6/10); err != nil || again.Runs != 0 {
		t.Errorf("Retain again = %+v, %v", again, err)
	}
	if got, err := f.Retain(f.ctx, time.Nanosecond, 1); err != nil || f.get("8").GoneAt != nil || f.get("9").GoneAt != nil {
		t.Errorf("a live run lost its rows: %+v, %v", got, err)
	}
}

func TestRetainMakesRoomForNewRuns(t *testing.T) {
	t.Parallel()
	cfg := config(0)
	cfg.MaxRuns = 10
	f := startWith(t, memory.New(), cfg)
	for i := range 10 {
		f.send(rowed(fmt.Sprint("r", i), "a", at(time.Duration(i)*time.Second)))
	}
	f.pass(time.Hour)
	got, err := f.Retain(f.ctx, time.Minute, 0)
	if err != nil || got.Runs != 10 || got.Forgotten != 1 {
		t.Errorf("Retain = %+v, %v", got, err)
	}
	if list := f.list(); len(list) != 9 || list[8].ID != "r1" {
		t.Errorf("runs = %v, want all but the oldest", ids(list))
	}
}

func TestLateRowsOfARunWithoutRows(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.send(rowed("r", "a", at(0)), rowed("", "src", at(0)))
	f.pass(time.Hour)
	if got, err := f.Retain(f.ctx, time.Minute, 0); err != nil || got.Runs != 2 {
		t.Fatalf("Retain = %+v, %v", got, err)
	}
	f.send(rowed("r", "a", at(time.Minute)), rowed("", "src", at(time.Minute)))
	list := f.list()
	if len(list) != 2 {
		t.Fatalf("runs = %v, want the same two", ids(list))
	}
	for _, i := range list {
		if i.GoneAt == nil || i.Rows != 2 || i.Batches != 1 || i.State != wire.Live {
			t.Errorf("run = %+v", i)
		}
	}
}
