package archtest_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Limits on the length of a source file: beyond them a file is split.
const (
	maxLines     = 600
	maxTestLines = 800
)

// walk calls fn for each file of the project that is meant to be committed,
// with its path relative to the root.
func walk(t *testing.T, fn func(name string)) {
	t.Helper()
	skip := map[string]bool{".git": true, "node_modules": true, "bin": true, "dist": true, "data": true, "coverage": true}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && skip[entry.Name()]:
			return filepath.SkipDir
		case !entry.Type().IsRegular():
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		fn(filepath.ToSlash(rel))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestFilesStayShort(t *testing.T) {
	t.Parallel()
	source := regexp.MustCompile(`\.(go|ts|tsx)$`)
	walk(t, func(name string) {
		if !source.MatchString(name) || strings.Contains(name, "testdata/") {
			return
		}
		limit := maxLines
		if strings.HasSuffix(name, "_test.go") || strings.Contains(name, ".test.ts") {
			limit = maxTestLines
		}
		if lines := bytes.Count(read(t, name), []byte("\n")); lines > limit {
			t.Errorf("%s has %d lines, at most %d: split it by what its parts do", name, lines, limit)
		}
	})
}

// private matches what belongs to one machine: home folders, working folders
// and the registries that a machine happens to be served by.
var private = regexp.MustCompile(`(^|[^\w.~-])(/hom[e]/[a-z_][\w-]*/|/roo[t]/|/User[s]/[A-Za-z]\w*/|/wor[k]/(main|shared|\.[a-z]))|[A-Z]:\\User[s]\\` +
	`|\b[\w.-]*(artifactor[y]|jfrog[.]io|gopro[x]y\.(io|cn)|pypi[.]org/simple|npmmirro[r])`)

// resolved matches where a lock file says that a package comes from.
var resolved = regexp.MustCompile(`"resolved": "(https?://[^/"]+)`)

func TestNothingOfOneMachineIsCommitted(t *testing.T) {
	t.Parallel()
	walk(t, func(name string) {
		data := read(t, name)
		if bytes.IndexByte(data[:min(len(data), 8192)], 0) >= 0 {
			return // binary
		}
		for i, line := range bytes.Split(data, []byte("\n")) {
			if found := private.Find(line); found != nil {
				t.Errorf("%s:%d holds %q: a path or host of one machine", name, i+1, found)
			}
			if filepath.Base(name) != "package-lock.json" {
				continue
			}
			if m := resolved.FindSubmatch(line); m != nil {
				t.Errorf("%s:%d resolves from %s: leave registries out of the lock file (omit-lockfile-registry-resolved)", name, i+1, m[1])
			}
		}
	})
}

func TestPrivatePatternCanFail(t *testing.T) {
	t.Parallel()
	check := func(line string, want bool) {
		t.Helper()
		if got := private.MatchString(line); got != want {
			t.Errorf("%q: private %v, want %v", line, got, want)
		}
	}
	check("see /ho"+"me/anna/src/x", true)
	check(`"/ro`+`ot/go/pkg"`, true)
	check("C:\\Use"+"rs\\anna", true)
	check("/Use"+"rs/anna/x", true)
	check("at /wo"+"rk/main/x", true)
	check("https://x.jf"+"rog.io/npm", true)
	check("GET /api/v1/runs", false)
	check("/var/lib/plimsoll and /tmp/x", false)
	check("https://example.org/ro"+"ot/page", false)
}

func TestDocumentLinksResolve(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	fence := regexp.MustCompile("(?s)```.*?```")
	walk(t, func(name string) {
		if filepath.Ext(name) != ".md" || strings.Contains(name, "testdata/") {
			return
		}
		for _, m := range link.FindAllSubmatch(fence.ReplaceAll(read(t, name), nil), -1) {
			target, _, _ := strings.Cut(string(m[1]), "#")
			if target == "" || strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			where := filepath.Join(root, filepath.Dir(name), filepath.FromSlash(target))
			if _, err := os.Stat(where); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			}
		}
	})
}

func TestScriptsCanBeRun(t *testing.T) {
	t.Parallel()
	found := 0
	walk(t, func(name string) {
		if !strings.HasPrefix(name, ".ci/") || !bytes.HasPrefix(read(t, name), []byte("#!")) {
			return
		}
		found++
		info, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode()&0o111 == 0 {
			t.Errorf("%s is not executable", name)
		}
	})
	if found == 0 {
		t.Error("no scripts in .ci")
	}
}
