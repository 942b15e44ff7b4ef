package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

// Bounds of a declaration.
const (
	maxSteps      = 10_000
	maxObjectives = 1000
	maxTargets    = 256
	maxSchedule   = 10 * 366 * 24 * 3600 // seconds
)

// Declare says what a run is meant to be, before, during or after its data. An
// empty id is replaced by one made of the name and the time. The result is true
// when the run had no declaration; the same one again is no error and changes
// nothing; another one is ErrDeclaredOtherwise. A malformed declaration gives an
// InvalidError that lists every problem.
func (c *Catalogue) Declare(ctx context.Context, d wire.Declaration) (Info, bool, error) {
	if problems := CheckDeclaration(&d); len(problems) > 0 {
		return Info{}, false, &InvalidError{problems}
	}
	if d.Start != nil {
		start := d.Start.Round(0).UTC()
		d.Start = &start
	}
	c.declaring.Lock()
	defer c.declaring.Unlock()
	s, err := c.declarable(&d)
	if err != nil {
		return Info{}, false, err
	}
	defer c.release(s)
	s.doc.Lock()
	defer s.doc.Unlock()
	r, err := c.again(s, d.ID)
	if err != nil { // nothing is known of it yet
		r = &run{s: s, id: d.ID}
	}
	now := c.now().UnixNano()
	if had := r.about.Declaration; had != nil {
		if !sameDeclaration(*had, d) {
			return Info{}, false, fmt.Errorf("declare run %q: %w", d.ID, ErrDeclaredOtherwise)
		}
		return r.info(now), false, nil
	}
	doc := c.own(r)
	doc.Declaration = &d
	doc.Base++
	if doc.Seen == 0 && s.explicit {
		doc.Seen = now
		c.mu.Lock()
		doc.Base += c.floor
		c.mu.Unlock()
	}
	if err := c.put(ctx, s, &doc); err != nil {
		return Info{}, false, err
	}
	if r, err = c.again(s, d.ID); err != nil {
		return Info{}, false, err
	}
	return r.info(now), true, nil
}

// declarable holds the stream of the run to declare, and makes its id when it
// has none.
func (c *Catalogue) declarable(d *wire.Declaration) (*stream, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d.ID == "" {
		d.ID = c.newID(d.Name)
	}
	s := c.streams[runPrefix+d.ID]
	if s == nil || s.empty() {
		if r := c.lookup(d.ID); r != nil && r.id == d.ID {
			s = r.s
		} else if c.total >= c.cfg.MaxRuns {
			return nil, fmt.Errorf("declare run %q: %w runs: the limit is %d", d.ID, ErrTooMany, c.cfg.MaxRuns)
		} else {
			s = c.stream(runPrefix + d.ID)
		}
	}
	s.users++
	return s, nil
}

// newID makes an id that no run has. The caller holds mu.
func (c *Catalogue) newID(name string) string {
	if name == "" {
		name = "run"
	}
	id := sourceRunID(slug(name), c.now().UnixNano())
	for n := 2; ; n++ {
		if c.lookup(id) == nil {
			return id
		}
		id = fmt.Sprintf("%s-%d", sourceRunID(slug(name), c.now().UnixNano()), n)
	}
}

// sameDeclaration compares everything but the id.
func sameDeclaration(a, b wire.Declaration) bool {
	a.ID, b.ID = "", ""
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// problems collects what is wrong with a declaration.
type problems []string

func (p *problems) add(format string, args ...any) { *p = append(*p, fmt.Sprintf(format, args...)) }

// text checks a string that will be shown.
func (p *problems) text(what, s string) {
	if len(s) > maxNameBytes {
		p.add("%s is longer than %d bytes", what, maxNameBytes)
	} else if !printable(s) {
		p.add("%s has control or invisible characters", what)
	}
}

// positive checks a number that may be left out.
func (p *problems) positive(what string, v *float64) {
	if v != nil && *v > math.MaxFloat32 {
		p.add("%s is too large: %v", what, *v)
	} else if v != nil && !(*v > 0) {
		p.add("%s must be a positive number, not %v", what, *v)
	}
}

// ratio checks a share of the requests that may be left out.
func (p *problems) ratio(what string, v *float64) {
	if v != nil && !(*v >= 0 && *v <= 1) {
		p.add("%s must be within 0 and 1, not %v", what, *v)
	}
}

// atLeastZero checks a number that is always there.
func (p *problems) atLeastZero(what string, v float64) {
	if v > math.MaxFloat32 {
		p.add("%s is too large: %v", what, v)
	} else if !(v >= 0) {
		p.add("%s must not be negative, it is %v", what, v)
	}
}

func (p *problems) oneOf(what, s string, allowed ...string) {
	if s != "" && !slices.Contains(allowed, s) {
		p.add("%s %q is not known; it may be one of %q", what, tidy(s), allowed)
	}
}

// CheckDeclaration names every problem of a declaration. An empty id is none.
func CheckDeclaration(d *wire.Declaration) []string {
	var p problems
	if d.ID != "" {
		if problem := checkID(d.ID); problem != "" {
			p.add("%s", problem)
		}
	}
	p.text("name", d.Name)
	p.positive("deadline_s", d.DeadlineS)
	p.positive("first_byte_deadline_s", d.FirstByteDeadlineS)
	p.positive("timeout_s", d.TimeoutS)
	p.positive("expected_interval_s", d.ExpectedIntervalS)
	p.positive("users", d.Users)
	if d.ThinkS != nil {
		p.atLeastZero("think_s", *d.ThinkS)
	}
	p.positive("capacity_per_s", d.CapacityPerS)
	if d.TimeoutS != nil && *d.TimeoutS > maxSchedule {
		p.add("timeout_s is longer than ten years")
	}
	if d.Arrival != nil {
		p.oneOf("arrival model", d.Arrival.Model, "open", "closed")
		p.oneOf("arrival process", d.Arrival.Process, processes()...)
	}
	p.oneOf("population", d.Population, "fixed")
	if d.Start != nil && (d.Start.Year() < 1970 || d.Start.Year() > 2150) {
		p.add("start %v is not plausible", d.Start)
	}
	if len(d.Targets) > maxTargets {
		p.add("%d targets are more than %d", len(d.Targets), maxTargets)
	} else {
		for i, t := range d.Targets {
			p.text(fmt.Sprintf("target %d", i), t)
			if t == "" {
				p.add("target %d is empty", i)
			}
		}
	}
	p.steps(d.Steps)
	p.objectives(d.Objectives)
	return p
}

func processes() []string { return []string{"constant", "jittered", "poisson", "bursty"} }

func (p *problems) steps(steps []wire.DeclareStep) {
	if len(steps) > maxSteps {
		p.add("%d steps are more than %d", len(steps), maxSteps)
		return
	}
	total := 0.0
	for i, s := range steps {
		at := fmt.Sprintf("step %d: ", i)
		p.text(at+"name", s.Name)
		p.oneOf(at+"process", s.Process, processes()...)
		p.atLeastZero(at+"rate_per_s", s.RatePerS)
		if s.ToRate != nil {
			p.atLeastZero(at+"to_rate_per_s", *s.ToRate)
		}
		p.positive(at+"duration_s", &s.DurationS)
		p.atLeastZero(at+"warmup_s", s.WarmupS)
		p.atLeastZero(at+"pause_s", s.PauseS)
		if s.DurationS > 0 && s.WarmupS >= s.DurationS {
			p.add("%swarmup_s %v is not shorter than duration_s %v", at, s.WarmupS, s.DurationS)
		}
		total += s.DurationS + s.PauseS
	}
	if total > maxSchedule {
		p.add("the steps are longer than ten years together")
	}
}

func (p *problems) objectives(list []wire.Objective) {
	if len(list) > maxObjectives {
		p.add("%d objectives are more than %d", len(list), maxObjectives)
		return
	}
	for i, o := range list {
		at := fmt.Sprintf("objective %d: ", i)
		p.text(at+"scenario", o.Scenario)
		p.text(at+"step", o.Step)
		if o.Quantile != nil && !(*o.Quantile > 0 && *o.Quantile < 1) {
			p.add("%squantile must lie between 0 and 1, not %v", at, *o.Quantile)
		}
		p.positive(at+"max_s", o.MaxS)
		p.ratio(at+"error_ratio_max", o.ErrorRatioMax)
		p.ratio(at+"goodput_ratio_min", o.GoodputRatioMin)
		p.positive(at+"must_carry_per_s", o.MustCarryPerS)
		if (o.Quantile == nil) != (o.MaxS == nil) {
			p.add("%squantile and max_s need each other", at)
		}
		if o.Quantile == nil && o.MaxS == nil && o.ErrorRatioMax == nil && o.GoodputRatioMin == nil && o.MustCarryPerS == nil {
			p.add("%sit has no condition", at)
		}
	}
}

// scheduleLength is how long the declared schedule takes, pauses included.
func scheduleLength(d *wire.Declaration) int64 {
	total := 0.0
	for _, s := range d.Steps {
		total += s.DurationS + s.PauseS
	}
	return nanoseconds(total)
}

// timeoutOf is the longest that a request of the run may take.
func timeoutOf(d *wire.Declaration) int64 {
	if d.TimeoutS == nil {
		return 0
	}
	return nanoseconds(*d.TimeoutS)
}

// nanoseconds converts seconds, bounded so that sums of times cannot overflow.
func nanoseconds(s float64) int64 {
	return int64(min(max(s, 0), maxSchedule) * float64(time.Second))
}
