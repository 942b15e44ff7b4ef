package main

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/sim"
	"github.com/plimsoll/plimsoll/internal/export"
)

const (
	stepS     = 480.0 // of a step, its warm-up included
	warmupS   = 120.0
	pauseS    = 10.0
	deadlineS = 2.0
	every     = int64(5e9) // how often levels are exported, ns
)

// example is a run of the table.
type example struct {
	id, name string
	rungs    []sim.Rung
	joined   int // how many of the last rungs are one step
}

// before is the service whose clients time out: it collapses past 462/s, and at
// 300/s their retries keep it down.
func before() *example {
	e := &example{id: "checkout-before", name: "checkout", joined: 1, rungs: sim.BeforeFix()}
	return e.last(sim.Rung{Offered: 300, Seconds: 1500, Attempts: 3})
}

// after is the same service with the excess shed: it recovers 11 s after the push.
func after() *example {
	e := &example{id: "checkout-after", name: "checkout-fixed", joined: 2, rungs: sim.AfterFix()}
	return e.last(sim.Rung{Offered: 300, Completed: 200, Goodput: 200, Shed: 100, Seconds: 11},
		sim.Rung{Offered: 300, Completed: 300, Goodput: 300, Seconds: stepS - 11})
}

// last adds the return to a low rate, without a pause before it.
func (e *example) last(back ...sim.Rung) *example {
	for i := range e.rungs {
		e.rungs[i].Seconds = stepS
		if i < len(e.rungs)-1 {
			e.rungs[i].PauseS = pauseS
		}
	}
	e.rungs = append(e.rungs, back...)
	return e
}

// lasts is how long requests are due.
func (e *example) lasts() time.Duration {
	var sum float64
	for _, r := range e.rungs {
		sum += r.Seconds + r.PauseS
	}
	return time.Duration(sum * float64(time.Second))
}

func (e *example) declaration(from time.Time) *wire.Declaration {
	d := &wire.Declaration{
		ID: e.id, Name: e.name, Start: &from, DeadlineS: new(deadlineS), TimeoutS: new(6.0),
		Arrival: &wire.Arrival{Model: "open", Process: "constant"}, Targets: []string{e.name},
	}
	swept := len(e.rungs) - e.joined
	for i, r := range e.rungs[:swept] {
		d.Steps = append(d.Steps, wire.DeclareStep{RatePerS: r.Offered, DurationS: r.Seconds, WarmupS: warmupS, PauseS: e.rungs[i].PauseS})
	}
	back := wire.DeclareStep{RatePerS: e.rungs[swept].Offered}
	for _, r := range e.rungs[swept:] {
		back.DurationS += r.Seconds
	}
	d.Steps = append(d.Steps, back)
	return d
}

// send exports the rows in the order of their ends, and what the generator and
// the service count.
func (e *example) send(ctx context.Context, otlp string, from int64) error {
	rows, dropped, to := sim.Table(from, e.rungs, rand.New(rand.NewPCG(46, 2)))
	slices.SortStableFunc(rows, func(a, b sample.Row) int { return cmp.Compare(a.Done, b.Done) })
	generator := &export.Source{Server: otlp, Name: "checkout"}
	generator.Resource = append(generator.Resource,
		export.Str("service.name", "loadgen"), export.Str("loadtest.run.id", e.id), export.Str("loadtest.run.name", e.name),
		export.Str("loadtest.generator", "simulated"), export.Str("loadtest.arrival.model", "open"), export.Str("loadtest.scenario", e.name))
	if err := generator.Rows(ctx, rows); err != nil {
		return err
	}
	service := &export.Source{Server: otlp, Name: "checkout"}
	service.Resource = append(service.Resource, export.Str("service.name", e.name))
	sent := make([]int64, len(rows))
	for i := range rows {
		sent[i] = rows[i].Sent
	}
	slices.Sort(sent)
	begun, ended, lost := 0, 0, 0
	for at := from; at <= to; at += every {
		begun += count(sent[begun:], at)
		lost += count(dropped[lost:], at)
		for ended < len(rows) && rows[ended].Done <= at {
			ended++
		}
		if err := generator.Levels(ctx, from, at, []export.Level{{Name: "loadtest.arrivals.dropped", Value: float64(lost)}}); err != nil {
			return err
		}
		active := export.Level{Name: "http.server.active_requests", Value: float64(begun - ended), Gauge: true}
		if err := service.Levels(ctx, from, at, []export.Level{active}); err != nil {
			return err
		}
	}
	return nil
}

// count is how many of ascending times have come by an instant.
func count(times []int64, at int64) int {
	n, _ := slices.BinarySearch(times, at+1)
	return n
}
