package demo

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/collector/loadtest"
	"github.com/plimsoll/plimsoll/demo/generator"
	"github.com/plimsoll/plimsoll/demo/service"
	"github.com/plimsoll/plimsoll/demo/telemetry"
)

// Names that the demonstration's telemetry carries.
const (
	RunName          = "orders"
	Scenario         = "orders"
	GeneratorName    = "plimsoll-demo"
	ServiceName      = "orders"
	GeneratorService = "orders-loadtest"
	scope            = "github.com/plimsoll/plimsoll/demo"
)

// Config says what to run and where to send the telemetry. Begin with
// DefaultConfig.
type Config struct {
	OTLPEndpoint string // host:port of the OTLP receiver
	OTLPProtocol string // telemetry.GRPC or telemetry.HTTP
	AllowRemote  bool   // permit an endpoint that is not loopback; it is plain text

	Fixed bool   // the service bounds its queue, sheds and drops expired orders; the client has a retry budget
	RunID string // empty: demo-<time> or demo-fixed-<time>; call Prepared to know it before the run

	Profile generator.Schedule
	Scale   float64 // multiplies the durations of the profile; 1 is about a minute

	Service       service.Config // of both instances
	Timeout       time.Duration  // of one attempt
	Attempts      int            // at most, for one request
	Backoff       time.Duration
	Deadline      time.Duration // the user's patience
	RetryBudget   float64       // 0: every failed request is retried
	MaxInFlight   int           // of the generator
	ClosedWorkers int           // of the naive twin; 0 runs none
	Interval      time.Duration // between exports

	Progress      func(Snapshot) // called from one goroutine; nil for none
	ProgressEvery time.Duration
	Now           func() time.Time
	Logger        *slog.Logger
}

// DefaultConfig returns the demonstration as shown in the documentation. The
// clock is the caller's, usually time.Now.
func DefaultConfig(fixed bool, now func() time.Time) Config {
	c := Config{
		OTLPEndpoint: "127.0.0.1:4317", OTLPProtocol: telemetry.GRPC,
		Fixed: fixed, Profile: DefaultProfile(), Scale: 1, Service: service.Broken(),
		Timeout: time.Second, Attempts: 3, Backoff: 50 * time.Millisecond, Deadline: 2 * time.Second,
		MaxInFlight: 5000, ClosedWorkers: 20, Interval: time.Second,
		ProgressEvery: time.Second, Now: now, Logger: slog.New(slog.DiscardHandler),
	}
	if fixed {
		c.Service = service.Fixed()
		c.RetryBudget = 0.1
	}
	return c
}

// DefaultProfile climbs to 90 % of the service's capacity, pushes to 130 % for
// ten seconds, and returns to a rate that was carried with ease on the way up.
func DefaultProfile() generator.Schedule {
	return generator.Schedule{
		{Name: "40/s", Rate: 40, Duration: 8 * time.Second},
		{Name: "60/s", Rate: 60, Duration: 8 * time.Second},
		{Name: "80/s", Rate: 80, Duration: 8 * time.Second},
		{Name: "90/s", Rate: 90, Duration: 8 * time.Second},
		{Name: "push 130/s", Rate: 130, Duration: 10 * time.Second},
		{Name: "back to 60/s", Rate: 60, Duration: 18 * time.Second},
	}
}

// Prepared returns the configuration with its run id filled in and its profile
// scaled, so that the run can be declared before it begins.
func (c Config) Prepared() (Config, error) {
	if err := c.validate(); err != nil {
		return c, fmt.Errorf("configure demo: %w", err)
	}
	if c.RunID == "" {
		prefix := "demo-"
		if c.Fixed {
			prefix = "demo-fixed-"
		}
		c.RunID = prefix + c.Now().UTC().Format("20060102-150405")
	}
	scaled := make(generator.Schedule, len(c.Profile))
	for i, s := range c.Profile {
		s.Duration = time.Duration(float64(s.Duration) * c.Scale)
		scaled[i] = s
	}
	c.Profile, c.Scale = scaled, 1
	return c, nil
}

// Declaration is what the run is meant to be, for POST /api/v1/runs. Call it on
// a Prepared configuration. It promises nothing: the verdict is about the knee
// and the recovery.
func (c Config) Declaration() wire.Declaration {
	deadline, timeout := c.Deadline.Seconds(), c.generator("").Longest().Seconds()
	d := wire.Declaration{
		ID: c.RunID, Name: RunName, DeadlineS: &deadline, TimeoutS: &timeout,
		Arrival: &wire.Arrival{Model: loadtest.ModelOpen, Process: loadtest.ProcessConstant},
	}
	for _, s := range c.Profile {
		d.Steps = append(d.Steps, wire.DeclareStep{
			Name: s.Name, RatePerS: s.Rate, DurationS: s.Duration.Seconds() * c.Scale,
		})
	}
	return d
}

// Expected is how long the run takes, flushing aside.
func (c Config) Expected() time.Duration {
	return time.Duration(float64(c.Profile.Duration())*c.Scale) + lead
}

func (c Config) generator(url string) generator.Config {
	return generator.Config{
		URL: url, RunID: c.RunID, Scenario: Scenario, Schedule: c.Profile,
		Timeout: c.Timeout, Attempts: c.Attempts, Backoff: c.Backoff, Deadline: c.Deadline,
		RetryBudget: c.RetryBudget, HonourRetryAfter: c.Fixed, MaxInFlight: c.MaxInFlight, Seed: 1,
	}
}

func (c Config) telemetry() telemetry.Config {
	return telemetry.Config{Endpoint: c.OTLPEndpoint, Protocol: c.OTLPProtocol, Interval: c.Interval}
}

func (c Config) validate() error {
	errs := []error{c.telemetry().Validate(), c.Service.Validate(), c.Profile.Validate()}
	if !c.AllowRemote && !loopback(c.OTLPEndpoint) {
		errs = append(errs, fmt.Errorf("OTLP endpoint %q is not on this machine: allow it explicitly", c.OTLPEndpoint))
	}
	if !(c.Scale > 0 && c.Scale <= 60) {
		errs = append(errs, fmt.Errorf("scale %v: want more than 0, at most 60", c.Scale))
	}
	if c.ClosedWorkers < 0 {
		errs = append(errs, fmt.Errorf("closed workers %d: want 0 or more", c.ClosedWorkers))
	}
	if c.Now == nil || c.Logger == nil {
		errs = append(errs, errors.New("clock and logger: want both"))
	}
	if c.Progress != nil && c.ProgressEvery <= 0 {
		errs = append(errs, fmt.Errorf("progress every %v: want more than 0", c.ProgressEvery))
	}
	return errors.Join(errs...)
}

func loopback(endpoint string) bool {
	host, _, err := net.SplitHostPort(endpoint)
	if err != nil {
		return false
	}
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}
