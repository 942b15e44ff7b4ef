package verdict_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/sim"
)

// between counts the times in (from, to].
func between(times []int64, from, to int64) (n float64) {
	for _, t := range times {
		if from < t && t <= to {
			n++
		}
	}
	return n
}

// TestServerExplainsRecovery pushes a service past its capacity and back while its
// clients try again, and lets the service say every five seconds what waits and
// what it answered. The simulation knows the truth.
func TestServerExplainsRecovery(t *testing.T) {
	t.Parallel()
	steps := []sim.Step{{RatePerS: 60, DurationS: 60}, {RatePerS: 150, DurationS: 30}, {RatePerS: 60, DurationS: 120}}
	retry := sim.Retry{TimeoutS: 1, Attempts: 3}
	a := sim.RunPersistent(sim.Persistent{
		StartNS: start, Steps: steps, Arrivals: sim.Constant(), Server: sim.Queue(sim.Exponential(), 1)(100), Retry: retry,
	}, rand.New(rand.NewPCG(8, 1)))
	begin := time.Unix(0, start).UTC()
	d := &wire.Declaration{ID: "r", Start: &begin, DeadlineS: some(1.0), CapacityPerS: some(100.0), Arrival: &wire.Arrival{Model: "open", Process: "constant"}}
	for _, s := range steps {
		d.Steps = append(d.Steps, wire.DeclareStep{RatePerS: s.RatePerS, DurationS: s.DurationS})
	}
	var sent []int64
	for _, x := range a.Exchanges {
		sent = append(sent, x.Attempts...)
	}
	depth := func(at int64) float64 { return max(0, between(sent, 0, at)-between(a.Served, 0, at)-1) }
	waiting, answered := map[int64]float64{}, map[int64]float64{}
	for s := int64(-5); s <= 600; s += 5 {
		waiting[s], answered[s] = depth(start+s*1e9), between(a.Served, 0, start+s*1e9)
	}
	queue := sample.Series{Source: "s", Service: "shop", Name: "kestrel.queued_requests", Kind: sample.UpDown}
	ev := evidence(openLoop, attempts(a, retry), d)
	ev.Servers = []*sample.Batch{metric(queue, 0, waiting), tallied(shop("s", "shop"), answered)}
	v := judge(t, ev, query.Options{})
	if v.Metastability.State != "sustained" {
		t.Fatalf("%s: %s", v.Metastability.State, v.Headline)
	}
	at, from, to := start+205e9, start+180e9, start+210e9
	for name, want := range map[string]float64{
		"queue": depth(at), "completed_for_clients_that_gave_up": between(a.Abandoned, from, to) / 30,
	} {
		if got := signal(v, name); math.Abs(got-want) > 0.02*want+0.2 || want < 50 {
			t.Errorf("%s: %g, want %g", name, got, want)
		}
	}
	if got := signal(v, "queue_before_max"); got > 20 {
		t.Errorf("before the push %g waited", got)
	}
	if got := signal(v, "share_of_work_for_clients_that_gave_up"); got < 0.99 {
		t.Errorf("share of work for nobody: %g", got)
	}
	if f := finding(v, "recovery"); !strings.Contains(f.Message, "waited at the server (at most ") || !strings.Contains(f.Message, "for clients that had gone") {
		t.Errorf("%s", f.Message)
	}
	if finding(v, "hidden_retries") != nil {
		t.Error("all retries are known")
	}

	// A count that did not agree with the client's before the push says nothing.
	for s := range answered {
		answered[s] *= 0.5
	}
	ev.Servers = []*sample.Batch{metric(queue, 0, waiting), tallied(shop("s", "shop"), answered)}
	v = judge(t, ev, query.Options{})
	if slices.ContainsFunc(v.Metastability.Signals, func(s wire.Signal) bool { return s.Name == "completed_for_clients_that_gave_up" }) {
		t.Error("half of the answers are believed to be all")
	}
	ev.Servers = nil
	plain := judge(t, ev, query.Options{})
	if plain.Metastability.State != v.Metastability.State || *plain.Metastability.WatchedS != *v.Metastability.WatchedS {
		t.Errorf("queues decide: %s without, %s with", plain.Metastability.State, v.Metastability.State)
	}
}
