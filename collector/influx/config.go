package influx

import (
	"errors"
	"fmt"
	"time"
)

// Config bounds what a server accepts.
type Config struct {
	MaxBody     int64         // bytes of a body, compressed or not; 1 MiB to 64 MiB
	MaxInFlight int64         // bytes of all bodies being handled; more are asked to come back
	ReadTimeout time.Duration // for the body of one request
	RetryAfter  time.Duration // what senders are told when there is no room
	Token       string        // token that requests must carry; empty for none
	Version     string        // told to clients that ask
}

// DefaultConfig returns limits for a sidecar.
func DefaultConfig() Config {
	return Config{MaxBody: 16 << 20, MaxInFlight: 256 << 20, ReadTimeout: 30 * time.Second, RetryAfter: time.Second, Version: "devel"}
}

// Validate reports everything that is wrong with the configuration.
func (c *Config) Validate() error {
	var errs []error
	if c.MaxBody < 1<<20 || c.MaxBody > 64<<20 {
		errs = append(errs, fmt.Errorf("max body must be between 1 MiB and 64 MiB, not %d bytes", c.MaxBody))
	}
	if c.MaxInFlight < c.MaxBody {
		errs = append(errs, fmt.Errorf("max in flight (%d bytes) must not be below max body (%d bytes)", c.MaxInFlight, c.MaxBody))
	}
	if c.ReadTimeout <= 0 || c.RetryAfter < 0 {
		errs = append(errs, errors.New("read timeout must be positive, retry after not negative"))
	}
	return errors.Join(errs...)
}
