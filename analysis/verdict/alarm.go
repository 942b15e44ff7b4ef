package verdict

import (
	"fmt"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/live"
)

// alarms says when the run was unstable while it went on. An alarm that was
// cleared stays in the document: the service was past its limit then.
func (j *judge) alarms() {
	events := j.st.Alarms
	for i, e := range events {
		if e.Kind != live.Raise {
			continue
		}
		end := "it was never cleared"
		for _, later := range events[i+1:] {
			if later.Kind == live.Clear {
				end = "it was cleared at " + clock(later.At).Format("15:04:05")
				break
			}
		}
		j.find("alarm", wire.Warn, -e.Z, "%s; %s.", strings.TrimSuffix(Alarm(e), "."), end)
	}
}

// Alarm puts a raised alarm into a sentence with its numbers.
func Alarm(e live.Event) string {
	done := fmt.Sprintf("%s were getting through", rate(e.Capacity))
	if e.Capacity <= 0 {
		done = "nothing was getting through"
	}
	return fmt.Sprintf("At %s the backlog was growing without end: %s were offered, %s, and in flight had grown by %s in %s to %s.",
		clock(e.At).Format("15:04:05"), rate(e.Offered), done, human(e.Growth), lasting(e.WindowS), human(e.InFlight))
}
