package cli_test

import (
	"bytes"
	"errors"
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/cli"
)

type parsed struct {
	Names []string
	Out   string
	List  cli.List
}

func parse(vars map[string]string, args ...string) (parsed, string, error) {
	var p parsed
	var out bytes.Buffer
	env := &cli.Env{Args: args, Stdout: &out, Lookup: func(k string) (string, bool) { v, ok := vars[k]; return v, ok }}
	cmd := cli.Command{Name: "test", Synopsis: "RUN", Help: "It tests.", Least: 1, Most: 2}
	fs := cmd.NewFlags()
	fs.StringVar(&p.Out, "out-put", "table", "`FORMAT` of the output")
	fs.Var(&p.List, "list", "may be repeated")
	var err error
	p.Names, err = cmd.Parse(env, fs)
	return p, out.String(), err
}

func TestParse(t *testing.T) {
	t.Parallel()
	check := func(want parsed, vars map[string]string, args ...string) {
		t.Helper()
		got, _, err := parse(vars, args...)
		if err != nil {
			t.Errorf("parse(%q): %v", args, err)
			return
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("parse(%q) (-want +got):\n%s", args, diff)
		}
	}
	env := map[string]string{"PLIMSOLL_OUT_PUT": "json", "PLIMSOLL_LIST": "a; b"}
	check(parsed{Names: []string{"x"}, Out: "table"}, nil, "x")
	check(parsed{Names: []string{"x", "y"}, Out: "z"}, nil, "x", "--out-put", "z", "y")
	check(parsed{Names: []string{"x"}, Out: "z", List: cli.List{"a", "b"}}, nil, "-list=a", "x", "-out-put=z", "--list", "b")
	check(parsed{Names: []string{"--list", "-x"}, Out: "table"}, nil, "--", "--list", "-x")
	check(parsed{Names: []string{"x"}, Out: "json", List: cli.List{"a", "b"}}, env, "x")
	check(parsed{Names: []string{"x"}, Out: "z", List: cli.List{"c"}}, env, "x", "--out-put=z", "--list=c")
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"a", "b", "c"}, {"a", "--nonsense"}, {"a", "--out-put"}} {
		if _, _, err := parse(nil, args...); cli.Code(err) != cli.Usage {
			t.Errorf("parse(%q) = %v, want a usage error", args, err)
		}
	}
	_, out, err := parse(nil, "a", "--help")
	if cli.Code(err) != cli.OK || !strings.Contains(out, "--out-put FORMAT") || !strings.Contains(out, "(default table)") {
		t.Errorf("help = %v:\n%s", err, out)
	}
}

func TestCode(t *testing.T) {
	t.Parallel()
	for want, err := range map[int]error{
		cli.OK: nil, cli.Failed: errors.New("x"), cli.Usage: cli.Usagef("x"), cli.Missed: cli.Exit(cli.Missed),
	} {
		if got := cli.Code(err); got != want {
			t.Errorf("Code(%v) = %d, want %d", err, got, want)
		}
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	check := func(v flag.Value, text, want string) {
		t.Helper()
		got := "refused"
		if v.Set(text) == nil {
			got = v.String()
		}
		if got != want {
			t.Errorf("%T of %q = %q, want %q", v, text, got, want)
		}
	}
	check(new(cli.Duration), "0", "0")
	check(new(cli.Duration), "30d", "30d")
	check(new(cli.Duration), "1.5d", "36h")
	check(new(cli.Duration), "24h", "24h")
	check(new(cli.Duration), "90s", "1m30s")
	for _, bad := range []string{"", "d", "-1s", "-1d", "NaNd", "5", "1e9d"} {
		check(new(cli.Duration), bad, "refused")
	}
	check(new(cli.Bytes), "4096", "4KiB")
	check(new(cli.Bytes), "10GB", "9765625KiB")
	check(new(cli.Bytes), "1.5 GiB", "1536MiB")
	check(new(cli.Bytes), "7", "7")
	for _, bad := range []string{"", "GiB", "-1", "1e3", "NaN", "99999999TiB", "5 apples"} {
		check(new(cli.Bytes), bad, "refused")
	}
	var y struct {
		D cli.Duration
		B cli.Bytes
	}
	if err := yaml.Unmarshal([]byte("d: 2d\nb: 1KiB"), &y); err != nil || time.Duration(y.D) != 48*time.Hour || y.B != 1024 {
		t.Errorf("YAML = %+v, %v", y, err)
	}
	if err := yaml.Unmarshal([]byte("d: x\nb: [y]"), &y); err == nil || !strings.Contains(err.Error(), "line 1") || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("YAML errors = %v, want both lines", err)
	}
}
