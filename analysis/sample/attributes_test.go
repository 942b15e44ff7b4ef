package sample

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPairs(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]string{
		"":                   nil,
		"a=1":                {"a", "1"},
		"a=1,b=":             {"a", "1", "b", ""},
		`a=x\,y,b\=c=\\,d=2`: {"a", "x,y", "b=c", `\`, "d", "2"},
		"a":                  {"a", ""},
		"a,b=1":              {"a", "", "b", "1"},
		`a=\`:                {"a", `\`},
		"a==":                {"a", "="},
	} {
		var got []string
		for k, v := range Pairs(in) {
			got = append(got, k, v)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", in, diff)
		}
	}
}

func FuzzPairs(f *testing.F) {
	f.Add(`a=x\,y,b\=c=\\,d=2`)
	f.Fuzz(func(t *testing.T, s string) {
		n := 0
		for k, v := range Pairs(s) {
			if n += len(k) + len(v); n > len(s) {
				t.Fatalf("%q has more text than was written", s)
			}
		}
	})
}
