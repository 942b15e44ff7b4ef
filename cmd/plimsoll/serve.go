package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/cli"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/daemon"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/settings"
)

func serve(ctx context.Context, env *cli.Env) error {
	cmd := cli.Command{
		Name: "serve",
		Help: `Receives telemetry of load tests over OTLP, keeps it, and answers questions about it over HTTP.
On SIGTERM or SIGINT it stops taking data, finishes what is under way and ends with 0; a second
signal ends it at once. What it acknowledged is kept either way.`,
	}
	s, err := settings.Load(env, cmd)
	if err != nil {
		return err
	}
	token, err := settings.Token(s.TokenFile, env.Lookup)
	if err != nil {
		return err
	}
	log := logger(env.Stderr, &s)
	begin := env.Now()
	d, err := daemon.Start(daemon.Config{Settings: s, Token: token, Environ: os.Environ(), Version: env.Version, Now: env.Now, Log: log})
	if err != nil {
		return err
	}
	announce(env.Stderr, d.Addrs())
	warnIfOpen(log, d.Addrs(), token)
	log.Info("started", "version", env.Version, "data_dir", s.DataDir, "took_s", env.Now().Sub(begin).Seconds())
	var failed error
	select {
	case <-ctx.Done():
	case failed = <-d.Failed():
	}
	begin = env.Now()
	// What is cut off by the deadline was not acknowledged.
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Duration(s.ShutdownDelay+s.ShutdownTimeout))
	defer cancel()
	if err := d.Shutdown(stop); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	log.Info("stopped", "took_s", env.Now().Sub(begin).Seconds())
	return failed
}

// announce says where the server listens, one line each, for people and scripts.
func announce(w io.Writer, a daemon.Addrs) {
	for _, l := range []struct{ name, addr string }{
		{"otlp-grpc", a.OTLPGRPC},
		{"otlp-http", a.OTLPHTTP},
		{"http", a.HTTP},
		{"admin", a.Admin},
	} {
		if l.addr != "" {
			fmt.Fprintf(w, "listening %s=%s\n", l.name, l.addr)
		}
	}
}

// warnIfOpen says so when others can reach the server and need no token.
func warnIfOpen(log *slog.Logger, a daemon.Addrs, token string) {
	for _, addr := range []string{a.OTLPGRPC, a.OTLPHTTP, a.HTTP} {
		host, _, err := net.SplitHostPort(addr)
		if err == nil && token == "" && !net.ParseIP(host).IsLoopback() {
			log.Warn("anyone who can reach this address may read and write runs; set a token", "addr", addr)
		}
	}
	if host, _, err := net.SplitHostPort(a.Admin); err == nil && !net.ParseIP(host).IsLoopback() {
		log.Warn("profiles are served to anyone who can reach this address", "addr", a.Admin)
	}
}

// logger makes the log that the settings ask for.
func logger(w io.Writer, s *settings.Settings) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.LogLevel)); err != nil {
		level = slog.LevelInfo // validated before
	}
	opt := &slog.HandlerOptions{Level: level}
	if s.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, opt))
	}
	return slog.New(slog.NewTextHandler(w, opt))
}
