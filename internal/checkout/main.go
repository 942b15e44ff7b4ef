// Command checkout gives a server the runs of the checkout example: the service
// before its fix, whose clients time out and try again, and after it, when it
// turns the excess away. Their rows are made from the published tables, so that
// every count of the tables comes out, and go through the real ports.
//
//	checkout -api http://127.0.0.1:4319 -otlp http://127.0.0.1:4318 -ended 2026-11-30T12:00:00Z
//
// The first run ends at the time given and lasts 82 minutes, the second lasts 41
// and ends with it, on a service of its own.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/plimsoll/plimsoll/internal/program"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "checkout:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("checkout", flag.ContinueOnError)
	api := flags.String("api", "http://127.0.0.1:4319", "base URL of the server's HTTP API")
	otlp := flags.String("otlp", "http://127.0.0.1:4318", "base URL of its OTLP/HTTP port")
	at := flags.String("ended", "", "when the runs ended (RFC 3339)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ended, err := time.Parse(time.RFC3339, *at)
	if err != nil {
		return fmt.Errorf("read -ended: %w", err)
	}
	for _, e := range []*example{before(), after()} {
		if err := e.give(ctx, *api, *otlp, ended); err != nil {
			return fmt.Errorf("give run %s: %w", e.id, err)
		}
	}
	return nil
}

// give declares the run, sends its rows and levels, and finishes it.
func (e *example) give(ctx context.Context, api, otlp string, ended time.Time) error {
	from := ended.Add(-e.lasts())
	body, err := json.Marshal(e.declaration(from))
	if err != nil {
		return err
	}
	const content = "application/json"
	if _, err := program.Do(ctx, http.MethodPost, api+"/api/v1/runs", content, body); err != nil {
		return err
	}
	if err := e.send(ctx, otlp, from.UnixNano()); err != nil {
		return err
	}
	_, err = program.Do(ctx, http.MethodPost, api+"/api/v1/runs/"+url.PathEscape(e.id)+"/finish", content, nil)
	return err
}
