package settings_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/cli"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/settings"
)

func load(t *testing.T, vars map[string]string, args ...string) (settings.Settings, error) {
	t.Helper()
	env := &cli.Env{Args: args, Stdout: &bytes.Buffer{}, Lookup: func(k string) (string, bool) { v, ok := vars[k]; return v, ok }}
	return settings.Load(env, cli.Command{Name: "serve"})
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A flag weighs more than the environment, that more than the file, and that
// more than the default.
func TestOrder(t *testing.T) {
	t.Parallel()
	config := file(t, "max_runs: 1\nmax_sources: 1\nmax_streams: 1\nretention_bytes: 1GiB\nretention_age: 2d\n")
	s, err := load(t, map[string]string{"PLIMSOLL_MAX_RUNS": "2", "PLIMSOLL_MAX_SOURCES": "2", "PLIMSOLL_CONFIG": config}, "--max-runs=3")
	if err != nil {
		t.Fatal(err)
	}
	got := []int{s.MaxRuns, s.MaxSources, s.MaxStreams, s.MaxComputing}
	if diff := cmp.Diff([]int{3, 2, 1, 2}, got); diff != "" {
		t.Errorf("flag, environment, file, default (-want +got):\n%s", diff)
	}
	if s.RetentionBytes != 1<<30 || s.RetentionAge.String() != "2d" {
		t.Errorf("units: %v, %v", s.RetentionBytes, s.RetentionAge)
	}
}

// All problems come at once, those of a file with their lines.
func TestProblems(t *testing.T) {
	t.Parallel()
	check := func(err error, code int, wants ...string) {
		t.Helper()
		if err == nil || cli.Code(err) != code {
			t.Errorf("err = %v, want one with code %d", err, code)
			return
		}
		for _, want := range wants {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("err = %v, want %q in it", err, want)
			}
		}
	}
	_, err := load(t, nil, "--config", file(t, "http_addr: 127.0.0.1:0\nhtp_addr: x\nmax_age: soon\nmax_runs: many\nmax_body_bytes: [1]\n"))
	check(err, 1, "line 2", "htp_addr", "line 3", "soon", "line 4", "line 5")
	_, err = load(t, nil, "--config", file(t, "a: 1\n---\nb: 2\n"))
	check(err, 1, "line 1")
	_, err = load(t, nil, "--config", "/nowhere/at.yaml")
	check(err, 1, "read config")
	_, err = load(t, nil, "--http-addr", "4319", "--max-runs", "0", "--tls-cert", "x", "--log-level", "loud", "--log-format", "xml")
	check(err, 2, "http-addr", "max-runs", "tls-cert", "log-level", "log-format")
	_, err = load(t, map[string]string{"PLIMSOLL_MAX_AGE": "soon", "PLIMSOLL_MAX_RUNS": "x"})
	check(err, 2, "PLIMSOLL_MAX_AGE", "PLIMSOLL_MAX_RUNS")
	_, err = load(t, nil, "--alert-webhook", "x:1", "--alert-form", "pigeon", "--external-url", "/here")
	check(err, 2, "alert-webhook", "alert-form", "external-url")
	_, err = load(t, nil, "now")
	check(err, 2, "unexpected argument")
	_, err = load(t, nil, "--http-addr", "off")
	check(err, 2, "http-addr")
	if _, err := load(t, nil, "--otlp-grpc-addr", "off", "--config", file(t, "")); err != nil {
		t.Errorf("empty file: %v", err)
	}
}

// Every field has a flag of its name, and the documentation names both.
func TestNames(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	s := settings.Default(func(string) (string, bool) { return "", false })
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	s.Flags(fs)
	var flags, keys []string
	fs.VisitAll(func(f *flag.Flag) { flags = append(flags, strings.ReplaceAll(f.Name, "-", "_")) })
	typ := reflect.TypeFor[settings.Settings]()
	for i := range typ.NumField() {
		keys = append(keys, typ.Field(i).Tag.Get("yaml"))
	}
	slices.Sort(keys)
	if diff := cmp.Diff(flags, keys); diff != "" {
		t.Errorf("flags and YAML keys differ (-flags +keys):\n%s", diff)
	}
	for _, key := range keys {
		f := fs.Lookup(strings.ReplaceAll(key, "_", "-"))
		row := "| `" + key + "` | `--" + f.Name + "` | "
		if f.DefValue != "" && key != "data_dir" {
			row += "`" + f.DefValue + "` |"
		}
		if !strings.Contains(string(doc), row) {
			t.Errorf("docs/configuration.md lacks a row that begins with %s", row)
		}
	}
}

func TestDataDir(t *testing.T) {
	t.Parallel()
	check := func(vars map[string]string, want string) {
		t.Helper()
		if got := settings.Default(func(k string) (string, bool) { v, ok := vars[k]; return v, ok }).DataDir; got != want {
			t.Errorf("data dir with %v = %q, want %q", vars, got, want)
		}
	}
	check(nil, "plimsoll-data")
	check(map[string]string{"HOME": "/h/a"}, "/h/a/.local/state/plimsoll")
	check(map[string]string{"HOME": "/h/a", "XDG_STATE_HOME": "/var/a"}, "/var/a/plimsoll")
	check(map[string]string{"HOME": "/h/a", "XDG_STATE_HOME": "relative"}, "/h/a/.local/state/plimsoll")
}

func TestToken(t *testing.T) {
	t.Parallel()
	lookup := func(k string) (string, bool) { return "from env", k == "PLIMSOLL_TOKEN" }
	if got, err := settings.Token("", lookup); got != "from env" || err != nil {
		t.Errorf("Token = %q, %v", got, err)
	}
	if got, err := settings.Token(file(t, " s3cret\n"), lookup); got != "s3cret" || err != nil {
		t.Errorf("Token = %q, %v", got, err)
	}
	for _, text := range []string{"", "two words\n"} {
		if _, err := settings.Token(file(t, text), lookup); err == nil {
			t.Errorf("a token file with %q was taken", text)
		}
	}
	if _, err := settings.Token("/nowhere", lookup); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}
