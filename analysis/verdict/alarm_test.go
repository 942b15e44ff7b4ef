package verdict_test

import (
	"strings"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/live"
	"github.com/plimsoll/plimsoll/analysis/verdict"
)

// TestAlarmInWords: clients that gave up are said to have given up, and are no
// growth of what is in flight.
func TestAlarmInWords(t *testing.T) {
	t.Parallel()
	e := live.Event{Kind: live.Raise, At: start, WindowS: 60, Capacity: 75, Offered: 80, InFlight: 27, Growth: 273, Lost: 280}
	if s := verdict.Alarm(e); !strings.Contains(s, "in 60 s 280 clients had given up; 27 were in flight") || strings.Contains(s, "273") {
		t.Errorf("lossy: %s", s)
	}
	e.Lost = 0
	if s := verdict.Alarm(e); !strings.Contains(s, "in flight had grown by 273 in 60 s to 27") {
		t.Errorf("growing: %s", s)
	}
}
