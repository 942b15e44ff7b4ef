package importer

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// files calls fn with every file of testdata that is a result of a tool.
func files(t testing.TB, fn func(name string)) {
	t.Helper()
	err := filepath.WalkDir("testdata", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			if e != nil && e.IsDir() && e.Name() == "fuzz" {
				return fs.SkipDir
			}
			return err
		}
		if name := e.Name(); name != "README.md" && name != "expect.json" && !strings.HasSuffix(name, ".txtar") {
			fn(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// formatOf returns the names of all formats that recognise a file, and the head
// by which they do.
func formatOf(t testing.TB, path string) (names []string, head []byte) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	src, err := open(filepath.Base(path), f, false)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	defer src.closing()
	for _, f := range formats() {
		if f.Sniff(src.Head()) {
			names = append(names, f.Name)
		}
	}
	return names, src.Head()
}

// TestSniff: every file of testdata is recognised by one format alone, whatever
// the order of formats.
func TestSniff(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	files(t, func(path string) {
		names, _ := formatOf(t, path)
		if len(names) != 1 {
			t.Errorf("%s is recognised by %q", path, names)
			return
		}
		seen[names[0]] = true
	})
	for _, f := range further() {
		if !seen[f.Name] {
			t.Errorf("no file of testdata has the format %s", f.Name)
		}
	}
}

// TestSniffShort: no head brings a format down, however short.
func TestSniffShort(t *testing.T) {
	t.Parallel()
	files(t, func(path string) {
		_, head := formatOf(t, path)
		for n := 0; n <= len(head) && n < 600; n++ {
			for _, f := range formats() {
				f.Sniff(head[:n])
			}
		}
	})
}
