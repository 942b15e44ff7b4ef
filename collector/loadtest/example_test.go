package loadtest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/plimsoll/plimsoll/collector/loadtest"
)

// A whole generator: arrivals follow the schedule whatever the server does, and
// each request says when it was due.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()

	// In a real generator the exporter is otlptracegrpc or otlptracehttp.
	spans := tracetest.NewInMemoryExporter()
	res := resource.NewSchemaless(loadtest.Run{
		ID: "orders-42", Name: "orders", Generator: "my-generator",
		ArrivalModel: loadtest.ModelOpen, ArrivalProcess: loadtest.ProcessConstant,
		Deadline: time.Second,
	}.Attributes()...)
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans), sdktrace.WithResource(res))
	meters := metric.NewMeterProvider(metric.WithReader(metric.NewManualReader()), metric.WithResource(res))
	tracer := tracers.Tracer("my-generator")
	tracker, err := loadtest.NewTracker(meters.Meter("my-generator"), time.Now)
	if err != nil {
		fmt.Println(err)
		return
	}

	start, rate := time.Now(), 200.0
	var wg sync.WaitGroup
	for i := range 5 {
		// The due time comes from the schedule and one start, so it cannot drift.
		due := start.Add(time.Duration(float64(i) / rate * float64(time.Second)))
		time.Sleep(time.Until(due))
		tracker.Scheduled()
		wg.Go(func() {
			end := tracker.Sent()
			defer end()
			_, span := tracer.Start(context.Background(), "GET", trace.WithSpanKind(trace.SpanKindClient),
				trace.WithAttributes(loadtest.Intended(due), loadtest.Index(int64(i)), loadtest.LastAttempt(true),
					attribute.String("http.request.method", http.MethodGet)))
			defer span.End()
			if resp, err := http.Get(server.URL); err == nil {
				span.SetAttributes(attribute.Int("http.response.status_code", resp.StatusCode))
				_ = resp.Body.Close()
			}
		})
	}
	wg.Wait()

	late := 0
	for _, s := range spans.GetSpans() {
		for _, a := range s.Attributes {
			if a.Key == loadtest.IntendedTimeKey && s.StartTime.UnixNano() < a.Value.AsInt64() {
				late++
			}
		}
	}
	fmt.Println(len(spans.GetSpans()), "requests,", late, "sent before they were due")
	fmt.Println(tracker.Read().Scheduled, "scheduled,", tracker.Read().InFlight, "in flight")
	// Output:
	// 5 requests, 0 sent before they were due
	// 5 scheduled, 0 in flight
}

// The mean in flight between any two exports is exact, however far apart.
func ExampleTracker() {
	now := time.Unix(0, 0) // a manual clock; pass time.Now
	meter := metric.NewMeterProvider().Meter("my-generator")
	tracker, err := loadtest.NewTracker(meter, func() time.Time { return now })
	if err != nil {
		fmt.Println(err)
		return
	}

	tracker.Scheduled()
	end := tracker.Sent()
	now = now.Add(2 * time.Second)
	end()
	now = now.Add(8 * time.Second)
	tracker.Scheduled()
	tracker.Dropped() // no worker was free: say so, never wait silently

	r := tracker.Read()
	fmt.Printf("%d scheduled, %d dropped, mean in flight %.1f\n", r.Scheduled, r.Dropped, r.InFlightTime/10)
	// Output: 2 scheduled, 1 dropped, mean in flight 0.2
}

// A request that is retried repeats its due time; only the last attempt ends it.
func ExampleLastAttempt() {
	due := time.Unix(1, 0)
	for attempt := range 2 {
		fmt.Println(
			loadtest.RequestID("order-1").Value.AsString(),
			loadtest.Intended(due).Value.AsInt64(),
			loadtest.LastAttempt(attempt == 1).Value.AsBool())
	}
	// Output:
	// order-1 1000000000 false
	// order-1 1000000000 true
}
