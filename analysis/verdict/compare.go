package verdict

import (
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
)

const (
	sameRate   = 0.02 // two offered rates within 2 % are the same rate
	normal95   = 1.959963984540054
	compared95 = 0.95 // confidence of an interval that is made here
)

// Compare sets two verdicts side by side: the capacity, and step by step what
// was completed and what users felt. Steps are matched by name, else by offered
// rate, the way up to the highest with the way up and the return with the return
// where both have one, equal rates in the order of the runs.
//
// The interval of a difference joins those of its sides by the square-and-add
// rule (Zou and Donner, 2008, "Construction of confidence limits about effect
// measures"): with after a in [la, ua] and before b in [lb, ub] it is
//
//	a − b − √((a−la)² + (ub−b)²)  to  a − b + √((ua−a)² + (b−lb)²)
//
// which keeps intervals that are not symmetric as they are. Each is 95 % by
// itself. A count over a time is taken as Poisson, a ratio has Wilson's interval.
//
// Steps of one name at which open loops offered other rates are not compared.
// Percentiles of a step that is not steady depend on how long was measured; they
// are not compared. Nor are those that one run counts from the send and the other
// from when requests were due.
func Compare(before, after *wire.Verdict) *wire.Comparison {
	out := &wire.Comparison{Before: side(before), After: side(after), Steps: []wire.ComparedStep{}, Notes: unlike(before, after)}
	if b, a := before.Knee.Capacity, after.Knee.Capacity; b != nil && a != nil {
		out.Capacity = difference(*b, *a, true)
	}
	for _, p := range pairs(before.Steps, after.Steps) {
		out.Steps = append(out.Steps, compareStep(p, before.Audit.Loop != "closed" && after.Audit.Loop != "closed"))
	}
	out.Headline = changed(out)
	return out
}

func side(v *wire.Verdict) wire.ComparedRun {
	r := wire.ComparedRun{Run: v.Run, Outcome: v.Outcome, Headline: v.Headline, Metastability: v.Metastability.State}
	if v.Knee.Shape != nil {
		r.KneeShape = *v.Knee.Shape
	}
	return r
}

// unlike lists what makes two runs unlike each other.
func unlike(b, a *wire.Verdict) []string {
	out := []string{}
	add := func(what, x, y string) {
		if x != y {
			out = append(out, fmt.Sprintf("%s: %s before, %s after.", what, orNone(x), orNone(y)))
		}
	}
	add("Names differ", b.Run.Name, a.Run.Name)
	add("Generators differ", b.Run.Generator, a.Run.Generator)
	add("Arrivals differ", b.Audit.ArrivalProcess, a.Audit.ArrivalProcess)
	add("Loops differ", b.Audit.Loop, a.Audit.Loop)
	add("Deadlines differ", secondsText(b.Run.DeadlineS), secondsText(a.Run.DeadlineS))
	add("Grades differ", text(b.Run.Grade), text(a.Run.Grade))
	if b.Run.ID == a.Run.ID {
		out = append(out, "Both sides are the same run.")
	}
	if !b.Audit.Valid || !a.Audit.Valid {
		out = append(out, "The audit of at least one run says that its generator or its data cannot be trusted.")
	}
	return out
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func secondsText(v *float64) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf("%g s", *v)
}

// pair is a step and its counterpart; one of them may be missing.
type pair struct{ before, after *wire.Step }

// highest is the index of the step with the highest rate, the last of equals; what
// comes after it is a return, which is another thing than the way up.
func highest(steps []wire.Step) int {
	index, most := math.MaxInt, 0.0
	for i := range steps {
		if o := steps[i].Offered; o != nil && *o >= most {
			index, most = steps[i].Index, *o
		}
	}
	return index
}

// pairs matches steps, in the order of the run before, then what only the run
// after has.
func pairs(before, after []wire.Step) []pair {
	taken := make([]bool, len(after))
	find := func(fits func(s *wire.Step) bool) *wire.Step {
		for i := range after {
			if !taken[i] && fits(&after[i]) {
				taken[i] = true
				return &after[i]
			}
		}
		return nil
	}
	out := make([]pair, len(before))
	for i := range before {
		b := &before[i]
		out[i].before = b
		if b.Name != "" {
			out[i].after = find(func(s *wire.Step) bool { return s.Name == b.Name })
		}
	}
	topBefore, topAfter := highest(before), highest(after)
	for _, anywhere := range [...]bool{false, true} {
		for i := range out {
			b := out[i].before
			if out[i].after != nil || b.Offered == nil {
				continue
			}
			out[i].after = find(func(s *wire.Step) bool {
				return s.Offered != nil && math.Abs(*s.Offered-*b.Offered) <= sameRate**b.Offered &&
					(anywhere || (s.Index > topAfter) == (b.Index > topBefore))
			})
		}
	}
	for i := range after {
		if !taken[i] {
			out = append(out, pair{after: &after[i]})
		}
	}
	return out
}

// compareStep compares a step with its counterpart; open says that the offered
// rates are no outcome of the service.
func compareStep(p pair, open bool) wire.ComparedStep {
	var out wire.ComparedStep
	for _, s := range []*wire.Step{p.after, p.before} { // what the run before says wins
		if s != nil {
			out.Name, out.Offered = s.Name, s.Offered
		}
	}
	if p.before != nil {
		out.Before, out.BeforeClass = &p.before.Index, p.before.Class
	}
	if p.after != nil {
		out.After, out.AfterClass = &p.after.Index, p.after.Class
	}
	if p.before == nil || p.after == nil {
		out.Reason = "only one of the runs has this step"
		return out
	}
	b, a := p.before, p.after
	if x, y := value(b.Offered), value(a.Offered); open && math.Abs(x-y) > sameRate*max(x, y) {
		out.Reason = fmt.Sprintf("%s were offered before, %s after: another load", rate(x), rate(y))
		return out
	}
	out.Completed = rates(b.Completed, a.Completed, b, a)
	out.Goodput = rates(b.Goodput, a.Goodput, b, a)
	if b.Due > 0 && a.Due > 0 {
		out.FailureRatio = difference(wilson(failed(b), b.Due), wilson(failed(a), a.Due), false)
	}
	if out.Reason = unequalTimes(b, a); out.Reason == "" {
		out.P50 = difference(b.ResponseTime.P50, a.ResponseTime.P50, false)
		out.P95 = difference(b.ResponseTime.P95, a.ResponseTime.P95, false)
		out.P99 = difference(b.ResponseTime.P99, a.ResponseTime.P99, false)
	}
	return out
}

// unequalTimes says why response times of two steps are not compared.
func unequalTimes(b, a *wire.Step) string {
	for _, s := range []struct {
		when string
		step *wire.Step
	}{{"before", b}, {"after", a}} {
		r := &s.step.ResponseTime
		switch {
		case !r.Valid && r.Reason != "":
			return s.when + ": " + r.Reason
		case !r.Valid:
			return s.when + ": no percentiles are given"
		case !r.Steady:
			return s.when + ": the step is not steady, so its percentiles depend on how long was measured"
		}
	}
	if text(b.ResponseTime.Grade) != text(a.ResponseTime.Grade) {
		return fmt.Sprintf("times are known otherwise: grade %s before, %s after", text(b.ResponseTime.Grade), text(a.ResponseTime.Grade))
	}
	return ""
}

// failed counts the requests due that came to nothing.
func failed(s *wire.Step) int64 {
	return s.Dropped + s.Counts.Error + s.Counts.Timeout + s.Counts.Shed + s.Counts.Cancelled
}

func rates(b, a *float64, before, after *wire.Step) *wire.Difference {
	if b == nil || a == nil {
		return nil
	}
	return difference(poisson(*b, before), poisson(*a, after), true)
}

// poisson is the interval of a rate that was counted over a step after warm-up.
func poisson(rate float64, s *wire.Step) wire.Estimate {
	half := normal95 * math.Sqrt(rate/max(s.DurationS-s.WarmupS, 1e-9))
	return interval95(rate, max(rate-half, 0), rate+half)
}

// wilson is the score interval of k of n (Wilson, 1927).
func wilson(k, n int64) wire.Estimate {
	p, m, z2 := float64(k)/float64(n), float64(n), normal95*normal95
	centre := (p + z2/(2*m)) / (1 + z2/m)
	half := normal95 / (1 + z2/m) * math.Sqrt(p*(1-p)/m+z2/(4*m*m))
	return interval95(p, min(max(centre-half, 0), p), max(min(centre+half, 1), p))
}

func interval95(v, lo, hi float64) wire.Estimate {
	return wire.Estimate{Value: &v, Lo: &lo, Hi: &hi, Confidence: compared95}
}

// difference joins two estimates. Without a value or a bound on either side the
// change has none, and the difference says unclear.
func difference(b, a wire.Estimate, moreIsBetter bool) *wire.Difference {
	d := &wire.Difference{Before: b, After: a, Says: wire.Unclear}
	d.Change.Confidence = min(b.Confidence, a.Confidence)
	if b.Value == nil || a.Value == nil {
		return d
	}
	change := *a.Value - *b.Value
	d.Change.Value = &change
	if slices.Contains([]*float64{b.Lo, b.Hi, a.Lo, a.Hi}, nil) {
		return d
	}
	lo := change - math.Hypot(*a.Value-*a.Lo, *b.Hi-*b.Value)
	hi := change + math.Hypot(*a.Hi-*a.Value, *b.Value-*b.Lo)
	d.Change.Lo, d.Change.Hi = &lo, &hi
	switch {
	case lo > 0 && moreIsBetter, hi < 0 && !moreIsBetter:
		d.Says = wire.Better
	case lo > 0, hi < 0:
		d.Says = wire.Worse
	}
	return d
}

// changed is the sentence that a reader should see first.
func changed(c *wire.Comparison) string {
	counts := map[string]int{}
	for i := range c.Steps {
		s := &c.Steps[i]
		for _, d := range []*wire.Difference{s.Completed, s.Goodput, s.FailureRatio, s.P50, s.P95, s.P99} {
			if d != nil {
				counts[d.Says]++
			}
		}
	}
	lead := "Capacity cannot be compared: not both runs found it."
	if d := c.Capacity; d != nil && d.Change.Value != nil {
		lead = fmt.Sprintf("Capacity went from %.4g/s to %.4g/s", *d.Before.Value, *d.After.Value)
		if d.Says == wire.Unclear {
			lead += ", a change within what the intervals allow"
		}
		lead += "."
	}
	return fmt.Sprintf("%s Of the figures of common steps %d are better, %d worse, %d show no difference.",
		lead, counts[wire.Better], counts[wire.Worse], counts[wire.Unclear])
}
