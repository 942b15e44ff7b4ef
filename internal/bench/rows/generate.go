package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// generator makes rows of grade A as an exporter of spans would send them: in
// order of their ends: at a rate, in a number of streams, with log-normal service
// times around 25 ms and one error in a hundred.
type generator struct {
	rng    *rand.Rand
	done   int64
	groups []sample.Group
	// Drawing normal variates would cost more than what is measured.
	service [1 << 14]int64
	delay   [1 << 14]int64
	gap     [1 << 14]int64
}

func newGenerator(c config) *generator {
	g := &generator{rng: rand.New(rand.NewPCG(20, 25)), done: 1_790_000_000_123_456_789}
	for i := range c.streams {
		g.groups = append(g.groups, sample.Group{
			Source: "loadgen/host-17.example/8817", Generator: "k6", Scenario: fmt.Sprintf("scenario %d", i+1),
			Deadline: 2e9, Rate: c.rate / float64(c.streams), Model: sample.Open, Process: "poisson",
		})
	}
	for i := range g.service {
		g.service[i] = int64(25e6 * math.Exp(0.4*g.rng.NormFloat64()))
		g.delay[i] = 1 + int64(200e3*g.rng.ExpFloat64())
		g.gap[i] = int64(1e9 / c.rate * g.rng.ExpFloat64())
	}
	return g
}

// next fills b with n rows.
func (g *generator) next(b *sample.Batch, n int) {
	b.Reset()
	b.RunID, b.RunName = runID, "checkout, nightly"
	b.Groups = append(b.Groups, g.groups...)
	for range n {
		draw := g.rng.Uint64()
		pick := func() int64 { draw >>= 14; return int64(draw & (1<<14 - 1)) }
		row := sample.Row{Group: uint16(draw % uint64(len(g.groups))), Index: sample.NoIndex, Status: 200}
		g.done += g.gap[pick()]
		row.Done = g.done
		row.Sent = row.Done - g.service[pick()]
		row.Intended = row.Sent - g.delay[pick()]
		if g.rng.Uint32N(100) == 0 {
			row.Outcome, row.Status = sample.Error, 500
		}
		b.Append(row)
	}
}
