package declaration_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/cmd/plimsoll/internal/declaration"
)

func ptr[T any](v T) *T { return &v }

func TestParse(t *testing.T) {
	t.Parallel()
	want := wire.Declaration{
		ID: "orders-42", DeadlineS: ptr(2.0), Arrival: &wire.Arrival{Model: "open"}, Start: ptr(time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)),
		Steps:      []wire.DeclareStep{{Name: "peak", RatePerS: 120, DurationS: 60}},
		Objectives: []wire.Objective{{Quantile: ptr(0.99), MaxS: ptr(0.3)}}, Targets: []string{"db"}, AllowDrops: true,
	}
	for name, text := range map[string]string{
		"yaml": "id: orders-42\ndeadline_s: 2\narrival: {model: open}\nstart: 2026-11-30T10:00:00Z\nsteps:\n  - {name: peak, rate_per_s: 120, duration_s: 60}\n" +
			"objectives:\n  - quantile: 0.99\n    max_s: 0.3\ntargets: [db]\nallow_drops: true\n",
		"json": `{"id":"orders-42","deadline_s":2,"arrival":{"model":"open"},"start":"2026-11-30T10:00:00Z","steps":[{"name":"peak","rate_per_s":120,"duration_s":60}],
			"objectives":[{"quantile":0.99,"max_s":0.3}],"targets":["db"],"allow_drops":true}`,
	} {
		got, err := declaration.Parse([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	check := func(text string, wants ...string) {
		t.Helper()
		_, err := declaration.Parse([]byte(text))
		for _, want := range wants {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Parse(%q) = %v, want %q", text, err, want)
			}
		}
	}
	check("", "empty")
	check("id: a\n---\nid: b\n", "more than one")
	check("id: [", "line")
	check("idd: a\nsteps:\n  - rate: 1\n", "line 1", "idd", "line 3", "rate_per_s")
	check("steps: {a: 1}\nid: [x]\narrival: open\n", "line 1", "line 2", "line 3")
	check("deadline_s: soon\n", "deadline_s")
	check("start: soon\n", "soon")
	check("a: &a x\nid: *a\n", "line 2")
	check("just text", "line 1")
	check(strings.Repeat(" ", declaration.MaxBytes+1), "larger")
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("id: a\nsteps:\n  - {rate_per_s: 1, duration_s: 2}\n"))
	f.Add([]byte(`{"id":"a","start":"2026-11-30T10:00:00Z"}`))
	f.Add([]byte("? {a: b}\n: c"))
	f.Fuzz(func(_ *testing.T, data []byte) { _, _ = declaration.Parse(data) }) // it may only not panic
}
