package main

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestPack(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), t.TempDir()
	if _, err := pack(dir, out); err == nil || !strings.Contains(err.Error(), "make plugin") {
		t.Errorf("a plugin that was not built: %v", err)
	}
	write(t, filepath.Join(dir, "dist/plugin.json"), `{"id":"x-datasource","info":{"version":"%VERSION%"}}`)
	if _, err := pack(dir, out); err == nil {
		t.Error("a version that was not filled in is taken")
	}
	write(t, filepath.Join(dir, "dist/plugin.json"), `{"id":"x-datasource","info":{"version":"1.2.3"}}`)
	write(t, filepath.Join(dir, "dist/gpx_x_linux_amd64"), "program")
	write(t, filepath.Join(dir, "pkg/main.go"), "package main")
	write(t, filepath.Join(dir, "node_modules/x/x.go"), "package x")
	linked := t.TempDir()
	write(t, filepath.Join(linked, "linked_test.go"), "package linked")
	if err := os.Symlink(linked, filepath.Join(dir, "src")); err != nil {
		t.Fatal(err)
	}
	var archives [2][]byte
	for i := range archives {
		name, err := pack(dir, out)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(name) != "x-datasource-1.2.3.zip" {
			t.Errorf("archive %s", name)
		}
		if archives[i], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	if string(archives[0]) != string(archives[1]) {
		t.Error("the same files give two archives")
	}
	z, err := zip.OpenReader(filepath.Join(out, "x-datasource-1.2.3.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = z.Close() }()
	modes := map[string]os.FileMode{}
	for _, f := range z.File {
		modes[f.Name] = f.Mode()
	}
	want := map[string]os.FileMode{"plugin.json": 0o644, "gpx_x_linux_amd64": 0o755, manifest: 0o644}
	if len(modes) != len(want) {
		t.Errorf("archive holds %v", modes)
	}
	for name, mode := range want {
		if modes["x-datasource/"+name] != mode {
			t.Errorf("%s has mode %v, want %v", name, modes["x-datasource/"+name], mode)
		}
	}
	listed, err := os.ReadFile(filepath.Join(dir, "dist", manifest))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(listed)) {
		_, name, _ := strings.Cut(strings.TrimSpace(line), ":")
		names = append(names, name)
	}
	if got := strings.Join(names, " "); got != "pkg/main.go src/linked_test.go" {
		t.Errorf("the manifest lists %q", got)
	}
}
