package interop

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
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

var (
	wanted = flag.Bool("interop", false, "run the load generators")
	folder = flag.String("generators", os.Getenv("PLIMSOLL_GENERATORS"), "`folder` in which generators are installed")
	needed = flag.String("need", "", "generators that must not be missing, by `name`, separated by commas")
	binary string // the program under test
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(func() int {
		if !*wanted {
			return m.Run() // all tests skip
		}
		dir, err := os.MkdirTemp("", "plimsoll-interop")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		binary = filepath.Join(dir, "plimsoll")
		build := exec.Command("go", "build", "-o", binary, "github.com/plimsoll/plimsoll/cmd/plimsoll")
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
	t               *testing.T
	grpc, otlp, api string // addresses
	dir             string // for files of the test
}

// startServer starts the program on free ports; it stops with the test.
func startServer(t *testing.T) *server {
	t.Helper()
	s := &server{t: t, dir: t.TempDir()}
	cmd := exec.Command(binary, "serve", "--otlp-grpc-addr", "127.0.0.1:0", "--otlp-http-addr", "127.0.0.1:0",
		"--http-addr", "127.0.0.1:0", "--data-dir", t.TempDir())
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("stop the server: %v", err)
		}
	})
	lines := bufio.NewScanner(stderr)
	for s.grpc == "" || s.otlp == "" || s.api == "" {
		if !lines.Scan() {
			t.Fatal("the server ended")
		}
		for prefix, to := range map[string]*string{
			"listening otlp-grpc=": &s.grpc, "listening otlp-http=": &s.otlp, "listening http=": &s.api,
		} {
			if addr, ok := strings.CutPrefix(lines.Text(), prefix); ok {
				*to = addr
			}
		}
	}
	go func() { _, _ = io.Copy(io.Discard, stderr) }()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if resp, err := http.Get("http://" + s.api + "/readyz"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return s
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("the server did not become ready")
		}
	}
}

// plimsoll runs a command of the program against the server and returns what it
// printed and its exit code.
func (s *server) plimsoll(args ...string) (stdout string, code int) {
	s.t.Helper()
	cmd := exec.Command(binary, append(args, "--server", "http://"+s.api)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		s.t.Fatal(err)
	}
	if errs.Len() > 0 {
		s.t.Logf("plimsoll %s:\n%s", strings.Join(args, " "), errs.String())
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// load imports a file as a run; further arguments are options.
func (s *server) load(run, file string, options ...string) {
	s.t.Helper()
	out, code := s.plimsoll(append([]string{"import", file, "--run", run}, options...)...)
	if code != 0 {
		s.t.Fatalf("import %s: exit %d: %s", filepath.Base(file), code, out)
	}
}

// verdict finishes a run, prints what check says, and returns its document.
func (s *server) verdict(run string, objectives ...string) (*wire.Verdict, int) {
	s.t.Helper()
	if out, code := s.plimsoll("run", "finish", run); code != 0 {
		s.t.Fatalf("finish %s: exit %d: %s", run, code, out)
	}
	args := []string{"check", run}
	for _, o := range objectives {
		args = append(args, "--objective", o)
	}
	shown, _ := s.plimsoll(args...)
	s.t.Logf("plimsoll %s\n%s", strings.Join(args, " "), shown)
	out, code := s.plimsoll(append(args, "--output", "json")...)
	v := new(wire.Verdict)
	if err := json.Unmarshal([]byte(out), v); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	return v, code
}
