package runs

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Fixed bounds of time.
const (
	// Gap is the silence that divides the runs of a source.
	Gap = 10 * time.Minute
	// Silence is the least time without data after which a run is finished.
	Silence = 10 * time.Minute
	// Ahead is how far rows may be ahead of the clock.
	Ahead = 5 * time.Minute
	// Grace is how long after its declared end a run still takes old rows.
	Grace = 24 * time.Hour

	gap     = int64(Gap)
	silence = int64(Silence)
)

// Errors that callers tell apart.
var (
	// ErrNotFound says that no run answers to the reference.
	ErrNotFound = errors.New("no such run")
	// ErrDeclaredOtherwise says that the run has another declaration already.
	ErrDeclaredOtherwise = errors.New("run is declared otherwise already")
	// ErrBadCursor says that a list cursor was not made by List.
	ErrBadCursor = errors.New("malformed cursor")
	// ErrTooMany says that a bound on runs or marks is reached.
	ErrTooMany = errors.New("too many")
	// ErrRemoved says that rows of the snapshot have been deleted since.
	ErrRemoved = errors.New("rows have been removed")
)

// InvalidError lists every problem of a declaration, a mark or an id.
type InvalidError struct{ Problems []string }

// Error joins the problems.
func (e *InvalidError) Error() string { return "invalid: " + strings.Join(e.Problems, "; ") }

// Config bounds the catalogue.
type Config struct {
	MaxAge     time.Duration // rows older than this are refused; 0 = no limit
	MaxRuns    int           // runs in the index, those without rows included
	MaxSources int           // sources that name no run
	MaxMarks   int           // marks of one run
}

// DefaultConfig returns the bounds of a server that was told nothing.
func DefaultConfig() Config {
	return Config{MaxAge: 24 * time.Hour, MaxRuns: 10_000, MaxSources: 2_000, MaxMarks: 1_000}
}

// Validate names every problem of the configuration.
func (c Config) Validate() error {
	var errs []error
	if c.MaxAge < 0 {
		errs = append(errs, fmt.Errorf("max age %v is negative", c.MaxAge))
	}
	for _, n := range []struct {
		name  string
		value int
	}{{"max runs", c.MaxRuns}, {"max sources", c.MaxSources}, {"max marks", c.MaxMarks}} {
		if n.value <= 0 {
			errs = append(errs, fmt.Errorf("%s %d is not positive", n.name, n.value))
		}
	}
	return errors.Join(errs...)
}
