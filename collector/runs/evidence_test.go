package runs_test

import (
	"errors"
	"testing"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/journal/memory"
)

func TestEvidenceIsASnapshot(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.send(rowed("r", "a", at(-time.Minute), at(0)))
	ev, err := f.Open(f.ctx, "r")
	if err != nil {
		t.Fatal(err)
	}
	rev := ev.Run().Revision
	f.send(rowed("r", "a", at(-2*time.Minute)))
	if _, err := f.Finish(f.ctx, "r"); err != nil {
		t.Fatal(err)
	}
	if n := len(ev.Entries()); n != 1 || ev.Run().Revision != rev || ev.Run().Finished {
		t.Errorf("snapshot has %d entries, run %+v", n, ev.Run())
	}
	if span := ev.Entries()[0].Span; span != (sample.Span{From: at(-time.Minute), To: at(100 * time.Millisecond)}) {
		t.Errorf("span = %v", span)
	}
	stop := errors.New("stop")
	for _, c := range []struct {
		at   []int
		want error
	}{{nil, nil}, {[]int{0, 0, 0}, nil}, {[]int{0}, stop}} {
		n := 0
		err := ev.Read(f.ctx, c.at, func(int, *sample.Batch) error { n++; return c.want })
		if !errors.Is(err, c.want) || n != len(c.at) {
			t.Errorf("Read(%v) gave %d batches, %v; want %v", c.at, n, err, c.want)
		}
	}
	if later, err := f.Open(f.ctx, "r"); err != nil || len(later.Entries()) != 2 || !later.Run().Finished {
		t.Errorf("later snapshot = %+v, %v", later, err)
	}
}

func TestTelemetryIsJoinedByTimeAndTarget(t *testing.T) {
	t.Parallel()
	f := start(t)
	both := pointed(sample.Telemetry, "db-1", "db", at(-time.Minute), at(0))
	both.Series = append([]sample.Series{{Source: "web-1", Service: "web", Name: "cpu"}}, both.Series...)
	for i := range both.Points {
		both.Points[i].Series = 1
	}
	both.Points = append(both.Points, sample.Point{Series: 0, Time: at(-30 * time.Second), Value: 7})
	f.send(both, pointed(sample.Telemetry, "db-1", "db", at(-5*time.Hour)), rowed("all", "a", at(0)))
	if _, _, err := f.Declare(f.ctx, wire.Declaration{ID: "web", Targets: []string{"web"}}); err != nil {
		t.Fatal(err)
	}
	if list := f.list(); len(list) != 2 {
		t.Fatalf("runs = %v: telemetry must not make any", ids(list))
	}
	for _, restarted := range []bool{false, true} {
		if restarted {
			f.open(f.log.(*memory.Log).Reopen())
		}
		for _, c := range []struct {
			run             string
			span            sample.Span
			batches, points int
		}{
			{"all", sample.Span{From: at(-10 * time.Minute), To: at(0)}, 1, 3},
			{"all", sample.Span{From: at(-10 * time.Hour), To: at(0)}, 2, 4},
			{"all", sample.Span{From: at(time.Second), To: at(time.Minute)}, 0, 0},
			{"web", sample.Span{From: at(-10 * time.Hour), To: at(0)}, 1, 1},
		} {
			ev, err := f.Open(f.ctx, c.run)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				batches, points := 0, 0
				err := ev.Telemetry(f.ctx, c.span, func(b *sample.Batch) error {
					batches++
					points += len(b.Points)
					for _, p := range b.Points {
						if s := b.Series[p.Series]; (p.Value == 7) != (s.Service == "web") {
							t.Errorf("point %v belongs to %v", p, s)
						}
					}
					return nil
				})
				if err != nil || batches != c.batches || points != c.points {
					t.Errorf("%s %v: %d batches, %d points, %v; want %d and %d", c.run, c.span, batches, points, err, c.batches, c.points)
				}
			}
		}
	}
}
