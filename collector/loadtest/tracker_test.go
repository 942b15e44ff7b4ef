package loadtest_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/plimsoll/plimsoll/collector/loadtest"
)

// clock is a manual clock.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

func newTracker(t *testing.T, now func() time.Time, attrs ...attribute.KeyValue) (*loadtest.Tracker, *sdkmetric.ManualReader) {
	t.Helper()
	reader := sdkmetric.NewManualReader()
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	tracker, err := loadtest.NewTracker(provider.Meter("test"), now, attrs...)
	if err != nil {
		t.Fatal(err)
	}
	return tracker, reader
}

func collect(t *testing.T, reader *sdkmetric.ManualReader) map[string]metricdata.Metrics {
	t.Helper()
	var rm metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &rm); err != nil {
		t.Fatal(err)
	}
	out := map[string]metricdata.Metrics{}
	for _, scope := range rm.ScopeMetrics {
		for _, m := range scope.Metrics {
			out[m.Name] = m
		}
	}
	return out
}

func intPoint(t *testing.T, m metricdata.Metrics, monotonic bool) int64 {
	t.Helper()
	sum, ok := m.Data.(metricdata.Sum[int64])
	if !ok || len(sum.DataPoints) != 1 || sum.IsMonotonic != monotonic ||
		sum.Temporality != metricdata.CumulativeTemporality || m.Unit != "{request}" {
		t.Fatalf("%s: unexpected shape: %+v", m.Name, m)
	}
	return sum.DataPoints[0].Value
}

func TestTrackerReportsFourMetrics(t *testing.T) {
	t.Parallel()
	c := &clock{t: time.Unix(1000, 0)}
	tracker, reader := newTracker(t, c.now, loadtest.Scenario("orders"))

	check := func(scheduled, dropped, inFlight int64, integral float64) {
		t.Helper()
		got := collect(t, reader)
		if v := intPoint(t, got[loadtest.ScheduledMetric], true); v != scheduled {
			t.Errorf("scheduled = %d, want %d", v, scheduled)
		}
		if v := intPoint(t, got[loadtest.DroppedMetric], true); v != dropped {
			t.Errorf("dropped = %d, want %d", v, dropped)
		}
		if v := intPoint(t, got[loadtest.InFlightMetric], false); v != inFlight {
			t.Errorf("in flight = %d, want %d", v, inFlight)
		}
		sum, ok := got[loadtest.InFlightTimeMetric].Data.(metricdata.Sum[float64])
		if !ok || !sum.IsMonotonic || got[loadtest.InFlightTimeMetric].Unit != "s" {
			t.Fatalf("in_flight_time: unexpected shape: %+v", got[loadtest.InFlightTimeMetric])
		}
		if v := sum.DataPoints[0].Value; v != integral {
			t.Errorf("in_flight_time = %v, want %v", v, integral)
		}
		if v, _ := sum.DataPoints[0].Attributes.Value(loadtest.ScenarioKey); v.AsString() != "orders" {
			t.Errorf("scenario = %q, want orders", v.AsString())
		}
	}

	check(0, 0, 0, 0) // zero is reported from the start, so that rates have a first point
	tracker.Scheduled()
	end1 := tracker.Sent()
	c.add(250 * time.Millisecond)
	tracker.Scheduled()
	end2 := tracker.Sent()
	tracker.Scheduled()
	tracker.Dropped()
	c.add(time.Second)
	check(3, 1, 2, 2.25)
	check(3, 1, 2, 2.25) // reading changes nothing
	end1()
	end1() // only the first call counts
	c.add(time.Second)
	check(3, 1, 1, 3.25)
	end2()
	c.add(time.Hour)
	check(3, 1, 0, 3.25)
}

func TestTrackerStop(t *testing.T) {
	t.Parallel()
	tracker, reader := newTracker(t, time.Now)
	if err := tracker.Stop(); err != nil {
		t.Fatal(err)
	}
	if got := collect(t, reader); len(got) != 0 {
		t.Errorf("still reports %d metrics after Stop", len(got))
	}
}

func TestTwoScenariosShareAMeter(t *testing.T) {
	t.Parallel()
	c := &clock{t: time.Unix(0, 0)}
	reader := sdkmetric.NewManualReader()
	meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test")
	for _, name := range []string{"browse", "buy"} {
		tracker, err := loadtest.NewTracker(meter, c.now, loadtest.Scenario(name))
		if err != nil {
			t.Fatal(err)
		}
		tracker.Scheduled()
	}
	sum := collect(t, reader)[loadtest.ScheduledMetric].Data.(metricdata.Sum[int64])
	if len(sum.DataPoints) != 2 {
		t.Fatalf("points = %d, want one per scenario", len(sum.DataPoints))
	}
}

// The integral equals the sum of all lengths of stay, computed in big integers.
func TestIntegralIsExact(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	c := &clock{t: time.Unix(1700000000, 123456789)}
	tracker, _ := newTracker(t, c.now)
	type stay struct {
		since time.Time
		end   func()
	}
	var open []stay
	total := new(big.Int)
	for range 20000 {
		c.add(time.Duration(rng.Int64N(int64(3 * time.Second))))
		if len(open) == 0 || rng.IntN(100) < 52 {
			open = append(open, stay{c.now(), tracker.Sent()})
			continue
		}
		i := rng.IntN(len(open))
		total.Add(total, big.NewInt(int64(c.now().Sub(open[i].since))))
		open[i].end()
		open[i] = open[len(open)-1]
		open = open[:len(open)-1]
	}
	c.add(time.Nanosecond)
	for _, s := range open {
		total.Add(total, big.NewInt(int64(c.now().Sub(s.since))))
	}
	want, _ := new(big.Rat).SetFrac(total, big.NewInt(int64(time.Second))).Float64()
	if got := tracker.Read().InFlightTime; math.Abs(got-want) > want*1e-15 {
		t.Errorf("integral = %.9f, want %.9f", got, want)
	}
}

func TestIntegralBounds(t *testing.T) {
	t.Parallel()
	c := &clock{t: time.Unix(0, 0)}
	tracker, _ := newTracker(t, c.now)
	for range 1000 {
		tracker.Sent()
	}
	c.add(290 * 365 * 24 * time.Hour) // nearly the longest Duration, times 1000
	want := 1000 * 290 * 365 * 24 * 3600.0
	if got := tracker.Read().InFlightTime; got != want {
		t.Errorf("after 290 years: %v, want %v", got, want)
	}
	c.add(-time.Hour)
	if got := tracker.Read().InFlightTime; got != want {
		t.Errorf("a clock step backwards changed the integral to %v", got)
	}
	c.add(time.Second)
	if got := tracker.Read().InFlightTime; got != want+1000 {
		t.Errorf("after the step: %v, want %v", got, want+1000)
	}
}

func TestTrackerConcurrent(t *testing.T) {
	t.Parallel()
	start := time.Now()
	tracker, reader := newTracker(t, time.Now)
	const workers, each = 8, 500
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range each {
				tracker.Scheduled()
				end := tracker.Sent()
				end()
			}
		})
	}
	last := 0.0
	for range 50 {
		collect(t, reader)
		r := tracker.Read()
		if r.InFlightTime < last || r.InFlight < 0 || r.InFlight > workers {
			t.Errorf("reading %+v after %v", r, last)
		}
		last = r.InFlightTime
	}
	wg.Wait()
	r := tracker.Read()
	if r.Scheduled != workers*each || r.InFlight != 0 {
		t.Errorf("at the end: %+v", r)
	}
	if limit := workers * time.Since(start).Seconds(); r.InFlightTime > limit {
		t.Errorf("integral %v is more than %d workers could fill (%v)", r.InFlightTime, workers, limit)
	}
}

func BenchmarkSentAndEnd(b *testing.B) {
	tracker, err := loadtest.NewTracker(sdkmetric.NewMeterProvider().Meter("bench"), time.Now)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		tracker.Sent()()
	}
}
