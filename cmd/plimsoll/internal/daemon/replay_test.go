package daemon_test

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/query"
	"github.com/plimsoll/plimsoll/analysis/verdict"
	"github.com/plimsoll/plimsoll/collector/convention"
	"github.com/plimsoll/plimsoll/collector/journal"
	"github.com/plimsoll/plimsoll/collector/journal/memory"
	"github.com/plimsoll/plimsoll/collector/otlp"
	"github.com/plimsoll/plimsoll/collector/runs"
)

// replayed are the exports of a generator that cannot be run here, made with the
// names, attributes and temporality that its documentation or source gives.
type replayed struct {
	scope    string
	resource map[string]any
	exports  int
	every    time.Duration
	fill     func(m pmetric.MetricSlice, i int, from, to pcommon.Timestamp)
}

// judge takes the exports in and returns the verdict on their one run.
func (r *replayed) judge(t *testing.T) *wire.Verdict {
	t.Helper()
	begin := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	c, err := runs.New(memory.New(), runs.DefaultConfig(), func() time.Time { return begin.Add(time.Hour) }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	d := otlp.NewDecoder(convention.Default())
	for i := range r.exports {
		req := pmetricotlp.NewExportRequest()
		rm := req.Metrics().ResourceMetrics().AppendEmpty()
		if err := rm.Resource().Attributes().FromRaw(r.resource); err != nil {
			t.Fatal(err)
		}
		sm := rm.ScopeMetrics().AppendEmpty()
		sm.Scope().SetName(r.scope)
		from := begin.Add(time.Duration(i) * r.every)
		r.fill(sm.Metrics(), i, pcommon.NewTimestampFromTime(from), pcommon.NewTimestampFromTime(from.Add(r.every)))
		body, err := req.MarshalProto()
		if err != nil {
			t.Fatal(err)
		}
		batches, err := d.Metrics(body)
		if err != nil || d.Report().Rejected() != 0 {
			t.Fatalf("%v: %s", err, d.Report().Message())
		}
		if _, err := c.Import(t.Context(), journal.ID{byte(i), byte(i >> 8)}, batches); err != nil {
			t.Fatal(err)
		}
	}
	return judged(t, c)
}

// judged finishes the only run there is and judges it.
func judged(t *testing.T, c *runs.Catalogue) *wire.Verdict {
	t.Helper()
	list, _, err := c.List(t.Context(), runs.Query{})
	if err != nil || len(list) != 1 {
		t.Fatalf("%d runs: %v", len(list), err)
	}
	if _, err := c.Finish(t.Context(), list[0].ID); err != nil {
		t.Fatal(err)
	}
	ev, err := c.Open(t.Context(), list[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	v, err := verdict.Analysis{}.Judge(t.Context(), ev, query.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// number adds a metric with one point for each value: a gauge, or the delta of a
// monotonic sum.
func number(m pmetric.MetricSlice, delta bool, name string, from, to pcommon.Timestamp, points map[string]float64, attributes func(key string) map[string]any) {
	metric := m.AppendEmpty()
	metric.SetName(name)
	var list pmetric.NumberDataPointSlice
	if delta {
		s := metric.SetEmptySum()
		s.SetIsMonotonic(true)
		s.SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
		list = s.DataPoints()
	} else {
		list = metric.SetEmptyGauge().DataPoints()
	}
	for _, key := range slices.Sorted(maps.Keys(points)) {
		p := list.AppendEmpty()
		p.SetTimestamp(to)
		if delta {
			p.SetStartTimestamp(from)
		}
		p.SetDoubleValue(points[key])
		_ = p.Attributes().FromRaw(attributes(key))
	}
}

// gatlingEnterprise are 60 s at 50 users/s of one request each, of which one in
// ten fails; by the documentation of its OpenTelemetry integration.
func gatlingEnterprise(histograms bool) *replayed {
	user := func(string) map[string]any { return map[string]any{"load.generator": "g1", "scenario": "orders"} }
	request := func(status string) map[string]any {
		a := map[string]any{"load.generator": "g1", "scenario": "orders", "group": "", "request": "order"}
		if status != "" {
			a["status"] = status
		}
		return a
	}
	code := func(code string) map[string]any {
		a := request("")
		a["code"] = code
		return a
	}
	return &replayed{
		scope: "io.gatling.enterprise", exports: 60, every: time.Second,
		resource: map[string]any{"run.id": "b7c1", "service.name": "gatling.enterprise", "team.name": "shop", "test.name": "orders"},
		fill: func(m pmetric.MetricSlice, _ int, from, to pcommon.Timestamp) {
			sum := func(name string, points map[string]float64, attributes func(string) map[string]any) {
				number(m, true, "gatling_enterprise."+name, from, to, points, attributes)
			}
			gauge := func(name string, points map[string]float64, attributes func(string) map[string]any) {
				number(m, false, "gatling_enterprise."+name, from, to, points, attributes)
			}
			sum("user.start.count", map[string]float64{"": 50}, user)
			sum("user.end.count", map[string]float64{"": 50}, user)
			gauge("user.concurrent", map[string]float64{"": 2}, user)
			sum("request.count", map[string]float64{"": 50}, request)
			sum("response.code.count", map[string]float64{"200": 45, "503": 5}, code)
			gauge("cpu.user", map[string]float64{"": 12}, func(string) map[string]any { return map[string]any{"load.generator": "g1"} })
			if !histograms {
				sum("response.count", map[string]float64{"ok": 45, "ko": 5}, request)
				for _, stat := range []string{"min", "p95", "p99", "p999", "max"} {
					gauge("response.time."+stat, map[string]float64{"ok": 41, "ko": 2}, request)
				}
				return
			}
			metric := m.AppendEmpty()
			metric.SetName("gatling_enterprise.response.time")
			h := metric.SetEmptyExponentialHistogram()
			h.SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
			for status, n := range map[string]uint64{"ok": 45, "ko": 5} {
				p := h.DataPoints().AppendEmpty()
				p.SetStartTimestamp(from)
				p.SetTimestamp(to)
				p.SetScale(3)
				p.SetCount(n)
				p.SetSum(float64(n) * 41)
				p.Positive().SetOffset(42) // (38.1, 41.5] ms
				p.Positive().BucketCounts().FromRaw([]uint64{n})
				_ = p.Attributes().FromRaw(request(status))
			}
		},
	}
}

// nbomber are 60 s at 50/s of a scenario of two steps of which one in ten fails,
// as OpenTelemetrySink.cs of NBomber.Sinks.OpenTelemetry sends them: running
// totals as gauges, every 10 s, those of the end as another operation_type.
func nbomber() *replayed {
	return &replayed{
		scope: "nbomber", exports: 7, every: 10 * time.Second,
		resource: map[string]any{"service.name": "nbomber", "service.instance.id": "5d2f"},
		fill: func(m pmetric.MetricSlice, i int, from, to pcommon.Timestamp) {
			n := float64(500 * min(i+1, 6))
			kinds := []string{"Bombing"}
			if i == 6 {
				kinds = []string{"Bombing", "Complete"} // the SDK exports what it has, old and new
			}
			for _, kind := range kinds {
				steps := map[string]float64{"order": 1, "pay": 1, "global information": 1}
				attributes := func(step string) map[string]any {
					return map[string]any{
						"test_suite": "nbomber_default_test_suite_name", "test_name": "orders", "scenario": "orders",
						"session_id": "2026-11-30_12.00.00", "operation_type": kind, "step": step,
					}
				}
				gauge := func(name string, value float64) {
					for step := range steps {
						steps[step] = value
					}
					number(m, false, name, from, to, steps, attributes)
				}
				gauge("all.request.count", n)
				gauge("ok.request.count", 0.9*n)
				gauge("ok.request.rps", 45)
				for _, stat := range []string{"min", "mean", "max", "stddev", "percent50", "percent75", "percent95", "percent99"} {
					gauge("ok.latency."+stat, 41)
					gauge("fail.latency."+stat, 2)
				}
				gauge("fail.request.count", 0.1*n)
				gauge("fail.request.rps", 5)
				gauge("simulation.value", 50)
				number(m, false, "status_code.count", from, to, map[string]float64{"200": 0.9 * n, "503": 0.1 * n}, func(code string) map[string]any {
					return map[string]any{
						"test_suite": "nbomber_default_test_suite_name", "test_name": "orders", "scenario": "orders",
						"operation_type": kind, "status_code_status": code,
					}
				})
			}
		},
	}
}

// TestReplayed judges what generators send that cannot be run here: counts are
// exact, and no percentile is made of gauges.
func TestReplayed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		from      *replayed
		generator string
		id        string
		service   bool // there are service times
	}{
		{"Gatling Enterprise", gatlingEnterprise(false), "gatling", "b7c1", false},
		{"Gatling Enterprise with histograms", gatlingEnterprise(true), "gatling", "b7c1", true},
		{"NBomber", nbomber(), "nbomber", "", false},
	} {
		v := c.from.judge(t)
		said := ""
		for _, f := range v.Findings {
			said += fmt.Sprintf("\n%s: %s", f.Code, f.Message)
		}
		tot := &v.Totals
		failed := tot.Counts.Error + tot.Counts.Timeout + tot.Counts.Shed + tot.Counts.Cancelled
		if v.Run.Generator != c.generator || v.Run.Grade == nil || *v.Run.Grade != "F" || c.id != "" && v.Run.ID != c.id {
			t.Errorf("%s: run %q of %q, grade %v", c.name, v.Run.ID, v.Run.Generator, v.Run.Grade)
		}
		if tot.Sent != 3000 || failed != 300 {
			t.Errorf("%s: %d sent, %d failed; want 3000 and 300: %s%s", c.name, tot.Sent, failed, v.Headline, said)
		}
		if s := &tot.ServiceTime; tot.ResponseTime.Valid || (s.P95.Value != nil || s.P95.Hi != nil) != c.service {
			t.Errorf("%s: response times %+v, service times %+v", c.name, tot.ResponseTime, s.P95)
		} else if c.service && (*s.P95.Lo > 0.041 || *s.P95.Hi < 0.041 || *s.P95.Hi > 0.042) {
			t.Errorf("%s: p95 from %v to %v s", c.name, *s.P95.Lo, *s.P95.Hi)
		}
		if testing.Verbose() {
			t.Logf("%s: %s%s", c.name, v.Headline, said)
		}
	}
}
