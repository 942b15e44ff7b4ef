package batch

import (
	"math"
	"math/rand/v2"

	"pgregory.net/rapid"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// gradeA returns rows as an exporter of spans sends them: in order of their
// ends, 20,000 a second, with log-normal service times around 25 ms.
func gradeA(rng *rand.Rand, n int) *sample.Batch {
	b := &sample.Batch{RunID: "0197f3c2-5a53-7cc1-a5b4-6c2f9d1e8a77", RunName: "checkout, nightly"}
	for _, scenario := range []string{"browse", "search", "basket", "pay"} {
		b.Groups = append(b.Groups, sample.Group{
			Source: "loadgen/host-17.example/8817", Generator: "k6", Scenario: scenario,
			Deadline: 2e9, Rate: 5000, Model: sample.Open, Process: "poisson",
		})
	}
	done := int64(1_790_000_000_123_456_789)
	for range n {
		done += int64(rng.ExpFloat64() * 50e3)
		row := sample.Row{Group: uint16(rng.IntN(4)), Done: done, Index: sample.NoIndex, Status: 200}
		row.Sent = done - int64(25e6*math.Exp(0.4*rng.NormFloat64()))
		row.Intended = row.Sent - int64(rng.ExpFloat64()*200e3) - 1
		if rng.IntN(100) == 0 {
			row.Outcome, row.Status = sample.Error, 500
		}
		b.Append(row)
	}
	return b
}

// inUnit rounds the times of b to whole units.
func inUnit(b *sample.Batch, unit int64) *sample.Batch {
	for _, col := range [][]int64{b.Sent, b.Done, b.Intended} {
		for i := range col {
			col[i] -= col[i] % unit
		}
	}
	return b
}

// extremes returns the rows that arithmetic likes least.
func extremes() *sample.Batch {
	b := &sample.Batch{Groups: make([]sample.Group, 70)}
	values := []int64{0, -1, 1, math.MinInt64, math.MaxInt64, math.MinInt64 + 1, 1 << 56, 1<<56 - 1, -1 << 56, 1e6, 1e3}
	for i, x := range values {
		for j, y := range values {
			b.Append(sample.Row{
				Group: uint16((i*j + j) % 70), Sent: x, Done: y, FirstByte: y, Intended: x + y, Index: x - y,
				Attempt: uint16(i * 6000), Key: uint64(x), Self: uint64(y), Outcome: sample.Outcome(j % 5),
				Status: int16(x), Flags: sample.Flag(i * 20), Tokens: x,
			})
		}
	}
	return b
}

func metrics() *sample.Batch {
	nan := math.NaN()
	bounds := []float64{0.005, 0.01, 0.1, 1}
	return &sample.Batch{
		RunID: sample.Telemetry,
		Series: []sample.Series{
			{Source: "a", Service: "shop", Scope: "s", Name: "queue", Attributes: "k=v", Unit: "1"},
			{Source: "a", Service: "shop", Scope: "s", Name: "duration", Unit: "s", Kind: sample.Histogram},
			{},
		},
		Points: []sample.Point{
			{Series: 2, Time: math.MinInt64, Value: nan},
			{Series: 0, Start: 5, Time: 1e18, Value: math.Copysign(0, -1)},
			{Series: 1, Value: math.Inf(1), Histogram: &sample.Distribution{
				Count: math.MaxUint64, Min: nan, Max: 4, Bounds: bounds, Buckets: []uint64{1, 0, 1 << 60, 3, 4},
			}},
			{Series: 1, Value: 3.25, Histogram: &sample.Distribution{Min: 1, Max: nan, Bounds: bounds}},
			{Series: 1, Histogram: &sample.Distribution{
				Min: math.Float64frombits(0x7ff8000000000002), Max: nan, Exponential: true,
				Scale: math.MinInt32, Offset: math.MaxInt32, Zero: 9, Buckets: []uint64{0, 7},
			}},
			{Series: 0, Histogram: &sample.Distribution{}},
		},
	}
}

// drawBatch draws batches that mix plausible columns with wild ones.
func drawBatch(t *rapid.T) *sample.Batch {
	wild := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-3, 3), rapid.Just(int64(0)))
	if rapid.Bool().Draw(t, "plausible") {
		wild = rapid.Map(rapid.Int64Range(0, 1e6), func(v int64) int64 { return 1_790_000_000_000 + v*1000 })
	}
	word := rapid.SampledFrom([]string{"", "a", "b", "run\x00", "ünï"})
	b := &sample.Batch{RunID: word.Draw(t, "id"), RunName: rapid.String().Draw(t, "name")}
	for range rapid.IntRange(1, 20).Draw(t, "groups") {
		b.Groups = append(b.Groups, sample.Group{
			Source: word.Draw(t, "source"), Generator: word.Draw(t, "generator"), Scenario: word.Draw(t, "scenario"),
			Step: word.Draw(t, "step"), Deadline: wild.Draw(t, "deadline"), ExpectedInterval: wild.Draw(t, "interval"),
			Rate: rapid.Float64().Draw(t, "rate"), Model: sample.Model(rapid.IntRange(0, 2).Draw(t, "model")),
			Process: word.Draw(t, "process"),
		})
	}
	drawRows(t, b, wild)
	for range rapid.IntRange(0, 5).Draw(t, "series") {
		b.Series = append(b.Series, sample.Series{
			Source: word.Draw(t, "source"), Service: word.Draw(t, "service"), Scope: word.Draw(t, "scope"),
			Name: word.Draw(t, "name"), Attributes: word.Draw(t, "attributes"), Unit: word.Draw(t, "unit"),
			Kind: sample.Kind(rapid.IntRange(0, 5).Draw(t, "kind")),
		})
	}
	if len(b.Series) > 0 {
		drawPoints(t, b, wild)
	}
	return b
}

func drawRows(t *rapid.T, b *sample.Batch, wild *rapid.Generator[int64]) {
	some := rapid.IntRange(0, 3).Draw(t, "share of optional values")
	optional := func(g *rapid.Generator[int64], unknown int64) int64 {
		if rapid.IntRange(0, 2).Draw(t, "known") >= some {
			return unknown
		}
		return g.Draw(t, "optional")
	}
	few := rapid.IntRange(0, 65535).Draw(t, "few")
	small := rapid.IntRange(0, few)
	for range rapid.IntRange(0, 600).Draw(t, "rows") {
		b.Append(sample.Row{
			Group: uint16(small.Draw(t, "group") % len(b.Groups)), Sent: wild.Draw(t, "sent"), Done: wild.Draw(t, "done"),
			FirstByte: optional(wild, 0), Intended: optional(wild, 0), Index: optional(wild, sample.NoIndex),
			Attempt: uint16(small.Draw(t, "attempt")), Key: uint64(optional(wild, 0)), Self: uint64(optional(wild, 0)),
			Outcome: sample.Outcome(small.Draw(t, "outcome") % int(sample.Outcomes)),
			Status:  int16(small.Draw(t, "status")), Flags: sample.Flag(small.Draw(t, "flags")),
			Tokens: optional(wild, 0),
		})
	}
}

func drawPoints(t *rapid.T, b *sample.Batch, wild *rapid.Generator[int64]) {
	floats := rapid.OneOf(rapid.Float64(), rapid.Just(math.NaN()), rapid.Just(1.0))
	for range rapid.IntRange(0, 20).Draw(t, "points") {
		p := sample.Point{
			Series: uint32(rapid.IntRange(0, len(b.Series)-1).Draw(t, "series")),
			Start:  wild.Draw(t, "start"), Time: wild.Draw(t, "time"), Value: floats.Draw(t, "value"),
		}
		if rapid.Bool().Draw(t, "histogram") {
			p.Histogram = &sample.Distribution{
				Count: rapid.Uint64().Draw(t, "count"), Min: floats.Draw(t, "min"), Max: floats.Draw(t, "max"),
				Bounds: rapid.SliceOfN(floats, 0, 2).Draw(t, "bounds"), Buckets: rapid.SliceOfN(rapid.Uint64(), 0, 9).Draw(t, "buckets"),
				Exponential: rapid.Bool().Draw(t, "exponential"), Scale: rapid.Int32().Draw(t, "scale"),
				Offset: rapid.Int32().Draw(t, "offset"), Zero: rapid.Uint64Range(0, 1).Draw(t, "zero"),
			}
		}
		b.Points = append(b.Points, p)
	}
}
