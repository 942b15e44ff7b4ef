package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/client"
)

// progressEvery is how long a verdict may take before a line says how far it is,
// and the time between two lines.
const progressEvery = 3 * time.Second

// patiently calls fn and says meanwhile, on a line of its own now and then, how
// much of a long run has been read to judge it.
func patiently(ctx context.Context, to io.Writer, c *client.Client, run string, fn func() error) error {
	ctx, cancel := context.WithCancel(ctx)
	var saying sync.WaitGroup
	saying.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if it, err := c.Run(ctx, run); err == nil && it.Judging != nil {
				fmt.Fprintf(to, "judging %s: %.0f %% read\n", it.ID, 100**it.Judging)
			}
		}
	})
	err := fn()
	cancel()
	saying.Wait()
	return err
}
