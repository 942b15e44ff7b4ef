package service

import (
	"errors"
	"fmt"
	"time"
)

// Config says how much the service can carry and what it does with the rest.
type Config struct {
	Slots       int           // orders served at the same time
	ServiceTime time.Duration // mean time in a slot
	Jitter      float64       // a service time varies evenly within ±Jitter of the mean, 0..1
	Seed        uint64        // of the variation

	// QueueLimit bounds the orders that wait for a slot; one more is shed with
	// 503. Zero means unbounded.
	QueueLimit int
	// DropExpired drops, when its turn comes, an order whose client has gone or
	// whose deadline has passed, instead of serving it.
	DropExpired bool
	// RetryAfter is what a shed client is asked to wait. Whole seconds are sent.
	RetryAfter time.Duration
}

// Broken returns the common service: unbounded queue, nothing is ever dropped.
// It carries 100 orders a second.
func Broken() Config {
	return Config{Slots: 4, ServiceTime: 40 * time.Millisecond, Jitter: 0.3, Seed: 1}
}

// Fixed returns the same service with a bounded queue, load shedding and
// deadlines.
func Fixed() Config {
	c := Broken()
	c.QueueLimit = 40
	c.DropExpired = true
	c.RetryAfter = time.Second
	return c
}

// Capacity is the highest rate that the service can sustain, per second.
func (c Config) Capacity() float64 {
	return float64(c.Slots) / c.ServiceTime.Seconds()
}

// Validate reports every problem of the configuration.
func (c Config) Validate() error {
	var errs []error
	if c.Slots < 1 || c.Slots > 10000 {
		errs = append(errs, fmt.Errorf("slots %d: want 1 to 10000", c.Slots))
	}
	if c.ServiceTime <= 0 {
		errs = append(errs, fmt.Errorf("service time %v: want more than 0", c.ServiceTime))
	}
	if c.Jitter < 0 || c.Jitter >= 1 {
		errs = append(errs, fmt.Errorf("jitter %v: want 0 or more, below 1", c.Jitter))
	}
	if c.QueueLimit < 0 {
		errs = append(errs, fmt.Errorf("queue limit %d: want 0 (unbounded) or more", c.QueueLimit))
	}
	if c.RetryAfter < 0 {
		errs = append(errs, fmt.Errorf("retry after %v: want 0 or more", c.RetryAfter))
	}
	return errors.Join(errs...)
}
