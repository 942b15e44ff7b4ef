package fold_test

import (
	"math/rand/v2"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// TestPairedCounts sets exported levels beside the rows at the same instants, and
// counts those by hand.
func TestPairedCounts(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	groups := []sample.Group{{Source: "a", Generator: "t", Model: sample.Open}, {Source: "b", Generator: "t", Model: sample.Open}}
	var rows [2][]sample.Row
	for i := range int64(4000) {
		due := epoch + i*5e6
		sent := due + rng.Int64N(3e6)
		rows[i%2] = append(rows[i%2], foldtest.Row(due, sent, sent+int64(200e6*rng.ExpFloat64())))
	}
	var batches []*sample.Batch
	for i, g := range groups {
		batches = append(batches, foldtest.Batches(g, rows[i], 100)...)
	}
	inFlight := func(at int64, of ...[]sample.Row) (n int64) {
		for _, rows := range of {
			for _, r := range rows {
				if r.Sent <= at && at < r.Done {
					n++
				}
			}
		}
		return n
	}
	gauge := sample.Series{Source: "a", Name: "loadtest.requests.in_flight", Kind: sample.UpDown}
	second := gauge
	second.Attributes = "loadtest.scenario=x"
	server := sample.Series{Source: "s", Service: "shop", Name: "http.server.active_requests", Kind: sample.UpDown}
	started := sample.Series{Source: "r", Service: "rpc", Name: "grpc.server.started", Kind: sample.Counter}
	handled := started
	handled.Name = "grpc.server.handled"
	st := folded(t, &foldtest.Evidence{
		Batches: append(batches, points(gauge, 0, map[int64]float64{1: 10, 2: 11, 3: 12}), points(second, 0, map[int64]float64{1: 5, 3: 6})),
		Servers: []*sample.Batch{
			points(server, 0, map[int64]float64{4: 30, 5: 31}),
			points(started, epoch-100e9, map[int64]float64{6: 500, 7: 700}), points(handled, epoch-100e9, map[int64]float64{6: 460, 7: 650}),
		},
	})
	want := []fold.Paired{
		{Name: "http.server.active_requests", Source: "s", Service: "shop", Pairs: []fold.Pair{
			{At: epoch + 4e9, Counted: 30, Records: inFlight(epoch+4e9, rows[0], rows[1])},
			{At: epoch + 5e9, Counted: 31, Records: inFlight(epoch+5e9, rows[0], rows[1])},
		}},
		{Name: "loadtest.requests.in_flight", Source: "a", Mine: true, Pairs: []fold.Pair{
			{At: epoch + 1e9, Counted: 15, Records: inFlight(epoch+1e9, rows[0])},
			{At: epoch + 3e9, Counted: 18, Records: inFlight(epoch+3e9, rows[0])},
		}},
		{Name: "grpc.server", Source: "r", Service: "rpc", Pairs: []fold.Pair{
			{At: epoch - 100e9, Counted: 0, Records: 0},
			{At: epoch + 6e9, Counted: 40, Records: inFlight(epoch+6e9, rows[0], rows[1])},
			{At: epoch + 7e9, Counted: 50, Records: inFlight(epoch+7e9, rows[0], rows[1])},
		}},
	}
	if len(st.Paired) != len(want) {
		t.Fatalf("%d counts", len(st.Paired))
	}
	for i, w := range want {
		got := *st.Paired[i]
		if got.Name != w.Name || got.Source != w.Source || got.Mine != w.Mine || got.Service != w.Service || len(got.Pairs) != len(w.Pairs) {
			t.Fatalf("%+v, want %+v", got, w)
		}
		for k := range w.Pairs {
			if got.Pairs[k] != w.Pairs[k] {
				t.Errorf("%s: %+v, want %+v", got.Name, got.Pairs[k], w.Pairs[k])
			}
		}
	}
}

// TestPairedCountOfTwoNames: a generator may tell one count under two names, at
// other instants.
func TestPairedCountOfTwoNames(t *testing.T) {
	t.Parallel()
	ev := finished(constant(1000, 10e6, func(int) int64 { return 25e6 }))
	for i, name := range []string{"loadtest.requests.in_flight", "loadtest_requests_in_flight"} {
		s := sample.Series{Source: "gen", Name: name, Kind: sample.Gauge}
		ev.Batches = append(ev.Batches, points(s, 0, map[int64]float64{int64(2 + i): 3, int64(4 + i): 3}))
	}
	st := build(t, ev, query.Options{})
	if len(st.Paired) != 2 {
		t.Fatalf("%d counts, want 2", len(st.Paired))
	}
	for _, p := range st.Paired {
		for _, q := range p.Pairs {
			if q.Records != 3 {
				t.Errorf("%s: %d of the rows at %d s, want 3", p.Name, q.Records, (q.At-start)/1e9)
			}
		}
	}
}
