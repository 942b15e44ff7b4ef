package daemon

import (
	"context"
	"time"
)

// keepEvery is how often finished runs are judged and retention is applied.
const keepEvery = 30 * time.Second

// keep judges runs once they are finished, so that their verdict outlives their
// rows, and then applies retention.
func (d *Daemon) keep() {
	ctx, cancel := context.WithCancel(context.Background())
	d.stopKeeping = cancel
	d.background.Go(func() {
		t := time.NewTicker(keepEvery)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				d.keepOnce(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
}

func (d *Daemon) keepOnce(ctx context.Context) {
	if err := d.api.Settle(ctx); err != nil && ctx.Err() == nil {
		d.cfg.Log.Error("finished runs were not all judged", "error", err)
	}
	removed, err := d.runs.Retain(ctx, time.Duration(d.cfg.RetentionAge), int64(d.cfg.RetentionBytes))
	switch {
	case err != nil && ctx.Err() == nil:
		d.cfg.Log.Error("retention failed", "error", err)
	case removed.Runs+removed.Telemetry+removed.Forgotten > 0:
		d.cfg.Log.Info("retention removed rows", "runs", removed.Runs, "rows", removed.Rows,
			"telemetry_batches", removed.Telemetry, "forgotten", removed.Forgotten)
	}
}
