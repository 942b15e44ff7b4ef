// Package program starts the built server on free ports of this machine and
// stops it again, for benchmarks and simulations that drive the real thing.
package program

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Server is a running server.
type Server struct {
	OTLPHTTP, OTLPGRPC, API string // addresses

	cmd  *exec.Cmd
	done chan error
}

// patience is how long the server may take to become ready, or to stop.
const patience = 20 * time.Second

// Serve starts the program with further arguments and waits until it is ready.
// What it says on standard error goes to log from then on.
func Serve(ctx context.Context, program, dir string, log io.Writer, args ...string) (*Server, error) {
	s := &Server{done: make(chan error, 1)}
	all := append([]string{
		"serve", "--otlp-grpc-addr", "127.0.0.1:0", "--otlp-http-addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0",
		"--data-dir", dir, "--max-age", "0",
	}, args...)
	s.cmd = exec.Command(program, all...) //nolint:gosec,noctx // the program that this is for; it is stopped by signal
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the program: %w", err)
	}
	lines := bufio.NewReader(stderr)
	if err := s.listen(lines); err != nil {
		return nil, errors.Join(err, s.cmd.Process.Kill())
	}
	go func() {
		_, _ = io.Copy(log, lines)
		s.done <- s.cmd.Wait()
	}()
	return s, s.ready(ctx)
}

// listen reads the addresses that the program prints.
func (s *Server) listen(lines *bufio.Reader) error {
	var said strings.Builder
	for s.OTLPHTTP == "" || s.OTLPGRPC == "" || s.API == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			return fmt.Errorf("start the program: it ended: %s", said.String())
		}
		said.WriteString(line)
		for prefix, to := range map[string]*string{
			"listening otlp-http=": &s.OTLPHTTP, "listening otlp-grpc=": &s.OTLPGRPC, "listening http=": &s.API,
		} {
			if addr, ok := strings.CutPrefix(strings.TrimSpace(line), prefix); ok {
				*to = addr
			}
		}
	}
	return nil
}

func (s *Server) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := s.Call(ctx, http.MethodGet, "/readyz", nil); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.New("wait for the program: it did not become ready")
		case <-tick.C:
		}
	}
}

// Pid is the process of the server.
func (s *Server) Pid() int { return s.cmd.Process.Pid }

// Stop ends the program; it must exit 0.
func (s *Server) Stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case err := <-s.done:
		if err != nil {
			return fmt.Errorf("stop the program: %w", err)
		}
		return nil
	case <-timer.C:
		_ = s.cmd.Process.Kill()
		return errors.New("stop the program: it did not end on SIGTERM")
	}
}

// Call makes a call of the HTTP API.
func (s *Server) Call(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	return Do(ctx, method, "http://"+s.API+path, "application/json", body)
}

// Do makes an HTTP request and returns the body of the answer; one that is not
// of the 2xx is an error.
func Do(ctx context.Context, method, url, content string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", content)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s %s: %s: %s", method, url, resp.Status, answer)
	}
	return answer, nil
}
