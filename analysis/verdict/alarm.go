package verdict

import (
	"fmt"
	"strings"
	"time"

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
		end, over := "it was never cleared", (*time.Time)(nil)
		for _, later := range events[i+1:] {
			if later.Kind == live.Clear {
				at := clock(later.At)
				end, over = "it was cleared at "+at.Format("15:04:05"), at
				break
			}
		}
		j.find("alarm", wire.Warn, -e.Z, "%s; %s.", strings.TrimSuffix(Alarm(e), "."), end)
		j.doc.Findings[len(j.doc.Findings)-1].ClearedAt = over
	}
}

// going says what can be said only while a run goes on.
func (j *judge) going() {
	w := j.st.Watched
	if j.st.Run.Finished || w == nil {
		return
	}
	if w.Kind != live.Scheduled {
		how := "only from requests that ended"
		if w.Kind == live.Counted {
			how = "only from the generator's count"
		}
		j.find("schedule_unknown", wire.Info, float64(w.Kind),
			"Arrivals are known %s: declare the steps of the run and that they are paced, and alarms come several times sooner.", how)
	}
	if w.State == live.Suspected && len(j.steps) > 0 {
		j.suspect(j.steps[len(j.steps)-1])
	}
}

// suspect puts the last step in doubt: its completions fall short of what is
// offered, which the settled part cannot show yet.
func (j *judge) suspect(t *judged) {
	s := &t.wire.Stability
	if s.State == wire.Unstable || !t.Cut {
		return
	}
	s.State = wire.Suspect
	for _, e := range j.st.Alarms {
		if e.Kind == live.Suspect {
			s.Reason = fmt.Sprintf("at %s %s completed of %s offered, and what completes had waited longer than usual",
				clock(e.At).Format("15:04:05"), rate(e.Capacity), rate(e.Offered))
		}
	}
	t.wire.ResponseTime.Steady, t.wire.ServiceTime.Steady = false, false
	if len(j.steps) == 1 {
		j.total.wire.Stability = *s
		j.total.wire.ResponseTime.Steady, j.total.wire.ServiceTime.Steady = false, false
	}
}

// Alarm puts a raised alarm into a sentence with its numbers.
func Alarm(e live.Event) string {
	done := fmt.Sprintf("%s were getting through", rate(e.Capacity))
	if e.Capacity <= 0 {
		done = "nothing was getting through"
	}
	if e.Lost > 0 { // they left flight unserved, and count as growth
		return fmt.Sprintf("At %s the backlog was growing without end: %s were offered, %s, and in %s %s clients had given up; %s were in flight.",
			clock(e.At).Format("15:04:05"), rate(e.Offered), done, lasting(e.WindowS), human(e.Lost), human(e.InFlight))
	}
	return fmt.Sprintf("At %s the backlog was growing without end: %s were offered, %s, and in flight had grown by %s in %s to %s.",
		clock(e.At).Format("15:04:05"), rate(e.Offered), done, human(e.Growth), lasting(e.WindowS), human(e.InFlight))
}
