package generator

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/plimsoll/plimsoll/collector/loadtest"
	"github.com/plimsoll/plimsoll/demo/service"
)

// Generator sends one schedule.
type Generator struct {
	cfg     Config
	client  *client
	tracer  trace.Tracer
	tracker *loadtest.Tracker
	budget  *budget
	ledger  *ledger
	common  []attribute.KeyValue // of every span

	mu  sync.Mutex
	rng *rand.Rand
}

// New prepares a generator. The tracer takes one CLIENT span per attempt, the
// meter the loadtest metrics.
func New(cfg Config, tracer trace.Tracer, meter metric.Meter) (*Generator, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("configure generator: %w", err)
	}
	tracker, err := loadtest.NewTracker(meter, time.Now, loadtest.Scenario(cfg.Scenario))
	if err != nil {
		return nil, err
	}
	host, port := address(cfg.URL)
	return &Generator{
		cfg: cfg, client: newClient(cfg.URL, cfg.MaxInFlight), tracer: tracer, tracker: tracker,
		budget: &budget{share: cfg.RetryBudget}, ledger: newLedger(cfg.Schedule),
		rng: rand.New(rand.NewPCG(cfg.Seed, 0)),
		common: []attribute.KeyValue{
			loadtest.Scenario(cfg.Scenario),
			attribute.String("http.request.method", http.MethodPost),
			attribute.String("url.full", cfg.URL),
			attribute.String("url.template", service.Path),
			attribute.String("server.address", host),
			attribute.Int("server.port", port),
		},
	}, nil
}

// Run sends the schedule, beginning at start, and returns when every request has
// ended. A cancelled context stops it early: requests in flight end as cancelled
// and the report covers what was due until then.
func (g *Generator) Run(ctx context.Context, start time.Time) Report {
	defer g.client.close()
	clock := anchored{start}
	timer := time.NewTimer(0)
	defer timer.Stop()
	var wg sync.WaitGroup
	for a := range g.cfg.Schedule.Arrivals() {
		if !waitUntil(ctx, timer, start.Add(a.After)) {
			break
		}
		g.tracker.Scheduled()
		g.budget.request()
		if !g.ledger.admit(a.Step, g.cfg.MaxInFlight) {
			g.tracker.Dropped()
			continue
		}
		wg.Go(func() { g.request(ctx, clock, a) })
	}
	wg.Wait()
	return g.ledger.report()
}

// Progress returns the counts so far.
func (g *Generator) Progress() Counts { return g.ledger.total() }

// request makes as many attempts as it takes and is allowed.
func (g *Generator) request(ctx context.Context, clock anchored, a Arrival) {
	due := clock.start.Add(a.After)
	id := g.cfg.RunID + "-" + strconv.Itoa(a.Index)
	end := g.tracker.Sent()
	for attempt := 0; ; attempt++ {
		sent := clock.now()
		_, span := g.tracer.Start(context.Background(), http.MethodPost+" "+service.Path,
			trace.WithTimestamp(sent), trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(g.common...),
			trace.WithAttributes(loadtest.Intended(due), loadtest.RequestID(id), loadtest.Step(g.cfg.Schedule[a.Step].Name)))
		if attempt > 0 {
			span.SetAttributes(attribute.Int("http.request.resend_count", attempt))
		}
		got := g.client.post(ctx, g.cfg.Timeout)
		done := clock.now()
		// Decided before the span ends, or the flag would be lost. From here on
		// the next attempt is made whatever happens; when the run is stopped
		// during the pause it ends at once, as cancelled.
		pause, again := g.again(got, attempt, due, done)
		if !again {
			end()
		}
		span.SetAttributes(loadtest.LastAttempt(!again))
		finish(span, got, done)
		g.ledger.attempt(a.Step)
		if !again {
			g.ledger.end(a.Step, got.outcome, done.Sub(due), g.cfg.Deadline)
			return
		}
		pauseFor(ctx, pause)
	}
}

// again decides whether another attempt follows, and after which pause.
func (g *Generator) again(got answer, attempt int, due, done time.Time) (time.Duration, bool) {
	if !got.retriable() || attempt+1 >= g.cfg.Attempts {
		return 0, false
	}
	g.mu.Lock()
	jitter := g.rng.Float64()
	g.mu.Unlock()
	pause := time.Duration(float64(g.cfg.Backoff<<attempt) * (1 + jitter/2))
	if g.cfg.HonourRetryAfter && got.retryAfter > 0 {
		pause = max(pause, got.retryAfter+time.Duration(jitter*float64(g.cfg.Backoff)))
		if g.cfg.Deadline > 0 && done.Add(pause).Sub(due) >= g.cfg.Deadline {
			return 0, false // nobody would be there to read the answer
		}
	}
	return pause, g.budget.take()
}

func finish(span trace.Span, got answer, done time.Time) {
	if got.status != 0 {
		span.SetAttributes(attribute.Int("http.response.status_code", got.status))
	}
	if got.errorType != "" {
		span.SetAttributes(attribute.String("error.type", got.errorType))
		span.SetStatus(codes.Error, "")
	}
	span.End(trace.WithTimestamp(done))
}

// anchored is a clock that reads the wall once, at start, and counts on
// monotonically: a step of the wall clock cannot come between a due time and the
// times of its spans.
type anchored struct{ start time.Time }

func (c anchored) now() time.Time { return c.start.Add(time.Since(c.start)) }

// waitUntil sleeps until t; false when the context ends first. A time that has
// passed is not waited for: a late generator sends at once.
func waitUntil(ctx context.Context, timer *time.Timer, t time.Time) bool {
	d := time.Until(t)
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer.Reset(d)
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func pauseFor(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
