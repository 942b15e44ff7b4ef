package daemon

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/api"
	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/collector/runs"
)

// deleted is the evidence of a run that was deleted after it was opened.
type deleted struct{ fold.Evidence }

func (deleted) Read(context.Context, []int, func(int, *sample.Batch) error) error {
	return fmt.Errorf("read run: %w", runs.ErrRemoved)
}

func (deleted) Telemetry(context.Context, sample.Span, func(*sample.Batch) error) error {
	return runs.ErrRemoved
}

// A run that is deleted while it is read is no fault of the server.
func TestSnapshotOfADeletedRun(t *testing.T) {
	t.Parallel()
	s := snapshot{deleted{}}
	for name, err := range map[string]error{
		"Read":      s.Read(t.Context(), nil, nil),
		"Telemetry": s.Telemetry(t.Context(), sample.Span{}, nil),
	} {
		if !errors.Is(err, api.ErrRemoved) {
			t.Errorf("%s: %v, want ErrRemoved of the API", name, err)
		}
	}
}
