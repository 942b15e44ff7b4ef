package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

var program string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "plimsoll-e2e")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		program = filepath.Join(dir, "plimsoll")
		build := exec.Command("go", "build", "-o", program, "github.com/plimsoll/plimsoll/cmd/plimsoll")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			fmt.Fprintln(os.Stderr, "build the program:", err)
			return 1
		}
		return m.Run()
	}())
}

// server is a running plimsoll.
type server struct {
	t                    *testing.T
	cmd                  *exec.Cmd
	grpc, http, api, dir string
	log                  *bytes.Buffer
	done                 chan error
}

// serve starts the program on free ports and waits until it is ready.
func serve(t *testing.T, dir string, flags ...string) *server {
	t.Helper()
	args := append([]string{
		"serve", "--otlp-grpc-addr", "127.0.0.1:0", "--otlp-http-addr", "127.0.0.1:0",
		"--http-addr", "127.0.0.1:0", "--data-dir", dir, "--max-age", "0",
	}, flags...)
	s := &server{t: t, cmd: exec.Command(program, args...), dir: dir, log: &bytes.Buffer{}, done: make(chan error, 1)}
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	lines := bufio.NewScanner(stderr)
	for s.grpc == "" || s.http == "" || s.api == "" {
		if !lines.Scan() {
			t.Fatalf("the server ended: %s", s.log)
		}
		fmt.Fprintln(s.log, lines.Text())
		for prefix, to := range map[string]*string{
			"listening otlp-grpc=": &s.grpc, "listening otlp-http=": &s.http, "listening http=": &s.api,
		} {
			if addr, ok := strings.CutPrefix(lines.Text(), prefix); ok {
				*to = addr
			}
		}
	}
	go func() {
		_, _ = io.Copy(io.Discard, stderr)
		s.done <- s.cmd.Wait()
	}()
	s.ready()
	return s
}

func (s *server) ready() {
	s.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		resp, err := http.Get("http://" + s.api + "/readyz")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
	}
	s.t.Fatal("the server did not become ready")
}

// stop ends the server with SIGTERM; it must exit 0.
func (s *server) stop() {
	if s.cmd.ProcessState != nil || s.done == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-s.done:
		if err != nil {
			s.t.Errorf("stop the server: %v\n%s", err, s.log)
		}
	case <-time.After(20 * time.Second):
		_ = s.cmd.Process.Kill()
		s.t.Error("the server did not stop on SIGTERM")
	}
	s.done = nil
}

// run runs a command against the server and returns its output and exit code.
func (s *server) run(args ...string) (stdout string, code int) {
	s.t.Helper()
	cmd := exec.Command(program, append(args, "--server", "http://"+s.api)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	if errs.Len() > 0 {
		s.t.Logf("plimsoll %s: %s", strings.Join(args, " "), errs.String())
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// verdict reads the verdict document of a run.
func (s *server) verdict(run string) *wire.Verdict {
	s.t.Helper()
	body := s.get("/api/v1/runs/" + run + "/verdict")
	var v wire.Verdict
	if err := json.Unmarshal(body, &v); err != nil {
		s.t.Fatalf("%v: %s", err, body)
	}
	return &v
}

func (s *server) get(path string) []byte {
	s.t.Helper()
	resp, err := http.Get("http://" + s.api + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		s.t.Fatalf("GET %s: %s %v: %s", path, resp.Status, err, body)
	}
	return body
}

// document is the verdict without what may differ between two servers that hold
// the same rows.
func (s *server) document(run string) string {
	s.t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(s.get("/api/v1/runs/"+run+"/verdict"), &doc); err != nil {
		s.t.Fatal(err)
	}
	delete(doc, "revision")
	out, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		s.t.Fatal(err)
	}
	return string(out)
}
