package batch

import (
	"encoding/hex"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden pins the bytes of version 1: journals in the field hold them. A
// difference means that the form changed, which needs a new version.
func TestGolden(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]*sample.Batch{
		"rows": {
			RunID: "run-1", RunName: "first",
			Groups: []sample.Group{
				{Source: "host/1", Generator: "k6", Scenario: "pay", Deadline: 2e9, Rate: 550, Model: sample.Open, Process: "poisson"},
				{Source: "host/1", Generator: "k6", Scenario: "browse", Step: "high", ExpectedInterval: 5e8, Model: sample.Closed},
			},
			Group:     []uint16{0, 1, 1},
			Sent:      []int64{1_790_000_000_000_000_001, 1_790_000_000_000_500_000, 1_790_000_000_000_000_900},
			Done:      []int64{1_790_000_000_025_000_001, 1_790_000_000_026_123_456, 1_790_000_000_026_123_457},
			FirstByte: []int64{0, 1_790_000_000_025_123_456, 0},
			Intended:  []int64{1_790_000_000_000_000_000, 1_790_000_000_000_000_000, 1_790_000_000_000_000_000},
			Index:     []int64{sample.NoIndex, 7, 8},
			Attempt:   []uint16{0, 1, 0},
			Key:       []uint64{0, 0x1122334455667788, 0},
			Self:      []uint64{1, 2, 3},
			Outcome:   []sample.Outcome{sample.OK, sample.Timeout, sample.Shed},
			Status:    []int16{200, 0, 503},
			Flags:     []sample.Flag{sample.LastAttempt, 0, sample.Sampled},
		},
		"metrics": metrics(),
	} {
		file := "testdata/v1_" + name + ".hex"
		got := Append(nil, b)
		if *update {
			if err := os.WriteFile(file, []byte(hex.EncodeToString(got)+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := hex.DecodeString(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(hex.Dump(want), hex.Dump(got)); diff != "" {
			t.Errorf("%s: the form changed; that needs a new version (-want +got):\n%s", file, diff)
		}
		into := &sample.Batch{}
		if err := Decode(into, want); err != nil {
			t.Fatalf("decode %s: %v", file, err)
		}
		if diff := cmp.Diff(b, into, same); diff != "" {
			t.Errorf("%s decodes to another batch (-want +got):\n%s", file, diff)
		}
	}
}
