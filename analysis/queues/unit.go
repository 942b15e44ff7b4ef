package queues

import (
	"strings"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// unit is what values of a known name are in when their unit was not sent:
// seconds per unit of a time, or one of the marks below.
type unit float64

// Units of known names. Times are positive.
const (
	items   unit = 0
	ratio   unit = -1 // 0..1
	seconds unit = 1
	millis  unit = 1e-3
	micros  unit = 1e-6
	nanos   unit = 1e-9
)

func (u unit) timed() bool { return u > 0 }

// scale returns the factor from a series' values to seconds, items or a ratio.
// It refuses a series whose unit belies its name.
func (m *known) scale(s *sample.Series) (float64, bool) {
	sent, time := timeUnit(s.Unit)
	switch {
	case m.unit.timed() && time:
		return float64(sent), true
	case m.unit.timed():
		return float64(m.unit), s.Unit == "" || s.Unit == "1"
	case time || s.Unit == "By":
		return 0, false
	case m.unit == ratio && s.Unit == "%":
		return 0.01, true
	}
	return 1, true
}

// merge says how values of several series become one.
func (m *known) merge() Merge {
	switch m.kind {
	case Age, Utilisation, CPU:
		return Most
	}
	if m.most {
		return Most
	}
	return Sum
}

// timeUnit reads a unit of time, as UCUM or in words.
func timeUnit(u string) (unit, bool) {
	switch strings.ToLower(u) {
	case "s", "sec", "second", "seconds":
		return seconds, true
	case "ms", "msec", "millisecond", "milliseconds":
		return millis, true
	case "us", "µs", "μs", "usec", "microsecond", "microseconds":
		return micros, true
	case "ns", "nsec", "nanosecond", "nanoseconds":
		return nanos, true
	case "min", "minute", "minutes":
		return 60, true
	}
	return 0, false
}

// suffixOf tells what the last word of a name says of its unit: seconds per unit
// of a time, or that it counts things.
func suffixOf(word string) (time unit, counts bool) {
	switch word {
	case "seconds", "milliseconds", "microseconds", "nanoseconds", "ms", "us":
		time, _ = timeUnit(word)
		return time, false
	case "ratio", "tasks", "threads", "connections", "requests", "messages", "records", "sessions":
		return 0, true
	}
	return 0, false
}
