package main

import (
	"bufio"
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

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"plimsoll": func() { os.Exit(process()) }})
}

// TestScripts runs the command lines of testdata/script. They know, beside the
// usual commands: "start [FLAG]…" starts a server on free ports and sets
// PLIMSOLL_SERVER, OTLP_GRPC and OTLP_HTTP; "stop" ends it with SIGTERM and
// fails unless it ends with 0; "code N CMD…" runs the program and wants a code.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("NO_COLOR", "1")
			e.Values["servers"] = map[string]*running{}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"start": start, "stop": stop, "code": wantCode, "post": postFile, "rmdir": rmdir},
	})
}

type running struct {
	cmd  *exec.Cmd
	done chan error
	log  *strings.Builder
}

func start(ts *testscript.TestScript, _ bool, args []string) {
	program, err := exec.LookPath("plimsoll")
	if path := filepath.SplitList(ts.Getenv("PATH")); err != nil || len(path) > 0 {
		program = filepath.Join(path[0], "plimsoll")
	}
	args = append([]string{
		"serve", "--otlp-grpc-addr", "127.0.0.1:0", "--otlp-http-addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0",
		"--data-dir", ts.MkAbs("data"),
	}, args...)
	r := &running{cmd: exec.Command(program, args...), done: make(chan error, 1), log: &strings.Builder{}}
	r.cmd.Env = []string{"HOME=" + ts.Getenv("HOME")}
	stderr, err := r.cmd.StderrPipe()
	ts.Check(err)
	ts.Check(r.cmd.Start())
	ts.Defer(func() { _ = r.cmd.Process.Kill() })
	ts.Value("servers").(map[string]*running)["it"] = r
	lines := bufio.NewScanner(stderr)
	for ts.Getenv("PLIMSOLL_SERVER") == "" || !strings.Contains(r.log.String(), "listening http=") {
		if !lines.Scan() {
			ts.Fatalf("the server ended: %s", r.log)
		}
		fmt.Fprintln(r.log, lines.Text())
		name, addr, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "listening "), "=")
		switch name {
		case "otlp-grpc":
			ts.Setenv("OTLP_GRPC", addr)
		case "otlp-http":
			ts.Setenv("OTLP_HTTP", "http://"+addr)
		case "http":
			ts.Setenv("PLIMSOLL_SERVER", "http://"+addr)
		}
	}
	go func() {
		_, _ = io.Copy(r.log, stderr)
		r.done <- r.cmd.Wait()
	}()
	awaitReady(ts)
}

func awaitReady(ts *testscript.TestScript) {
	for range 1000 {
		res, err := http.Get(ts.Getenv("PLIMSOLL_SERVER") + "/readyz")
		if err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("the server did not become ready")
}

func stop(ts *testscript.TestScript, _ bool, _ []string) {
	r := ts.Value("servers").(map[string]*running)["it"]
	ts.Check(r.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case err := <-r.done:
		if err != nil {
			ts.Fatalf("the server ended with %v: %s", err, r.log)
		}
	case <-time.After(30 * time.Second):
		ts.Fatalf("the server did not stop")
	}
}

// rmdir removes a directory that has to be empty.
func rmdir(ts *testscript.TestScript, _ bool, args []string) { ts.Check(os.Remove(ts.MkAbs(args[0]))) }

// postFile sends a file to a URL as OTLP in JSON.
func postFile(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: post URL FILE")
	}
	res, err := http.Post(args[0], "application/json", strings.NewReader(ts.ReadFile(args[1])))
	ts.Check(err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	ts.Check(err)
	if res.StatusCode != http.StatusOK {
		ts.Fatalf("POST %s: %s: %s", args[0], res.Status, body)
	}
}

// wantCode runs the program and compares the code that it ends with.
func wantCode(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: code N PROGRAM [ARG]…")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := err.(*exec.ExitError); ok { //nolint:errorlint // testscript returns it bare
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("run %s: %v", args[1], err)
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("%s ended with %d, want %s", strings.Join(args[1:], " "), got, args[0])
	}
}
