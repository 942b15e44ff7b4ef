package generator

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"time"
)

// Step is a stretch of one rate.
type Step struct {
	Name     string
	Rate     float64 // arrivals per second, evenly spaced
	Duration time.Duration
}

// Count is the number of arrivals in the step: one at its start, one every 1/Rate
// after that, none at its end.
func (s Step) Count() int {
	return int(math.Ceil(s.Rate*s.Duration.Seconds() - 1e-9))
}

// Schedule is a sequence of steps without gaps.
type Schedule []Step

// Arrival is one place in a schedule.
type Arrival struct {
	Index int           // in the whole schedule
	Step  int           // of the schedule
	After time.Duration // from the start of the schedule
}

// Validate reports every problem of the schedule.
func (s Schedule) Validate() error {
	var errs []error
	if len(s) == 0 {
		errs = append(errs, errors.New("schedule: want at least one step"))
	}
	for i, step := range s {
		if !(step.Rate > 0 && step.Rate <= 1e5) {
			errs = append(errs, fmt.Errorf("step %d: rate %v/s: want more than 0, at most 100000", i, step.Rate))
		}
		if step.Duration <= 0 || step.Duration > time.Hour {
			errs = append(errs, fmt.Errorf("step %d: duration %v: want more than 0, at most 1h", i, step.Duration))
		}
	}
	return errors.Join(errs...)
}

// Duration is the length of the whole schedule.
func (s Schedule) Duration() time.Duration {
	var d time.Duration
	for _, step := range s {
		d += step.Duration
	}
	return d
}

// Count is the number of arrivals in the whole schedule.
func (s Schedule) Count() int {
	n := 0
	for _, step := range s {
		n += step.Count()
	}
	return n
}

// At returns the index of the step at a time after the start; ok is false when
// the schedule is over.
func (s Schedule) At(after time.Duration) (step int, ok bool) {
	for i, st := range s {
		if after < st.Duration {
			return i, true
		}
		after -= st.Duration
	}
	return 0, false
}

// Arrivals yields every arrival in order. Each offset is computed from the start
// of its step, so that no rounding adds up.
func (s Schedule) Arrivals() iter.Seq[Arrival] {
	return func(yield func(Arrival) bool) {
		var base time.Duration
		index := 0
		for i, step := range s {
			for k := range step.Count() {
				after := base + time.Duration(math.Round(float64(k)/step.Rate*float64(time.Second)))
				if !yield(Arrival{Index: index, Step: i, After: after}) {
					return
				}
				index++
			}
			base += step.Duration
		}
	}
}
