package generator

import (
	"errors"
	"fmt"
	"net/url"
	"time"
)

// Config says what to send, and how patient the client is.
type Config struct {
	URL      string // where each request is posted
	RunID    string // prefix of the request ids
	Scenario string
	Schedule Schedule

	Timeout  time.Duration // of one attempt
	Attempts int           // at most, for one request
	Backoff  time.Duration // before the second attempt; doubles, with up to half of it added at random
	Deadline time.Duration // the user's patience, for the whole request

	// RetryBudget is the share of requests that may be retried: 0.1 lets retries
	// add a tenth to the load. Zero means that every failed request is retried.
	RetryBudget float64
	// HonourRetryAfter waits as long as a shedding server asks, and gives up when
	// that would pass the deadline.
	HonourRetryAfter bool

	MaxInFlight int // requests in flight above which arrivals are dropped
	Seed        uint64
}

// Validate reports every problem of the configuration.
func (c Config) Validate() error {
	errs := []error{c.Schedule.Validate()}
	if u, err := url.Parse(c.URL); err != nil || u.Scheme != "http" || u.Host == "" {
		errs = append(errs, fmt.Errorf("URL %q: want http://host:port/path", c.URL))
	}
	if c.RunID == "" {
		errs = append(errs, errors.New("run id: want one"))
	}
	if c.Timeout <= 0 {
		errs = append(errs, fmt.Errorf("timeout %v: want more than 0", c.Timeout))
	}
	if c.Attempts < 1 || c.Attempts > 10 {
		errs = append(errs, fmt.Errorf("attempts %d: want 1 to 10", c.Attempts))
	}
	if c.Backoff < 0 {
		errs = append(errs, fmt.Errorf("backoff %v: want 0 or more", c.Backoff))
	}
	if c.Deadline < 0 {
		errs = append(errs, fmt.Errorf("deadline %v: want 0 (none) or more", c.Deadline))
	}
	if c.RetryBudget < 0 || c.RetryBudget > 1 {
		errs = append(errs, fmt.Errorf("retry budget %v: want 0 (unlimited) to 1", c.RetryBudget))
	}
	if c.MaxInFlight < 1 {
		errs = append(errs, fmt.Errorf("cap on requests in flight %d: want 1 or more", c.MaxInFlight))
	}
	return errors.Join(errs...)
}

// Longest is the longest time that one request can take: all attempts time out,
// with the longest backoff between them. A server that asks for a longer pause
// is obeyed only within the deadline.
func (c Config) Longest() time.Duration {
	d := c.Timeout * time.Duration(c.Attempts)
	for i := 1; i < c.Attempts; i++ {
		d += (c.Backoff << (i - 1)) * 3 / 2
	}
	if c.HonourRetryAfter {
		d += max(0, c.Deadline-c.Timeout)
	}
	return d
}
