package runs_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/journal/memory"
	"github.com/plimsoll/plimsoll/collector/runs"
)

// state wants a run to be in a state, with a revision that is not lower than
// before, and returns it.
func (f *fixture) state(ref, want string, before uint64) uint64 {
	f.t.Helper()
	got := f.get(ref)
	if got.State != want || (got.EndedAt != nil) != (want == wire.Finished) {
		f.t.Errorf("at %v: run is %s, ended %v; want %s", f.now().UTC(), got.State, got.EndedAt, want)
	}
	if got.Revision <= before {
		f.t.Errorf("at %v: revision %d does not grow past %d", f.now().UTC(), got.Revision, before)
	}
	return got.Revision
}

func TestSilenceFinishesARunAndLateDataReopenIt(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.send(rowed("r", "a", at(-time.Second)))
	rev := f.state("r", wire.Live, 0)
	if quiet := f.get("r").QuietAt; !quiet.Equal(noon.Add(10 * time.Minute)) {
		t.Errorf("quiet at %v", quiet)
	}
	f.pass(10*time.Minute - 1)
	f.state("r", wire.Live, rev-1)
	f.pass(1)
	rev = f.state("r", wire.Finished, rev)
	f.send(rowed("r", "a", at(0)))
	rev = f.state("r", wire.Live, rev)
	f.pass(time.Hour)
	rev = f.state("r", wire.Finished, rev)
	f.open(f.log.(*memory.Log).Reopen())
	f.state("r", wire.Finished, rev-1)
}

func TestLongRequestsLengthenTheSilence(t *testing.T) {
	t.Parallel()
	f := start(t)
	b := rowed("r", "a")
	b.Append(sample.Row{Sent: at(-10 * time.Minute), Done: at(0)})
	f.send(b)
	f.pass(29 * time.Minute)
	rev := f.state("r", wire.Live, 0)
	f.open(f.log.(*memory.Log).Reopen())
	f.state("r", wire.Live, rev-1)
	f.pass(2 * time.Minute)
	f.state("r", wire.Finished, rev)
}

func TestTheDeclaredEndLengthensTheSilence(t *testing.T) {
	t.Parallel()
	f := start(t)
	timeout := 60.0
	_, created, err := f.Declare(f.ctx, wire.Declaration{
		ID: "r", TimeoutS: &timeout, Steps: []wire.DeclareStep{{RatePerS: 1, DurationS: 3000, PauseS: 540}},
	})
	if err != nil || !created {
		t.Fatal(created, err)
	}
	rev := f.state("r", wire.Live, 0)
	f.send(rowed("r", "a", at(0)))
	rev = f.state("r", wire.Live, rev)
	f.pass(time.Hour - 1)
	f.state("r", wire.Live, rev-1)
	f.pass(1)
	f.state("r", wire.Finished, rev)
}

func TestFinish(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.send(rowed("r", "a", at(0)), pointed("r", "a", "svc", at(0)))
	rev := f.state("r", wire.Live, 0)
	for range 2 {
		if got, err := f.Finish(f.ctx, "r"); err != nil || got.State != wire.Finished {
			t.Fatalf("Finish = %+v, %v", got, err)
		}
	}
	rev = f.state("r", wire.Finished, rev)
	f.open(f.log.(*memory.Log).Reopen())
	f.state("r", wire.Finished, rev-1)
	f.send(pointed("r", "a", "svc", at(time.Second))) // a last export of the generator
	rev = f.state("r", wire.Finished, rev)
	f.send(rowed("r", "a", at(time.Second)))
	rev = f.state("r", wire.Live, rev)
	if _, err := f.Finish(f.ctx, "r"); err != nil {
		t.Fatal(err)
	}
	f.state("r", wire.Finished, rev)

	f.send(pointed("counts", "a", "svc", at(0)))
	if _, err := f.Finish(f.ctx, "counts"); err != nil {
		t.Fatal(err)
	}
	rev = f.state("counts", wire.Finished, 0)
	f.send(pointed("counts", "a", "svc", at(time.Second)))
	f.state("counts", wire.Live, rev)
}

func TestAnotherRunOfTheSourceDoesNotReopenAFinishedOne(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.send(rowed("", "orders", at(0)))
	first := f.get("latest").ID
	if _, err := f.Finish(f.ctx, first); err != nil {
		t.Fatal(err)
	}
	rev := f.state(first, wire.Finished, 0)
	f.pass(11 * time.Minute)
	f.send(rowed("", "orders", at(11*time.Minute)))
	if got := f.get(first); got.State != wire.Finished || got.Revision != rev || f.get("latest").ID == first {
		t.Errorf("first run = %+v, want it as it was at revision %d", got, rev)
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.send(rowed("r", "a", at(0)))
	rev := f.state("r", wire.Live, 0)
	for _, m := range []wire.Mark{{Name: "now"}, {At: noon.Add(-time.Minute), Name: "deploy"}, {Name: "now"}} {
		if _, err := f.Mark(f.ctx, "r", m); err != nil {
			t.Fatal(err)
		}
	}
	f.state("r", wire.Live, rev)
	for _, m := range []wire.Mark{{}, {Name: "a\nb"}, {Name: strings.Repeat("x", 300)}, {At: noon.AddDate(900, 0, 0), Name: "x"}} {
		if _, err := f.Mark(f.ctx, "r", m); !invalid(err) {
			t.Errorf("Mark(%v): %v, want InvalidError", m, err)
		}
	}
	f.open(f.log.(*memory.Log).Reopen())
	got := f.get("r").Marks
	if len(got) != 2 || got[0].Name != "deploy" || got[1].Name != "now" || !got[1].At.Equal(noon) {
		t.Errorf("marks = %v", got)
	}
	if _, err := f.Mark(f.ctx, "other", wire.Mark{Name: "x"}); !errors.Is(err, runs.ErrNotFound) {
		t.Errorf("Mark of no run: %v", err)
	}
}

func TestDeleteAndUseAgain(t *testing.T) {
	t.Parallel()
	f := start(t)
	id := f.id()
	if _, err := f.Accept(f.ctx, id, []*sample.Batch{rowed("r", "a", at(0))}); err != nil {
		t.Fatal(err)
	}
	ev, err := f.Open(f.ctx, "r")
	if err != nil {
		t.Fatal(err)
	}
	_, _, err1 := f.Declare(f.ctx, wire.Declaration{ID: "r", Name: "old"})
	_, err2 := f.Mark(f.ctx, "r", wire.Mark{Name: "m"})
	err3 := f.SaveSummary(f.ctx, "r", runs.Summary{Revision: 8, Outcome: "pass", Verdict: json.RawMessage(`{}`)})
	if err := errors.Join(err1, err2, err3, f.Delete(f.ctx, "r")); err != nil {
		t.Fatal(err)
	}
	if err := ev.Read(f.ctx, []int{0}, func(int, *sample.Batch) error { return nil }); !errors.Is(err, runs.ErrRemoved) {
		t.Errorf("Read of a deleted run: %v, want ErrRemoved", err)
	}
	for _, restarted := range []bool{false, true} {
		if restarted {
			f.open(f.log.(*memory.Log).Reopen())
		}
		if _, err := f.Resolve(f.ctx, "r"); !errors.Is(err, runs.ErrNotFound) {
			t.Errorf("Resolve after Delete: %v", err)
		}
		if err := f.Delete(f.ctx, "r"); !errors.Is(err, runs.ErrNotFound) {
			t.Errorf("Delete after Delete: %v", err)
		}
		if list := f.list(); len(list) != 0 {
			t.Errorf("runs = %v", ids(list))
		}
		f.noDocuments("r")
	}
	if got, err := f.Accept(f.ctx, id, []*sample.Batch{rowed("r", "a", at(0))}); err != nil || got.Duplicate {
		t.Fatalf("Accept after Delete = %+v, %v", got, err)
	}
	got := f.get("r")
	if got.Name != "r" || got.Declaration != nil || got.Marks != nil || got.Outcome != "" || got.Rows != 1 {
		t.Errorf("run = %+v, want a new one", got)
	}
	if _, err := f.Verdict(f.ctx, "r"); !errors.Is(err, runs.ErrNotFound) {
		t.Errorf("Verdict of the new run: %v", err)
	}
}

// noDocuments wants no document of the run to be left in the journal.
func (f *fixture) noDocuments(id string) {
	f.t.Helper()
	if err := f.log.Documents(f.ctx, "", func(key string, _ []byte) error {
		if strings.Contains(key, id) {
			f.t.Errorf("document %q is left", key)
		}
		return nil
	}); err != nil {
		f.t.Fatal(err)
	}
}

func TestANewRunOutgrowsTheDeletedOne(t *testing.T) {
	t.Parallel()
	for _, run := range []string{"r", ""} {
		f := start(t)
		for i := range 5 {
			f.send(rowed(run, "a", at(-time.Duration(i)*time.Second)), rowed(run, "a", at(-9*time.Hour)))
		}
		old := f.get("latest")
		if err := f.Delete(f.ctx, old.ID); err != nil {
			t.Fatal(err)
		}
		f.send(rowed(run, "a", at(0)))
		if got := f.get("latest"); got.Rows > 1 || got.Revision <= old.Revision {
			t.Errorf("run %q has revision %d, want more than the %d of the deleted one", run, got.Revision, old.Revision)
		}
	}
}

func TestSummaries(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.send(rowed("r", "a", at(0)))
	rev := f.get("r").Revision
	save := func(s runs.Summary) {
		t.Helper()
		if err := f.SaveSummary(f.ctx, "r", s); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Verdict(f.ctx, "r"); !errors.Is(err, runs.ErrNotFound) {
		t.Errorf("Verdict before any: %v", err)
	}
	save(runs.Summary{Revision: rev, Outcome: "pass", Headline: "fine", Grade: "A", Verdict: json.RawMessage(`{"a":1}`)})
	save(runs.Summary{Revision: rev - 1, Outcome: "fail", Headline: "late answer"})
	f.open(f.log.(*memory.Log).Reopen())
	got := f.get("r")
	if got.Outcome != "pass" || got.Headline != "fine" || got.Grade != "A" || got.Judged != rev || got.Revision != rev {
		t.Errorf("run = %+v", got)
	}
	if v, err := f.Verdict(f.ctx, "r"); err != nil || string(v) != `{"a":1}` {
		t.Errorf("Verdict = %s, %v", v, err)
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	f := start(t)
	woken, cancel := f.Watch("r")
	want := func(what string, yes bool) {
		t.Helper()
		select {
		case <-woken:
			if !yes {
				t.Errorf("%s: woken", what)
			}
		default:
			if yes {
				t.Errorf("%s: not woken", what)
			}
		}
	}
	f.send(rowed("other", "a", at(0)))
	want("other run", false)
	f.send(rowed("r", "a", at(0)))
	f.send(rowed("r", "a", at(1)))
	want("rows", true)
	want("rows once", false)
	if _, err := f.Finish(f.ctx, "r"); err != nil {
		t.Fatal(err)
	}
	want("finish", true)
	if err := f.Delete(f.ctx, "r"); err != nil {
		t.Fatal(err)
	}
	want("delete", true)
	cancel()
	cancel()
	f.send(rowed("r", "a", at(0)))
	want("after cancel", false)
}
