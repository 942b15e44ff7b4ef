package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/internal/simrun/truth"
)

// server is the program under test, on free ports of this machine.
type server struct {
	cmd             *exec.Cmd
	otlp, grpc, api string
	done            chan error
}

// patience is how long the server may take to become ready, or to stop.
const patience = 20 * time.Second

// serve starts the program and waits until it is ready.
func serve(ctx context.Context, program, dir string) (*server, error) {
	s := &server{done: make(chan error, 1)}
	s.cmd = exec.Command(program, "serve", "--otlp-grpc-addr", "127.0.0.1:0", "--otlp-http-addr", "127.0.0.1:0", //nolint:gosec,noctx // the program that this is for; it is stopped by signal
		"--http-addr", "127.0.0.1:0", "--data-dir", dir, "--max-age", "0")
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the program: %w", err)
	}
	if err := s.listen(stderr); err != nil {
		return nil, err
	}
	go func() {
		_, _ = io.Copy(io.Discard, stderr)
		s.done <- s.cmd.Wait()
	}()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := s.call(ctx, http.MethodGet, "/readyz", nil); err == nil {
			return s, nil
		}
		select {
		case <-ctx.Done():
			return nil, errors.New("wait for the program: it did not become ready")
		case <-tick.C:
		}
	}
}

// listen reads the addresses that the program prints.
func (s *server) listen(stderr io.Reader) error {
	lines := bufio.NewScanner(stderr)
	var said []string
	for s.otlp == "" || s.grpc == "" || s.api == "" {
		if !lines.Scan() {
			return fmt.Errorf("start the program: it ended: %s", strings.Join(said, "; "))
		}
		said = append(said, lines.Text())
		for prefix, to := range map[string]*string{
			"listening otlp-http=": &s.otlp, "listening otlp-grpc=": &s.grpc, "listening http=": &s.api,
		} {
			if addr, ok := strings.CutPrefix(lines.Text(), prefix); ok {
				*to = addr
			}
		}
	}
	return nil
}

// stop ends the program; it must exit 0.
func (s *server) stop() error {
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

// judge sends a case and returns its verdict.
func (s *server) judge(ctx context.Context, c *truth.Case) (*wire.Verdict, error) {
	if c.Declaration != nil {
		body, err := json.Marshal(c.Declaration)
		if err != nil {
			return nil, err
		}
		if _, err := s.call(ctx, http.MethodPost, "/api/v1/runs", body); err != nil {
			return nil, err
		}
	}
	if err := s.send(ctx, c); err != nil {
		return nil, err
	}
	run := "/api/v1/runs/" + url.PathEscape(c.ID())
	if _, err := s.call(ctx, http.MethodPost, run+"/finish", nil); err != nil {
		return nil, err
	}
	doc, err := s.call(ctx, http.MethodGet, run+"/verdict", nil)
	if err != nil {
		return nil, err
	}
	var v wire.Verdict
	if err := json.Unmarshal(doc, &v); err != nil {
		return nil, fmt.Errorf("read the verdict: %w", err)
	}
	return &v, nil
}

// call makes a call of the HTTP API.
func (s *server) call(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	return do(ctx, method, "http://"+s.api+path, "application/json", body)
}

func do(ctx context.Context, method, url, content string, body []byte) ([]byte, error) {
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
