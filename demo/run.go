package demo

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/plimsoll/plimsoll/collector/loadtest"
	"github.com/plimsoll/plimsoll/demo/generator"
	"github.com/plimsoll/plimsoll/demo/service"
	"github.com/plimsoll/plimsoll/demo/telemetry"
)

const (
	lead           = 200 * time.Millisecond // from being ready to the first arrival
	probeTimeout   = 5 * time.Second
	flushTimeout   = 15 * time.Second
	abandonTimeout = time.Second // to stop what never got going
)

// Result is what the demonstration itself saw. The verdict comes from the
// analysis, which knows only what was sent to it.
type Result struct {
	RunID     string
	RunName   string
	Fixed     bool
	Started   time.Time // of the schedule
	Ended     time.Time // when the last request had ended
	Capacity  float64   // of the service, per second
	Generator generator.Report
	Naive     *generator.ClosedReport // nil when there was no twin
	Service   service.Stats           // of the instance under the open loop
	Telemetry telemetry.Stats         // of the generator
}

// Run runs the demonstration and returns when all its telemetry is delivered.
// When the context is cancelled it stops early, delivers what there is, and
// returns the result so far together with the context's error. An error with a
// result also says that telemetry was lost.
func Run(ctx context.Context, cfg Config) (Result, error) {
	cfg, err := cfg.Prepared()
	if err != nil {
		return Result{}, err
	}
	// A run cannot outlast its schedule by more than its longest request.
	ctx, cancel := context.WithTimeout(ctx, cfg.Expected()+cfg.generator("").Longest()+flushTimeout)
	defer cancel()
	r, err := open(ctx, cfg)
	if err != nil {
		_ = r.close(ctx, abandonTimeout) // nothing was measured, and the first error says why
		return Result{}, err
	}
	result, err := r.run(ctx)
	result.Service = r.orders.Stats()
	err = errors.Join(err, r.close(ctx, flushTimeout))
	result.Telemetry = r.client.Stats()
	if lost := result.Generator.Total.Attempts - result.Telemetry.Spans; lost > 0 {
		err = errors.Join(err, fmt.Errorf("deliver spans: %d of %d were lost", lost, result.Generator.Total.Attempts))
	}
	return result, err
}

// rig is everything that a run starts and must stop.
type rig struct {
	cfg    Config
	client *telemetry.Pipeline // of the generator
	server *telemetry.Pipeline // of the order service
	orders *service.Service    // under the open loop
	twin   *service.Service    // under the closed loop; nil when there is none
	gen    *generator.Generator
}

// open starts all parts. The rig is valid, and must be closed, even when it fails.
func open(ctx context.Context, cfg Config) (*rig, error) {
	r := &rig{cfg: cfg}
	var err error
	if r.server, err = telemetry.Open(ctx, cfg.telemetry(), 0, []attribute.KeyValue{
		attribute.String("service.name", ServiceName),
		attribute.String("service.instance.id", cfg.RunID),
	}); err != nil {
		return r, err
	}
	if r.orders, err = service.Start(ctx, cfg.Service, r.server.Meter(scope), cfg.Logger); err != nil {
		return r, err
	}
	if cfg.ClosedWorkers > 0 {
		if r.twin, err = service.Start(ctx, cfg.Service, noop.Meter{}, cfg.Logger); err != nil {
			return r, err
		}
	}
	run := loadtest.Run{
		ID: cfg.RunID, Name: RunName, Generator: GeneratorName,
		ArrivalModel: loadtest.ModelOpen, ArrivalProcess: loadtest.ProcessConstant, Deadline: cfg.Deadline,
	}
	spans := cfg.Profile.Count()*cfg.Attempts + 1
	if r.client, err = telemetry.Open(ctx, cfg.telemetry(), spans, append([]attribute.KeyValue{
		attribute.String("service.name", GeneratorService),
		attribute.String("service.instance.id", cfg.RunID),
	}, run.Attributes()...)); err != nil {
		return r, err
	}
	if r.gen, err = generator.New(cfg.generator(r.orders.URL()), r.client.Tracer(scope), r.client.Meter(scope)); err != nil {
		return r, err
	}
	probe, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	return r, r.client.Probe(probe)
}

// run drives both loops over the schedule.
func (r *rig) run(ctx context.Context) (Result, error) {
	result := Result{RunID: r.cfg.RunID, RunName: RunName, Fixed: r.cfg.Fixed, Capacity: r.cfg.Service.Capacity()}
	start := time.Now().Add(lead)
	result.Started = start
	var wg sync.WaitGroup
	over := make(chan struct{})
	if r.cfg.Progress != nil {
		wg.Go(func() { r.watch(start, over) })
	}
	var naive generator.ClosedReport
	var naiveErr error
	if r.twin != nil {
		wg.Go(func() {
			closed := generator.Closed{URL: r.twin.URL(), Schedule: r.cfg.Profile, Workers: r.cfg.ClosedWorkers, Timeout: r.cfg.Timeout}
			naive, naiveErr = closed.Run(ctx, start)
		})
	}
	result.Generator = r.gen.Run(ctx, start)
	result.Ended = time.Now()
	close(over)
	wg.Wait()
	if r.twin != nil {
		result.Naive = &naive
	}
	return result, errors.Join(naiveErr, ctx.Err())
}

// close delivers the telemetry, while the service still shows its backlog, and
// stops all parts. It has its own time, so that a cancelled run is flushed too.
func (r *rig) close(ctx context.Context, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	var errs []error
	for _, p := range []*telemetry.Pipeline{r.client, r.server} {
		if p != nil {
			errs = append(errs, p.Close(ctx))
		}
	}
	for _, s := range []*service.Service{r.orders, r.twin} {
		if s != nil {
			errs = append(errs, s.Close(ctx))
		}
	}
	return errors.Join(errs...)
}
