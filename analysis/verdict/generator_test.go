package verdict_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// healthy is 100/s for 60 s, answered after 30 ms on average.
func healthy() []sample.Row {
	rng := rand.New(rand.NewPCG(9, 9))
	var rows []sample.Row
	for i := range int64(6000) {
		due := start + i*10e6
		rows = append(rows, foldtest.Row(due, due, due+int64(30e6*rng.ExpFloat64())))
	}
	return rows
}

// count is a counter or distribution that grows by perS from begin seconds to end,
// exported every ten seconds.
func growing(s sample.Series, begin, end int64, perS float64) *sample.Batch {
	b := &sample.Batch{RunID: sample.Telemetry, Series: []sample.Series{s}}
	for at := begin; at <= end; at += 10 {
		v := perS * float64(at-begin)
		p := sample.Point{Start: start + begin*1e9, Time: start + at*1e9, Value: v}
		if s.Kind == sample.Histogram {
			p.Histogram, p.Value = &sample.Distribution{Count: uint64(v)}, v/100
		}
		b.Points = append(b.Points, p)
	}
	return b
}

// TestGeneratorsOwnNumbers holds what a generator says of itself against its rows.
func TestGeneratorsOwnNumbers(t *testing.T) {
	t.Parallel()
	own := func(name string, k sample.Kind, attributes string) sample.Series {
		return sample.Series{Source: "gen", Name: name, Kind: k, Attributes: attributes}
	}
	scoped := func(name, scope string, k sample.Kind) sample.Series {
		return sample.Series{Source: "gen", Scope: scope, Name: name, Kind: k}
	}
	level := func(name, attributes string, v float64) *sample.Batch {
		return metric(own(name, sample.Gauge, attributes), 0, map[int64]float64{10: v, 20: v, 30: v, 40: v})
	}
	foreign := level("process.cpu.utilization", "", 0.99)
	foreign.Series[0].Source = "another"
	for _, c := range []struct {
		name     string
		points   []*sample.Batch
		code     string
		severity string // empty: no finding
		value    float64
	}{
		{"busy", []*sample.Batch{level("process.cpu.utilization", "", 0.93)}, "generator_cpu", wire.Warn, 0.93},
		{"busy in two modes", []*sample.Batch{
			level("process.cpu.utilization", "cpu.mode=user", 0.7), level("process.cpu.utilization", "cpu.mode=system", 0.2),
		}, "generator_cpu", wire.Warn, 0.9},
		{"a host with one processor idle", []*sample.Batch{
			level("system.cpu.utilization", "cpu=cpu0,state=user", 1), level("system.cpu.utilization", "cpu=cpu0,state=idle", 0),
			level("system.cpu.utilization", "cpu=cpu1,state=user", 0.1), level("system.cpu.utilization", "cpu=cpu1,state=idle", 0.9),
		}, "generator_cpu", "", 0},
		{"processor time of four", []*sample.Batch{
			growing(own("process.cpu.time", sample.Counter, "cpu.mode=user"), -10, 70, 3.4), level("go.processor.limit", "", 4),
		}, "generator_cpu", wire.Warn, 0.85},
		{"processor time of nobody knows how many", []*sample.Batch{growing(own("process.cpu.time", sample.Counter, ""), -10, 70, 3.4)}, "generator_cpu", "", 0},
		{"not a share", []*sample.Batch{level("process.cpu.utilization", "", 3.1)}, "generator_cpu", "", 0},
		{"another's", []*sample.Batch{foreign}, "generator_cpu", "", 0},
		{"spans dropped", []*sample.Batch{growing(own("otel.sdk.processor.span.processed", sample.Counter, "error.type=queue_full"), -10, 70, 10)}, "telemetry_lost", wire.Invalid, 800.0 / 6800},
		{"spans processed", []*sample.Batch{growing(own("otel.sdk.processor.span.processed", sample.Counter, ""), -10, 70, 10)}, "telemetry_lost", "", 0},
		{"a third sampled away", []*sample.Batch{growing(own("http.client.request.duration", sample.Histogram, ""), 0, 70, 9000.0/70)}, "telemetry_lost", wire.Invalid, 1.0 / 3},
		{"all there", []*sample.Batch{growing(own("http.client.request.duration", sample.Histogram, ""), 0, 70, 6000.0/70)}, "telemetry_lost", "", 0},
		{"counted by two layers of the client", []*sample.Batch{
			growing(scoped("http.client.duration", "opentelemetry.instrumentation.requests", sample.Histogram), 0, 70, 6000.0/70),
			growing(scoped("http.client.duration", "opentelemetry.instrumentation.urllib3", sample.Histogram), 0, 70, 6000.0/70),
			growing(scoped("locust.client.duration", "locust", sample.Histogram), 0, 70, 6000.0/70),
		}, "telemetry_lost", "", 0},
		{"users without spans", []*sample.Batch{growing(scoped("locust.client.duration", "locust", sample.Histogram), 0, 70, 9000.0/70)}, "telemetry_lost", wire.Invalid, 1.0 / 3},
		{"traces by sample rate", []*sample.Batch{growing(scoped("http.requests", "Artillery.io_metrics", sample.Counter), 0, 70, 9000.0/70)}, "telemetry_lost", wire.Invalid, 1.0 / 3},
		{"someone's own metric", []*sample.Batch{growing(scoped("http.requests", "mine", sample.Counter), 0, 70, 9000.0/70)}, "telemetry_lost", "", 0},
		{"a service's calls", []*sample.Batch{growing(own("http.server.request.duration", sample.Histogram, ""), -10, 70, 50)}, "measured_at_server", wire.Invalid, 3000},
		{"a generator with a page", []*sample.Batch{growing(own("http.server.request.duration", sample.Histogram, ""), -10, 70, 0.5)}, "measured_at_server", "", 0},
	} {
		for _, b := range c.points {
			b.RunID = ""
		}
		g, rows := openLoop, healthy()
		if c.code == "measured_at_server" { // spans of a service say nothing of a load
			g.Model = sample.UnknownModel
			for i := range rows {
				rows[i].Intended = 0
			}
		}
		ev := evidence(g, rows, nil)
		ev.Batches = append(ev.Batches, c.points...)
		v := judge(t, ev, query.Options{})
		switch f := finding(v, c.code); {
		case c.severity == "" && f != nil:
			t.Errorf("%s: %s", c.name, f.Message)
		case c.severity == "":
		case f == nil:
			t.Errorf("%s: no %s in %+v", c.name, c.code, v.Findings)
		case f.Severity != c.severity || *f.Value < c.value*0.999-1e-9 || *f.Value > c.value*1.001:
			t.Errorf("%s: %s %g (want %s %g): %s", c.name, f.Severity, *f.Value, c.severity, c.value, f.Message)
		case f.Severity == wire.Invalid && v.Audit.Valid:
			t.Errorf("%s: the rig counts as valid", c.name)
		}
	}
}

// TestServerAlone: a run to which only a service sent what it says of itself.
func TestServerAlone(t *testing.T) {
	t.Parallel()
	ev := evidence(openLoop, nil, nil)
	b := growing(sample.Series{Source: "s", Service: "shop", Name: "http.server.request.duration", Kind: sample.Histogram}, 0, 60, 100)
	b.RunID = ""
	ev.Batches = []*sample.Batch{b}
	v := judge(t, ev, query.Options{})
	if f := finding(v, "measured_at_server"); f == nil || f.Severity != wire.Warn || !strings.Contains(f.Message, "kind CLIENT") || v.Outcome != wire.OutcomeInconclusive {
		t.Errorf("%s: %+v", v.Headline, f)
	}
}

// TestStepTooShort says for how long a step would have had to last.
func TestStepTooShort(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	var rows []sample.Row
	free := start
	for i := range int64(480) { // 8/s for 60 s at nine tenths of capacity
		due := start + i*125e6
		free = max(free, due) + int64(112.5e6*rng.ExpFloat64())
		rows = append(rows, foldtest.Row(due, due, free))
	}
	v := judge(t, evidence(openLoop, rows, nil), query.Options{})
	f := finding(v, "too_short")
	if f == nil || *f.Value < 90 || !strings.Contains(f.Message, "60 s do not decide") {
		t.Errorf("%+v: %s", f, v.Headline)
	}
}

// TestNamelessScenarios says that ids stand where scenarios should.
func TestNamelessScenarios(t *testing.T) {
	t.Parallel()
	ev := evidence(openLoop, nil, nil)
	for i, r := range healthy() {
		g := openLoop
		g.Scenario = fmt.Sprint("user-", i)
		ev.Batches = append(ev.Batches, foldtest.Batches(g, []sample.Row{r}, 1)...)
	}
	v := judge(t, ev, query.Options{})
	if f := finding(v, "too_many_scenarios"); f == nil || *f.Value != 1000 || v.Outcome != wire.OutcomePass || len(v.Run.Scenarios) > 0 {
		t.Errorf("%+v: %s, %d scenarios", f, v.Headline, len(v.Run.Scenarios))
	}
}

// TestWorstLossIsSaid: of two hosts that lost spans the one that lost most is
// named, and a few spans that an SDK gave up do not hide it.
func TestWorstLossIsSaid(t *testing.T) {
	t.Parallel()
	other := openLoop
	other.Source = "late"
	own := func(source, name, attributes string, k sample.Kind) sample.Series {
		return sample.Series{Source: source, Name: name, Attributes: attributes, Kind: k}
	}
	for _, lost := range []float64{0, 0.1} {
		ev := evidence(openLoop, healthy(), nil)
		ev.Batches = append(ev.Batches, foldtest.Batches(other, healthy()[:3000], 512)...)
		ev.Servers = []*sample.Batch{
			growing(own("gen", "http.client.request.duration", "", sample.Histogram), 0, 70, 6200.0/70),
			growing(own("late", "http.client.request.duration", "", sample.Histogram), 0, 70, 6000.0/70),
			growing(own("gen", "otel.sdk.exporter.span.exported", "error.type=x", sample.Counter), 0, 70, lost),
		}
		v := judge(t, ev, query.Options{})
		f := finding(v, "telemetry_lost")
		if f == nil || f.Severity != wire.Invalid || !strings.Contains(f.Message, "of late counted") || v.Audit.Valid {
			t.Errorf("%g spans a second given up: %+v, valid %t", lost, f, v.Audit.Valid)
		}
	}
}
