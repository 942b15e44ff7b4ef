package interop

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// longestRun bounds one run of a generator.
const longestRun = 3 * time.Minute

// tool returns the path of a generator: of a program on the PATH, or of a file
// below the folder of generators. A test without its generator is skipped.
func tool(t *testing.T, name string, below ...string) string {
	t.Helper()
	if !*wanted {
		t.Skip("runs with -interop alone")
	}
	for _, file := range below {
		path := filepath.Join(*folder, file)
		if _, err := os.Stat(path); *folder != "" && err == nil {
			if path, err = filepath.Abs(path); err == nil {
				return path
			}
		}
	}
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	if slices.Contains(strings.Split(*needed, ","), name) {
		t.Fatalf("%s is needed and neither on the PATH nor in %q", name, *folder)
	}
	t.Skipf("%s is neither on the PATH nor in the folder of generators", name)
	return ""
}

// command is a run of a generator.
type command struct {
	dir  string
	env  []string
	args []string
}

// run runs a generator to its end and returns what it printed.
func (c *command) run(t *testing.T) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), longestRun)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Dir, cmd.Env = c.dir, append(os.Environ(), c.env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s\n%s", strings.Join(c.args, " "), err, tail(out.Bytes()), tail(errs.Bytes()))
	}
	return out.Bytes()
}

// tail is the end of what a generator printed.
func tail(b []byte) []byte { return b[max(0, len(b)-2000):] }

// write writes a file of a test.
func write(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
