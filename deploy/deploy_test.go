// Package deploy_test holds what is in this folder against the programs that read
// it, where they are installed, and against the names that the server uses.
package deploy_test

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// run runs a program that may not be installed.
func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not installed", name)
	}
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

func TestRulesHold(t *testing.T) {
	t.Parallel()
	run(t, "alerts", "promtool", "check", "rules", "plimsoll.rules.yaml")
	run(t, "alerts", "promtool", "test", "rules", "plimsoll.test.yaml")
}

// TestRulesNameMetrics reads the rules and looks every metric up in the docs,
// which a test of the server holds against what it writes.
func TestRulesNameMetrics(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("alerts/plimsoll.rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(data, &rules); err != nil || len(rules.Groups) == 0 {
		t.Fatalf("read rules: %v", err)
	}
	docs, err := os.ReadFile("../docs/alerts.md")
	if err != nil {
		t.Fatal(err)
	}
	metric := regexp.MustCompile(`plimsoll_run_\w+`)
	for _, r := range rules.Groups[0].Rules {
		if r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
			t.Errorf("%s says nothing", r.Alert)
		}
		if !bytes.Contains(docs, []byte("`"+r.Alert+"`")) {
			t.Errorf("docs/alerts.md does not know %s", r.Alert)
		}
		for _, name := range metric.FindAllString(r.Expr+r.Annotations["description"], -1) {
			if !bytes.Contains(docs, []byte("`"+name)) {
				t.Errorf("docs/alerts.md does not know %s", name)
			}
		}
	}
}
