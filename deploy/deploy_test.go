// Package deploy_test holds what is in this folder against the programs that read
// it, where they are installed, and against the names that the server uses.
package deploy_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
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

// TestUnit has systemd read the unit, with a program that exists in the place of ours.
func TestUnit(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("systemd/plimsoll.service")
	if err != nil {
		t.Fatal(err)
	}
	unit := filepath.Join(t.TempDir(), "plimsoll.service")
	if err := os.WriteFile(unit, bytes.ReplaceAll(data, []byte("/usr/bin/plimsoll"), []byte("/bin/sh")), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, ".", "systemd-analyze", "verify", unit)
}

func TestKubernetes(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"base", "sidecar"} {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			run(t, "kubernetes", "kubectl", "kustomize", dir)
		})
	}
}

func TestChart(t *testing.T) {
	t.Parallel()
	run(t, "helm", "helm", "lint", "--strict", "--kube-version", "1.31.0", "plimsoll")
	run(t, "helm", "helm", "template", "x", "plimsoll", "--kube-version", "1.31.0", "--set", "settings.max_runs=5", "--set", "existingSecret=s",
		"--set", "alertWebhook=http://am:9093/api/v2/alerts", "--set", "persistence.enabled=false")
}

// TestEveryDocumentIsYAML reads all of them.
func TestEveryDocumentIsYAML(t *testing.T) {
	t.Parallel()
	n := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".yaml") || strings.Contains(path, "templates") {
			return err
		}
		n++
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		dec := yaml.NewDecoder(f)
		for {
			var doc map[string]any
			if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				t.Errorf("%s: %v", path, err)
				return nil
			}
			if len(doc) == 0 {
				t.Errorf("%s holds an empty document", path)
			}
		}
	})
	if err != nil || n < 10 {
		t.Errorf("read %d files: %v", n, err)
	}
}

// TestNamesOfSettings looks up every setting of the server that stands here.
func TestNamesOfSettings(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	variable := regexp.MustCompile(`PLIMSOLL_[A-Z_]+`)
	for _, path := range []string{"Dockerfile", "compose/compose.yaml", "systemd/plimsoll.service", "kubernetes/sidecar/job.yaml", "helm/plimsoll/templates/statefulset.yaml"} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range variable.FindAllString(string(data), -1) {
			key := strings.ToLower(strings.TrimPrefix(name, "PLIMSOLL_"))
			if key != "token" && key != "url" && !bytes.Contains(docs, []byte("`"+key+"`")) {
				t.Errorf("%s sets %s, which docs/configuration.md does not know", path, name)
			}
		}
	}
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
