package archtest_test

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestEveryFindingIsDocumented compares the codes that the verdict can give
// with docs/findings.md, both ways: users look codes up there.
func TestEveryFindingIsDocumented(t *testing.T) {
	t.Parallel()
	given := regexp.MustCompile(`\.find\(\s*"([a-z_]+)"`)
	listed := regexp.MustCompile("(?m)^\\| `([a-z_]+)`")
	codes := map[string]bool{}
	walk(t, func(name string) {
		if filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || !strings.HasPrefix(name, "analysis/verdict/") {
			return
		}
		for _, m := range given.FindAllSubmatch(read(t, name), -1) {
			codes[string(m[1])] = true
		}
	})
	if len(codes) < 5 {
		t.Fatalf("found %d codes in analysis/verdict: has the way to report a finding changed?", len(codes))
	}
	page := map[string]bool{}
	for _, m := range listed.FindAllSubmatch(read(t, "docs/findings.md"), -1) {
		page[string(m[1])] = true
	}
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		if !page[code] {
			t.Errorf("finding %q is not in docs/findings.md", code)
		}
	}
	for _, code := range slices.Sorted(maps.Keys(page)) {
		if !codes[code] {
			t.Errorf("docs/findings.md lists %q, which analysis/verdict does not give", code)
		}
	}
}
