package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/settings"
	"github.com/plimsoll/plimsoll/collector/convention"
	"github.com/plimsoll/plimsoll/collector/otlp"
)

// intake is the running receivers.
type intake struct {
	set    *metrics.Set
	table  *convention.Table // how names are understood
	cancel context.CancelFunc
	done   chan struct{}
}

// startIntake opens the OTLP listeners and serves them.
func startIntake(d *Daemon) (*intake, error) {
	table, err := readMapping(d.cfg.Mapping)
	if err != nil {
		return nil, err
	}
	bounds := otlp.DefaultConfig()
	bounds.MaxBody, bounds.MaxInFlight = int64(d.cfg.MaxExportBytes), int64(d.cfg.MaxInFlightBytes)
	bounds.MaxConnections, bounds.StopTimeout = d.cfg.MaxConnections, time.Duration(d.cfg.ShutdownTimeout)
	bounds.TLS, bounds.Token = d.tls, d.cfg.Token
	in := &intake{set: metrics.NewSet(), table: table, done: make(chan struct{})}
	srv, err := otlp.New(bounds, d.runs, table, d.cfg.Now, d.cfg.Log, otlp.NewMetrics(in.set))
	if err != nil {
		return nil, err
	}
	overGRPC, err := listen("otlp-grpc", d.cfg.OTLPGRPCAddr, &d.addrs.OTLPGRPC)
	if err != nil {
		return nil, err
	}
	overHTTP, err := listen("otlp-http", d.cfg.OTLPHTTPAddr, &d.addrs.OTLPHTTP)
	if err != nil {
		if overGRPC != nil {
			err = errors.Join(err, overGRPC.Close())
		}
		return nil, err
	}
	var ctx context.Context
	ctx, in.cancel = context.WithCancel(context.Background())
	go func() { // stop waits for it
		defer close(in.done)
		if err := srv.Serve(ctx, overGRPC, overHTTP); err != nil {
			d.failed <- err
		}
	}()
	return in, nil
}

// listen opens a listener, unless it is off, and says where it is.
func listen(name, addr string, actual *string) (net.Listener, error) {
	if addr == settings.Off {
		return nil, nil
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen for %s: %w", name, err)
	}
	*actual = l.Addr().String()
	return l, nil
}

// stop ends intake, when the requests under way have been answered or ctx ends.
// The receivers bound that time themselves.
func (in *intake) stop(ctx context.Context) error {
	in.cancel()
	select {
	case <-in.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop intake: %w", ctx.Err())
	}
}

func (in *intake) metrics() []func(io.Writer) { return []func(io.Writer){in.set.WritePrometheus} }

func readMapping(file string) (*convention.Table, error) {
	if file == "" {
		return convention.Default(), nil
	}
	data, err := settings.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read mapping: %w", err)
	}
	m, err := convention.ParseMapping(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return convention.New(m), nil
}
