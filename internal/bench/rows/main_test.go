package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := config{rows: 5000, rate: 1000, streams: 3, batchRows: 512, concurrency: 3, dir: t.TempDir()}
	if err := run(t.Context(), c, &out); err != nil {
		t.Fatalf("run: %v\n%s", err, &out)
	}
	for _, want := range []string{"encoded", "append", "on disk", "read and decode", "warm verdict", "peak memory"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report says nothing about %q:\n%s", want, &out)
		}
	}
	if err := run(t.Context(), config{}, &out); err == nil {
		t.Error("no rows are accepted")
	}
}
