package importing

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/plimsoll/plimsoll/collector/convention"
	"github.com/plimsoll/plimsoll/collector/journal/pebble"
	"github.com/plimsoll/plimsoll/collector/runs"
)

// Open opens a data directory that no server has open. Close what it returns.
func Open(dir string, table *convention.Table, now func() time.Time, log *slog.Logger) (*Importer, func() error, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("make data directory: %w", err)
	}
	engine, err := pebble.Open(dir, pebble.Options{Logger: log})
	if errors.Is(err, pebble.ErrInUse) {
		return nil, nil, fmt.Errorf("open data directory %s: %w (leave --data-dir out to import through the server that has it open)", dir, err)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("open data directory %s: %w", dir, err)
	}
	catalogue, err := runs.New(engine, runs.DefaultConfig(), now, log)
	if err != nil {
		return nil, nil, errors.Join(err, engine.Close())
	}
	return &Importer{Runs: catalogue, Table: table}, engine.Close, nil
}
