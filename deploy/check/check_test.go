// Package check_test reads what is in the folder above as the programs would that
// it is for: the chart with Helm's engine, manifests as objects of Kubernetes, the
// compose file and the package description with their own readers. It is a module
// of its own, so that none of these is a dependency of the server.
package check_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/goreleaser/nfpm/v2"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// objects reads documents strictly: a field that Kubernetes does not know is an
// error. It returns the kinds that it read.
func objects(t *testing.T, name string, data []byte) (kinds []string) {
	t.Helper()
	docs := utilyaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(data)))
	buf := make([]byte, 1<<20)
	for {
		n, err := docs.Read(buf)
		if errors.Is(err, io.EOF) {
			return kinds
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		doc := buf[:n]
		if len(bytes.TrimSpace(doc)) == 0 {
			continue
		}
		var head struct{ Kind string }
		if err := yaml.Unmarshal(doc, &head); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		into := map[string]any{
			"StatefulSet": &appsv1.StatefulSet{}, "Service": &corev1.Service{}, "ConfigMap": &corev1.ConfigMap{},
			"NetworkPolicy": &networkingv1.NetworkPolicy{}, "Job": &batchv1.Job{},
		}[head.Kind]
		switch {
		case head.Kind == "Kustomization", head.Kind == "TestRun": // no types of Kubernetes itself
		case into == nil:
			t.Errorf("%s: kind %q is not known", name, head.Kind)
		default:
			if err := yaml.UnmarshalStrict(doc, into); err != nil {
				t.Errorf("%s: %s: %v", name, head.Kind, err)
			}
		}
		kinds = append(kinds, head.Kind)
	}
}

func TestManifests(t *testing.T) {
	files, err := filepath.Glob("../kubernetes/*/*.yaml")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		objects(t, f, data)
	}
}

// TestChart renders the chart with values of all kinds, and with some that its
// schema refuses.
func TestChart(t *testing.T) {
	ch, err := loader.Load("../helm/plimsoll")
	if err != nil {
		t.Fatal(err)
	}
	caps := chartutil.DefaultCapabilities.Copy()
	caps.KubeVersion = chartutil.KubeVersion{Version: "v1.31.0", Major: "1", Minor: "31"}
	render := func(values map[string]any) (string, error) {
		v, err := chartutil.ToRenderValues(ch, values, chartutil.ReleaseOptions{Name: "x", Namespace: "y", IsInstall: true}, caps)
		if err != nil {
			return "", err
		}
		files, err := engine.Render(ch, v)
		if err != nil {
			return "", err
		}
		var all strings.Builder
		for name, text := range files {
			if strings.HasSuffix(name, ".yaml") && strings.TrimSpace(text) != "" { // what is switched off is empty
				all.WriteString("---\n" + text + "\n")
			}
		}
		return all.String(), nil
	}
	for name, values := range map[string]map[string]any{
		"defaults": nil,
		"all": {
			"settings": map[string]any{"max_runs": 5, "log_format": "json"}, "existingSecret": "s", "externalURL": "https://here",
			"alertWebhook": "http://am:9093/api/v2/alerts", "persistence": map[string]any{"enabled": false}, "podAnnotations": map[string]any{"a": "b"},
			"nodeSelector": map[string]any{"k": "v"}, "scrape": false,
		},
	} {
		text, err := render(values)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if kinds := objects(t, name, []byte(text)); len(kinds) < 3 {
			t.Errorf("%s: only %v", name, kinds)
		}
	}
	for _, values := range []map[string]any{
		{"alertWebhook": "ftp://x"}, {"persistance": map[string]any{}}, {"persistence": map[string]any{"size": "20 GB"}}, {"settings": map[string]any{"Max": 1}},
	} {
		if _, err := render(values); err == nil {
			t.Errorf("values %v are taken", values)
		}
	}
}

func TestCompose(t *testing.T) {
	options, err := cli.NewProjectOptions([]string{"../compose/compose.yaml"}, cli.WithName("plimsoll"))
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(project.Services) != 3 {
		t.Errorf("services %v", project.ServiceNames())
	}
	for _, s := range project.Services {
		for _, v := range s.Volumes {
			if v.Type != "bind" || strings.Contains(v.Source, "plugin/dist") { // built before
				continue
			}
			if _, err := os.Stat(v.Source); err != nil {
				t.Errorf("%s mounts what is not there: %v", s.Name, err)
			}
		}
	}
}

func TestPackages(t *testing.T) {
	f, err := os.Open("../packages/nfpm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cfg, err := nfpm.ParseWithEnvMapping(f, func(name string) string {
		return map[string]string{"VERSION": "1.2.3", "ARCH": "amd64"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"deb", "rpm"} {
		info, err := cfg.Get(format)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range info.Contents {
			if c.Source == "" || strings.HasPrefix(c.Source, "bin/") { // built before
				continue
			}
			if _, err := os.Stat(filepath.Join("../..", c.Source)); err != nil {
				t.Errorf("%s: %v", format, err)
			}
		}
	}
}
