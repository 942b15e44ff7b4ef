package otlp

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"
)

// Config bounds what a server accepts.
type Config struct {
	MaxBody        int64         // bytes of a request, compressed or not; 1 MiB to 64 MiB
	MaxInFlight    int64         // bytes of all requests being handled; more are asked to come back
	MaxRequests    int           // requests being handled over gRPC
	MaxConnections int           // connections of each listener; more are closed at once
	ReadTimeout    time.Duration // for a whole HTTP request
	IdleTimeout    time.Duration // of a connection
	StopTimeout    time.Duration // for requests being handled when the server stops
	RetryAfter     time.Duration // what senders are told when there is no room
	TLS            *tls.Config   // nil for plain text
	Token          string        // bearer token that requests must carry; empty for none
}

// DefaultConfig returns limits for a sidecar.
func DefaultConfig() Config {
	return Config{
		MaxBody: 16 << 20, MaxInFlight: 256 << 20, MaxRequests: 32, MaxConnections: 512,
		ReadTimeout: 30 * time.Second, IdleTimeout: 5 * time.Minute, StopTimeout: 5 * time.Second, RetryAfter: time.Second,
	}
}

// Validate reports everything that is wrong with the configuration.
func (c *Config) Validate() error {
	var problems []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	check(c.MaxBody >= 1<<20 && c.MaxBody <= 64<<20, "max body must be between 1 MiB and 64 MiB, not %d bytes", c.MaxBody)
	check(c.MaxInFlight >= c.MaxBody, "max in flight (%d bytes) must not be below max body (%d bytes)", c.MaxInFlight, c.MaxBody)
	check(c.MaxRequests > 0, "max requests must be positive, not %d", c.MaxRequests)
	check(c.MaxConnections > 0, "max connections must be positive, not %d", c.MaxConnections)
	check(c.ReadTimeout > 0 && c.IdleTimeout > 0 && c.StopTimeout > 0, "timeouts must be positive")
	check(c.RetryAfter >= 0, "retry after must not be negative")
	return errors.Join(problems...)
}
