package api

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// Bounds of a declaration.
const (
	maxNameLength = 256
	maxSteps      = 10_000
	maxTargets    = 256
)

// CheckDeclaration reports every reason why a declaration makes no sense, each
// on a line that begins with the field.
func CheckDeclaration(d *wire.Declaration) error {
	var c checker
	c.name("id", d.ID, true)
	if d.ID == "latest" || strings.HasPrefix(d.ID, "latest:") {
		c.add("id", "%q is how the newest run is asked for; no run can be called that", clip(d.ID))
	}
	c.name("name", d.Name, false)
	c.positive("deadline_s", d.DeadlineS)
	c.positive("timeout_s", d.TimeoutS)
	c.positive("expected_interval_s", d.ExpectedIntervalS)
	c.positive("users", d.Users)
	c.positive("capacity_per_s", d.CapacityPerS)
	c.oneOf("population", d.Population, "fixed")
	if d.Arrival != nil {
		c.oneOf("arrival.model", d.Arrival.Model, "open", "closed")
		c.oneOf("arrival.process", d.Arrival.Process, processes()...)
	}
	if d.Start != nil && (d.Start.Year() < 1970 || d.Start.Year() > 2261) {
		c.add("start", "the year %d cannot be kept", d.Start.Year())
	}
	if len(d.Targets) > maxTargets {
		c.add("targets", "more than %d are named", maxTargets)
	}
	for i, t := range d.Targets {
		c.name(fmt.Sprintf("targets[%d]", i), t, true)
	}
	c.steps(d.Steps)
	c.objectives(d)
	return errors.Join(c.errs...)
}

func processes() []string { return []string{"constant", "jittered", "poisson", "bursty"} }

// checker collects problems, up to a bound.
type checker struct{ errs []error }

func (c *checker) add(field, format string, args ...any) {
	switch n := len(c.errs); {
	case n < 20:
		c.errs = append(c.errs, fmt.Errorf("%s: %s", field, fmt.Sprintf(format, args...)))
	case n == 20:
		c.errs = append(c.errs, errors.New("and more"))
	}
}

func (c *checker) name(field, v string, needed bool) {
	switch {
	case v == "" && needed:
		c.add(field, "is needed")
	case len(v) > maxNameLength:
		c.add(field, "is longer than %d bytes", maxNameLength)
	case !utf8.ValidString(v) || strings.ContainsFunc(v, unicode.IsControl):
		c.add(field, "holds characters that cannot be printed")
	}
}

func (c *checker) oneOf(field, v string, allowed ...string) {
	if v != "" && !slices.Contains(allowed, v) {
		c.add(field, "%q is not one of %s", clip(v), strings.Join(allowed, ", "))
	}
}

func (c *checker) positive(field string, v *float64) {
	if v != nil && !(*v > 0 && *v <= 1e12) {
		c.add(field, "%v is not a positive number", *v)
	}
}

func (c *checker) within(field string, v *float64, lo, hi float64) {
	if v != nil && !(*v >= lo && *v <= hi) {
		c.add(field, "%v is not within %v and %v", *v, lo, hi)
	}
}

func (c *checker) steps(steps []wire.DeclareStep) {
	if len(steps) > maxSteps {
		c.add("steps", "more than %d are declared", maxSteps)
		return
	}
	total := 0.0
	for i := range steps {
		st := &steps[i]
		at := func(field string) string { return fmt.Sprintf("steps[%d].%s", i, field) }
		c.name(at("name"), st.Name, false)
		c.oneOf(at("process"), st.Process, processes()...)
		c.within(at("rate_per_s"), &st.RatePerS, 0, 1e9)
		c.within(at("to_rate_per_s"), st.ToRate, 0, 1e9)
		if st.RatePerS == 0 && (st.ToRate == nil || *st.ToRate == 0) {
			c.add(at("rate_per_s"), "is 0; declare a silence as pause_s of the step before it")
		}
		c.positive(at("duration_s"), &st.DurationS)
		c.within(at("warmup_s"), &st.WarmupS, 0, math.MaxFloat64)
		c.within(at("pause_s"), &st.PauseS, 0, math.MaxFloat64)
		if st.WarmupS > 0 && st.WarmupS >= st.DurationS {
			c.add(at("warmup_s"), "%v leaves nothing of the %v s of the step", st.WarmupS, st.DurationS)
		}
		total += st.DurationS + st.PauseS
	}
	if !(total <= 366*24*3600) {
		c.add("steps", "last longer than a year in all")
	}
}

func (c *checker) objectives(d *wire.Declaration) {
	if len(d.Objectives) > maxObjectives {
		c.add("objectives", "more than %d are declared", maxObjectives)
		return
	}
	for i := range d.Objectives {
		o := &d.Objectives[i]
		at := func(field string) string { return fmt.Sprintf("objectives[%d].%s", i, field) }
		c.name(at("scenario"), o.Scenario, false)
		c.name(at("step"), o.Step, false)
		if o.Step != "" && len(d.Steps) > 0 && !slices.ContainsFunc(d.Steps, func(s wire.DeclareStep) bool { return s.Name == o.Step }) {
			c.add(at("step"), "no declared step is called %q", clip(o.Step))
		}
		if (o.Quantile == nil) != (o.MaxS == nil) {
			c.add(at("quantile"), "quantile and max_s belong together")
		}
		if o.Quantile != nil && !(*o.Quantile > 0 && *o.Quantile < 1) {
			c.add(at("quantile"), "%v is not between 0 and 1", *o.Quantile)
		}
		c.positive(at("max_s"), o.MaxS)
		c.within(at("error_ratio_max"), o.ErrorRatioMax, 0, 1)
		c.within(at("goodput_ratio_min"), o.GoodputRatioMin, 0, 1)
		c.positive(at("must_carry_per_s"), o.MustCarryPerS)
		if o.Quantile == nil && o.MaxS == nil && o.ErrorRatioMax == nil && o.GoodputRatioMin == nil && o.MustCarryPerS == nil {
			c.add(fmt.Sprintf("objectives[%d]", i), "promises nothing")
		}
	}
}
