package pebble

import (
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
)

// logger passes on what the engine says.
type logger struct {
	log     *slog.Logger
	fatal   func(reason string)
	opening atomic.Bool
}

// unopened is the panic that a fatal fault ends the opening of a log with.
type unopened struct{ reason string }

// Infof implements the engine's Logger.
func (l *logger) Infof(format string, args ...any) {
	l.log.Debug("journal engine", "message", fmt.Sprintf(format, args...))
}

// Errorf implements the engine's Logger.
func (l *logger) Errorf(format string, args ...any) {
	l.log.Warn("journal engine", "message", fmt.Sprintf(format, args...))
}

// Fatalf implements the engine's Logger. It does not return: the engine has
// failed between two states, and only opening the directory again, which
// replays its log, brings back a good one. While a log is being opened nothing
// depends on it yet, and the caller gets an error.
func (l *logger) Fatalf(format string, args ...any) {
	reason := fmt.Sprintf(format, args...)
	if l.opening.Load() {
		panic(unopened{reason})
	}
	l.log.Error("journal engine cannot go on", "reason", reason)
	if l.fatal != nil {
		l.fatal(reason)
	}
	os.Exit(1)
}
