package verdict_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// mixture is a run of every kind of row: two sources, two scenarios, all
// outcomes, retries joined by name and by parent, indices, counters.
func mixture(rng *rand.Rand, n int) (groups []sample.Group, rows []sample.Row, points *sample.Batch) {
	groups = []sample.Group{
		{Source: "a", Generator: "g", Scenario: "read", Model: sample.Open, Deadline: 80e6},
		{Source: "a", Generator: "g", Scenario: "write", Model: sample.Open, Rate: 50, Process: "constant"},
		{Source: "b", Generator: "g", Scenario: "read", Model: sample.Open},
	}
	for i := range n {
		due := start + int64(i)*5e6
		r := foldtest.Row(due, due+rng.Int64N(2e6), 0)
		r.Group = uint16(rng.IntN(len(groups)))
		if r.Group == 1 {
			r.Intended, r.Index = 0, int64(i)/4
		}
		r.Done = r.Sent + int64(rng.ExpFloat64()*30e6)
		if rng.IntN(10) == 0 {
			r.Outcome = sample.Outcome(rng.IntN(int(sample.Outcomes)))
			r.Status = int16(rng.IntN(600))
		}
		if rng.IntN(20) == 0 {
			r.FirstByte = r.Sent + (r.Done-r.Sent)/2
		}
		r.Key = uint64(i + 1)
		rows = append(rows, r)
		for k := range rng.IntN(8) - 5 {
			r.Attempt = uint16(k + 1)
			r.Sent = r.Done + rng.Int64N(5e6)
			r.Done = r.Sent + int64(rng.ExpFloat64()*30e6)
			rows = append(rows, r)
		}
	}
	points = &sample.Batch{}
	for i, name := range []string{"loadtest.arrivals.dropped", "loadtest.arrivals.scheduled", "loadtest.requests.in_flight_time"} {
		points.Series = append(points.Series, sample.Series{Source: "a", Name: name, Kind: sample.Counter})
		v := 0.0
		for k := range int64(10) {
			points.Points = append(points.Points, sample.Point{Series: uint32(i), Start: start - 1, Time: start + k*500e6, Value: v})
			v += float64(rng.IntN(3))
		}
	}
	for _, name := range []string{"loadtest.requests.in_flight", "process.cpu.utilization"} {
		say(rng, points, sample.Series{Source: "a", Name: name, Kind: sample.Gauge})
	}
	return groups, rows, points
}

// say adds ten points of a series to a batch.
func say(rng *rand.Rand, b *sample.Batch, s sample.Series) {
	b.Series = append(b.Series, s)
	n := 0
	for k := range int64(10) {
		n += rng.IntN(30)
		p := sample.Point{Series: uint32(len(b.Series) - 1), Time: start + k*300e6, Value: rng.Float64() * 10}
		if s.Kind == sample.Histogram {
			p.Start, p.Value, p.Histogram = start-1e9, float64(n)/7, &sample.Distribution{Count: uint64(n)}
		}
		b.Points = append(b.Points, p)
	}
}

// shops is the telemetry of two replicas of a service.
func shops(rng *rand.Rand) *sample.Batch {
	b := &sample.Batch{RunID: sample.Telemetry}
	for _, source := range []string{"s1", "s2"} {
		for name, k := range map[string]sample.Kind{
			"http.server.active_requests": sample.UpDown, "http.server.request.duration": sample.Histogram, "kestrel.queued_requests": sample.Gauge,
		} {
			for _, route := range []string{"http.route=/a", "http.route=/b"} {
				say(rng, b, sample.Series{Source: source, Service: "shop", Name: name, Attributes: route, Kind: k})
			}
		}
	}
	return b
}

// deal divides rows and points over batches of random sizes in random order.
func deal(rng *rand.Rand, groups []sample.Group, rows []sample.Row, points *sample.Batch) []*sample.Batch {
	rows = append([]sample.Row(nil), rows...)
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	var out []*sample.Batch
	for len(rows) > 0 {
		k := min(1+rng.IntN(200), len(rows))
		b := &sample.Batch{}
		for _, r := range rows[:k] {
			r.Group = b.GroupIndex(&groups[r.Group])
			b.Append(r)
		}
		rows = rows[k:]
		out = append(out, b)
	}
	for i := range points.Points {
		b := &sample.Batch{Series: points.Series, Points: points.Points[i : i+1]}
		out = append(out, b)
		if rng.IntN(3) == 0 {
			out = append(out, b)
		}
	}
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func TestDocumentDependsOnRowsAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 5))
		groups, rows, points := mixture(rng, 50+rng.IntN(400))
		d := &wire.Declaration{ID: "r", Steps: []wire.DeclareStep{
			{RatePerS: 200, DurationS: 0.5}, {RatePerS: 200, DurationS: 0.7, PauseS: 0.1}, {RatePerS: 100, DurationS: 2},
		}}
		if rng.IntN(2) == 0 {
			d = nil
		}
		run := fold.Run{ID: "r", Finished: rng.IntN(4) > 0, Declaration: d}
		servers := shops(rng)
		var want []byte
		for range 3 {
			ev := &foldtest.Evidence{Of: run, Batches: deal(rng, groups, rows, points), Servers: deal(rng, nil, nil, servers)}
			got, err := json.Marshal(judge(t, ev, query.Options{}))
			if err != nil {
				rt.Fatal(err)
			}
			if want == nil {
				want = got
			} else if !bytes.Equal(want, got) {
				rt.Fatalf("the document depends on the order:\n%s\n%s", want, got)
			}
		}
	})
}
