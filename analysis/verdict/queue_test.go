package verdict_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/verdict"
)

// metric is a series of points, seconds after the start of the run.
func metric(s sample.Series, begin int64, values map[int64]float64) *sample.Batch {
	b := &sample.Batch{RunID: sample.Telemetry, Series: []sample.Series{s}}
	for at, v := range values {
		b.Points = append(b.Points, sample.Point{Start: begin, Time: start + at*1e9, Value: v})
	}
	return b
}

func TestQueueColumns(t *testing.T) {
	t.Parallel()
	var rows []sample.Row
	for i := range int64(1000) {
		due := start + i*10e6
		rows = append(rows, foldtest.Row(due, due, due+20e6))
	}
	ev := evidence(openLoop, rows, nil)
	depth := sample.Series{Source: "s", Service: "shop", Name: "kestrel_queued_requests", Kind: sample.Gauge}
	own := sample.Series{Source: "s", Service: "shop", Name: "shop.basket.size", Kind: sample.Gauge}
	ev.Servers = []*sample.Batch{metric(depth, 0, map[int64]float64{0: 3, 2: 5}), metric(own, 0, map[int64]float64{1: 7})}
	if diff := cmp.Diff([]wire.Queue{{Name: "kestrel.queued_requests", Kind: "waiting", Unit: "1"}}, judge(t, ev, query.Options{}).Run.Queues); diff != "" {
		t.Errorf("names offered (-want +got):\n%s", diff)
	}
	names := []string{"queue:kestrel.queued_requests", "queue:kestrel_queued_requests", "queue:shop.basket.size", "queue:nothing"}
	got, err := verdict.Analysis{}.Series(t.Context(), ev, query.Options{Names: names})
	if err != nil {
		t.Fatal(err)
	}
	v := func(x float64) *float64 { return &x }
	for name, want := range map[string][]*float64{
		names[0]: {v(3), nil, v(5), nil}, names[1]: {v(3), nil, v(5), nil}, names[2]: {nil, v(7), nil, nil}, names[3]: {nil, nil, nil, nil},
	} {
		if diff := cmp.Diff(want, got.Columns[name][:4]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
