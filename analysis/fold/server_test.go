package fold_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/queues"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

const epoch = int64(1_796_000_000_000_000_000)

// steady is ten seconds at 100/s, each request 20 ms.
func steady() []*sample.Batch {
	var rows []sample.Row
	for i := range int64(1000) {
		due := epoch + i*10e6
		rows = append(rows, foldtest.Row(due, due, due+20e6))
	}
	return foldtest.Batches(sample.Group{Source: "gen", Generator: "t", Model: sample.Open}, rows, 256)
}

func points(s sample.Series, start int64, values map[int64]float64) *sample.Batch {
	b := &sample.Batch{RunID: sample.Telemetry, Series: []sample.Series{s}}
	for at, v := range values {
		b.Points = append(b.Points, sample.Point{Start: start, Time: epoch + at*1e9, Value: v})
	}
	return b
}

func folded(t *testing.T, ev *foldtest.Evidence) *fold.State {
	t.Helper()
	ev.Of = fold.Run{ID: "r", Finished: true}
	st, err := fold.Build(t.Context(), ev, query.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func TestTelemetryOverTime(t *testing.T) {
	t.Parallel()
	queue := sample.Series{Source: "s1", Service: "shop", Name: "kestrel.queued_requests", Kind: sample.UpDown}
	other := queue
	other.Source = "s2"
	count := sample.Series{Source: "s1", Service: "shop", Name: "kestrel.rejected_connections", Kind: sample.Counter}
	st := folded(t, &foldtest.Evidence{Batches: steady(), Servers: []*sample.Batch{
		points(queue, 0, map[int64]float64{0: 2, 1: 4, 5: 6, 100: 50}),
		points(other, 0, map[int64]float64{0: 1, 1: 1, 5: 1}),
		points(count, epoch-10e9, map[int64]float64{-5: 10, 0: 20, 10: 120}),
	}})
	queued := st.Telemetry.Named("kestrel.queued_requests")
	for _, c := range []struct {
		from, to int64
		want     float64
		ok       bool
	}{{0, 2, 4, true}, {2, 5, 0, false}, {5, 6, 7, true}, {95, 105, 0, false}} {
		if v, ok := fold.Value(queued, epoch+c.from*1e9, epoch+c.to*1e9); v != c.want || ok != c.ok {
			t.Errorf("queued over [%d, %d): %g, %t", c.from, c.to, v, ok)
		}
	}
	rejected := st.Telemetry.Named("kestrel.rejected_connections")
	if v, ok := fold.Value(rejected, epoch, epoch+10e9); v != 10 || !ok {
		t.Errorf("rejected: %g/s, %t", v, ok)
	}
	if _, ok := fold.Value(rejected, epoch, epoch+11e9); ok {
		t.Error("a counter is known past its last export")
	}
	want := []fold.Queue{
		{Name: "kestrel.queued_requests", Kind: queues.Waiting, Unit: "1"},
		{Name: "kestrel.rejected_connections", Kind: queues.Rejected, Unit: "1/s"},
	}
	if diff := cmp.Diff(want, st.Telemetry.Queues()); diff != "" {
		t.Errorf("queues (-want +got):\n%s", diff)
	}
}

// TestLevelsOfHostsAddUp: hosts export at different seconds; a cell that holds an
// export of one has the last value of the other, until that is too old.
func TestLevelsOfHostsAddUp(t *testing.T) {
	t.Parallel()
	one := sample.Series{Source: "s1", Service: "shop", Name: "kestrel.queued_requests", Kind: sample.UpDown}
	two := one
	two.Source = "s2"
	st := folded(t, &foldtest.Evidence{Batches: steady(), Servers: []*sample.Batch{
		points(one, 0, map[int64]float64{0: 10, 2: 20, 4: 30, 6: 40, 8: 50, 10: 60, 12: 70}), points(two, 0, map[int64]float64{1: 5, 3: 6}),
	}})
	queued := st.Telemetry.Named("kestrel.queued_requests")
	for from, want := range map[int64]float64{0: 10, 1: 15, 2: 25, 3: 26, 4: 36, 8: 56, 10: 60} {
		if v, ok := fold.Value(queued, epoch+from*1e9, epoch+from*1e9+1e9); !ok || v != want {
			t.Errorf("at %d s: %g, %t, want %g", from, v, ok, want)
		}
	}
	if _, ok := fold.Value(queued, epoch+5e9, epoch+6e9); ok {
		t.Error("a second without an export has a value")
	}
}

// TestTelemetryKnowsItsGenerator keeps what a generator says of itself apart from
// the same words of servers.
func TestTelemetryKnowsItsGenerator(t *testing.T) {
	t.Parallel()
	users := sample.Series{Source: "gen", Name: "vus", Kind: sample.Gauge}
	foreign := users
	foreign.Source = "elsewhere"
	st := folded(t, &foldtest.Evidence{
		Batches: append(steady(), points(users, 0, map[int64]float64{1: 50})),
		Servers: []*sample.Batch{points(foreign, 0, map[int64]float64{1: 70})},
	})
	if n := len(st.Telemetry.Metrics); n != 1 || !st.Telemetry.Metrics[0].Mine || st.Telemetry.Metrics[0].Own != fold.Users {
		t.Fatalf("%d metrics: %+v", n, st.Telemetry.Metrics)
	}
	if len(st.Telemetry.Queues()) > 0 {
		t.Error("users are offered as a queue")
	}
	if st := folded(t, &foldtest.Evidence{Batches: steady()}); st.Telemetry != nil || st.Telemetry.Queues() != nil {
		t.Error("telemetry where there is none")
	}
}

// TestTelemetryIsBounded sends more points and series than are kept: levels become
// coarser, counters stay exact, whatever the order.
func TestTelemetryIsBounded(t *testing.T) {
	t.Parallel()
	level := sample.Series{Source: "s", Name: "kestrel.queued_requests", Kind: sample.Gauge}
	count := sample.Series{Source: "s", Name: "kestrel.rejected_connections", Kind: sample.Counter}
	b := &sample.Batch{RunID: sample.Telemetry, Series: []sample.Series{level, count}}
	for i := range int64(60_000) {
		at := epoch + i*1e6/6
		b.Points = append(b.Points, sample.Point{Series: 0, Time: at, Value: 3},
			sample.Point{Series: 1, Start: epoch - 1, Time: at, Value: float64(i)})
	}
	for i := range 1500 {
		s := level
		s.Name, s.Attributes = "vllm:num_requests_waiting", "engine="+string(rune('a'+i%26))+string(rune('a'+i/26%26))+string(rune('a'+i/676))
		b.Series = append(b.Series, s)
		b.Points = append(b.Points, sample.Point{Series: uint32(len(b.Series) - 1), Time: epoch, Value: 1})
	}
	var want *fold.Telemetry
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 1))
		rng.Shuffle(len(b.Points), func(i, j int) { b.Points[i], b.Points[j] = b.Points[j], b.Points[i] })
		st := folded(t, &foldtest.Evidence{Batches: steady(), Servers: []*sample.Batch{b, b}})
		got := st.Telemetry
		if got.WidthS != 1 || !got.Cut || len(got.Metrics) != 1000 {
			t.Fatalf("width %g s, cut %t, %d series", got.WidthS, got.Cut, len(got.Metrics))
		}
		if v, ok := got.Named("kestrel.rejected_connections")[0].Growth(epoch, epoch+9e9); !ok || v < 53_990 || v > 54_010 {
			t.Errorf("count %g, %t", v, ok)
		}
		if want == nil {
			want = got
		} else if diff := cmp.Diff(names(want), names(got)); diff != "" {
			t.Errorf("depends on the order (-want +got):\n%s", diff)
		}
	}
}

func names(t *fold.Telemetry) (out []any) {
	for _, m := range t.Metrics {
		out = append(out, m.Series, m.Levels)
	}
	return out
}
