package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/cli"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/client"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/daemon"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/settings"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/show"
	"github.com/plimsoll/plimsoll/demo"
)

// demoFlags are what can be chosen of a demonstration.
type demoFlags struct {
	fixed, stay       bool
	httpAddr, dataDir string
	otlp, api         string // of a server that runs already
	scale             float64
}

func runDemo(ctx context.Context, env *cli.Env) error {
	cmd := cli.Command{
		Name: "demo",
		Help: `Starts a server, a small service that carries 100 requests a second, and a generator that
pushes it to 130 % for ten seconds and comes back. A minute later it prints the verdict, and beside
it what an ordinary closed-loop tool reported of the same minute. Everything stays on loopback.`,
	}
	var f demoFlags
	fs := cmd.NewFlags()
	fs.BoolVar(&f.fixed, "fixed", false, "let the service shed the excess, so that it recovers")
	fs.BoolVar(&f.stay, "stay", false, "go on serving the API after the verdict, until a signal")
	fs.StringVar(&f.httpAddr, "http-addr", "", "`ADDR` to serve the API on (default 127.0.0.1:4319, or a free port)")
	fs.StringVar(&f.dataDir, "data-dir", "", "`DIR` to keep the run in (default a temporary one, removed at the end)")
	fs.StringVar(&f.api, "server", "", "use the server whose API is at `ADDR` and start none; needs --otlp")
	fs.StringVar(&f.otlp, "otlp", "", "`ADDR` at which that server takes OTLP over gRPC")
	fs.Float64Var(&f.scale, "scale", 1, "multiply the length of the demonstration by `FACTOR`")
	if _, err := cmd.Parse(env, fs); err != nil {
		return err
	}
	cfg := demo.DefaultConfig(f.fixed, env.Now)
	cfg.Scale = f.scale
	if _, err := cfg.Prepared(); err != nil {
		return &cli.UsageError{Err: err}
	}
	switch {
	case (f.api == "") != (f.otlp == ""):
		return cli.Usagef("--server and --otlp are nothing without each other")
	case f.api != "" && (f.stay || f.httpAddr != "" || f.dataDir != ""):
		return cli.Usagef("--stay, --http-addr and --data-dir are about a server of the demonstration's own")
	case f.api != "":
		return f.demonstrate(ctx, env, cfg, daemon.Addrs{OTLPGRPC: f.otlp, HTTP: strings.TrimPrefix(f.api, "http://")})
	}
	d, cleanup, err := f.server(env)
	if err != nil {
		return err
	}
	err = f.demonstrate(ctx, env, cfg, d.Addrs())
	if err == nil && f.stay {
		fmt.Fprintf(env.Stdout, "\nserving http://%s until a signal comes\n", d.Addrs().HTTP)
		<-ctx.Done()
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	return errors.Join(err, d.Shutdown(stop), cleanup())
}

// server starts a server on free ports.
func (f *demoFlags) server(env *cli.Env) (d *daemon.Daemon, cleanup func() error, err error) {
	s := settings.Default(env.Lookup)
	s.OTLPGRPCAddr, s.OTLPHTTPAddr, s.LogLevel = "127.0.0.1:0", settings.Off, "warn"
	if s.HTTPAddr = f.httpAddr; s.HTTPAddr == "" {
		s.HTTPAddr = freeOr("127.0.0.1:4319", "127.0.0.1:0")
	}
	cleanup = func() error { return nil }
	if s.DataDir = f.dataDir; s.DataDir == "" {
		if s.DataDir, err = os.MkdirTemp("", "plimsoll-demo-"); err != nil {
			return nil, nil, fmt.Errorf("make data directory: %w", err)
		}
		cleanup = func() error { return os.RemoveAll(s.DataDir) }
	}
	if err := s.Validate(); err != nil {
		return nil, nil, errors.Join(&cli.UsageError{Err: err}, cleanup())
	}
	d, err = daemon.Start(daemon.Config{Settings: s, Version: env.Version, Now: env.Now, Log: logger(env.Stderr, &s)})
	if err != nil {
		return nil, nil, errors.Join(err, cleanup())
	}
	return d, cleanup, nil
}

// freeOr returns an address if it can be listened on, and another if not.
func freeOr(addr, other string) string {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return other
	}
	if err := l.Close(); err != nil {
		return other
	}
	return addr
}

// demonstrate runs the load test against the server and prints what it proves.
func (f *demoFlags) demonstrate(ctx context.Context, env *cli.Env, cfg demo.Config, at daemon.Addrs) error {
	cfg.OTLPEndpoint = at.OTLPGRPC
	cfg.Logger = slog.New(slog.NewTextHandler(env.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	progress := &show.Progress{W: env.Stdout, Live: env.Colour}
	cfg.Progress = progress.Show
	cfg, err := cfg.Prepared()
	if err != nil {
		return err
	}
	c, err := client.New("http://"+at.HTTP, "")
	if err != nil {
		return err
	}
	d := cfg.Declaration()
	if _, _, err := c.Declare(ctx, &d); err != nil {
		return fmt.Errorf("declare run: %w", err)
	}
	fmt.Fprintf(env.Stdout, "run %s on http://%s, about %s\n\n", cfg.RunID, at.HTTP, cfg.Expected().Round(time.Second))
	result, err := demo.Run(ctx, cfg)
	progress.End()
	if err != nil {
		return fmt.Errorf("run demonstration: %w", err)
	}
	if _, err := c.Finish(ctx, cfg.RunID); err != nil {
		return fmt.Errorf("finish run: %w", err)
	}
	v, _, err := c.Verdict(ctx, cfg.RunID, nil)
	if err != nil {
		return err
	}
	if err := show.Table(env.Stdout, v, env.Colour); err != nil {
		return err
	}
	if result.Naive == nil {
		return nil
	}
	return show.Naive(env.Stdout, result.Naive)
}
