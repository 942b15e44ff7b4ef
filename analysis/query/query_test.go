package query_test

import (
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/query"
)

func TestKnownSeries(t *testing.T) {
	t.Parallel()
	for _, name := range query.SeriesNames() {
		if !query.KnownSeries(name) {
			t.Errorf("KnownSeries(%q) = false for a listed name", name)
		}
	}
	for _, name := range []string{"", "latency", "response_p42", "response_", "p99", "queue:", "Offered", " offered"} {
		if query.KnownSeries(name) {
			t.Errorf("KnownSeries(%q) = true", name)
		}
	}
	if !query.KnownSeries("queue:" + strings.Repeat("x", 10)) {
		t.Error("a named queue is not known")
	}
}
