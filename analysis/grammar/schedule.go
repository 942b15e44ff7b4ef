package grammar

import (
	"fmt"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

const scheduleHelp = "write it like 'constant:100/s x 60s, pause x 10s, poisson:200/s x 60s, ramp:50/s..150/s x 60s'"

// Schedule is what a schedule text says.
type Schedule struct {
	// Process is the arrival process that all steps share; empty when they
	// differ, and then every step names its own.
	Process string
	Steps   []wire.DeclareStep
}

// ParseSchedule reads a schedule. A pause belongs to the step before it.
func ParseSchedule(text string) (Schedule, error) {
	if len(text) > maxLength {
		return Schedule{}, fmt.Errorf("parse schedule: longer than %d bytes", maxLength)
	}
	if strings.TrimSpace(text) == "" {
		return Schedule{}, fmt.Errorf("parse schedule: it is empty; %s", scheduleHelp)
	}
	var s Schedule
	for i, item := range strings.Split(text, ",") {
		if err := s.add(strings.TrimSpace(item)); err != nil {
			return Schedule{}, fmt.Errorf("parse schedule: item %d: %w", i+1, err)
		}
		if len(s.Steps) > maxSteps {
			return Schedule{}, fmt.Errorf("parse schedule: more than %d steps", maxSteps)
		}
	}
	s.share()
	return s, nil
}

// add reads one item.
func (s *Schedule) add(item string) error {
	if item == "" {
		return fmt.Errorf("it is empty; %s", scheduleHelp)
	}
	what, length, ok := cutTimes(item)
	if !ok {
		return fmt.Errorf("%q has no length; %s", item, scheduleHelp)
	}
	seconds, err := parseDuration(length)
	if err != nil {
		return err
	}
	if what == "pause" {
		if len(s.Steps) == 0 {
			return fmt.Errorf("a schedule cannot begin with a pause: it begins with the first arrival")
		}
		s.Steps[len(s.Steps)-1].PauseS += seconds
		return nil
	}
	step := wire.DeclareStep{DurationS: seconds}
	if name, rest, named := strings.Cut(what, "="); named {
		if step.Name, err = parseName(strings.TrimSpace(name)); err != nil {
			return err
		}
		what = strings.TrimSpace(rest)
	}
	process, rate, ok := strings.Cut(what, ":")
	if !ok {
		return fmt.Errorf("%q has no rate; %s", item, scheduleHelp)
	}
	if err := setRate(&step, strings.TrimSpace(process), rate); err != nil {
		return err
	}
	s.Steps = append(s.Steps, step)
	return nil
}

// cutTimes splits at the last "x" or "×" that stands before a duration, so that
// names may hold an x.
func cutTimes(item string) (what, length string, ok bool) {
	at := strings.LastIndexAny(item, "x×")
	if at <= 0 {
		return "", "", false
	}
	_, length, _ = strings.Cut(item[at:], string([]rune(item[at:])[:1]))
	return strings.TrimSpace(item[:at]), length, true
}

func setRate(step *wire.DeclareStep, process, rate string) error {
	switch process {
	case "constant", "poisson", "jittered", "bursty":
		step.Process = process
	case "ramp":
		from, to, ok := strings.Cut(rate, "..")
		if !ok {
			return fmt.Errorf("ramp %q has no end: write it like ramp:50/s..150/s x 60s", rate)
		}
		end, err := parseRate(to)
		if err != nil {
			return err
		}
		step.ToRate, rate = &end, from
	default:
		return fmt.Errorf("%q is not an arrival process: use constant, poisson, jittered, bursty, ramp or pause", process)
	}
	v, err := parseRate(rate)
	if err != nil {
		return err
	}
	if v == 0 && (step.ToRate == nil || *step.ToRate == 0) {
		return fmt.Errorf("the rate is 0: write a pause instead")
	}
	step.RatePerS = v
	return nil
}

// share moves a process that all steps agree on to the schedule. A ramp agrees
// with any process, and alone is constant.
func (s *Schedule) share() {
	shared := ""
	for i := range s.Steps {
		switch p := s.Steps[i].Process; {
		case p == "":
		case shared == "":
			shared = p
		case shared != p:
			return
		}
	}
	if shared == "" {
		shared = "constant"
	}
	s.Process = shared
	for i := range s.Steps {
		s.Steps[i].Process = ""
	}
}

// String writes the schedule as ParseSchedule reads it.
func (s Schedule) String() string {
	var b strings.Builder
	for i := range s.Steps {
		if i > 0 {
			b.WriteString(", ")
		}
		s.write(&b, &s.Steps[i])
	}
	return b.String()
}

func (s Schedule) write(b *strings.Builder, step *wire.DeclareStep) {
	if step.Name != "" {
		b.WriteString(step.Name + "=")
	}
	process := step.Process
	if process == "" {
		process = s.Process
	}
	if step.ToRate != nil {
		fmt.Fprintf(b, "ramp:%s/s..%s/s", formatNumber(step.RatePerS), formatNumber(*step.ToRate))
	} else {
		fmt.Fprintf(b, "%s:%s/s", process, formatNumber(step.RatePerS))
	}
	fmt.Fprintf(b, " x %s", formatDuration(step.DurationS))
	if step.PauseS > 0 {
		fmt.Fprintf(b, ", pause x %s", formatDuration(step.PauseS))
	}
}
