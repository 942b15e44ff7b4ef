package audit

import (
	"math"
	"slices"
	"strings"

	"github.com/plimsoll/plimsoll/analysis/response"
)

// Source is what one generator process saw of a step.
type Source struct {
	Name      string
	Requests  int64
	Errors    int64
	Response  *response.Histogram // may be nil
	SendDelay *response.Histogram // may be nil
}

// Difference is a source that differs from the others together.
type Difference struct {
	Source string
	What   string  // errors, median, p99, send_delay
	Here   float64 // of the source: ratio, or seconds
	Others float64
	Sigma  float64
}

const (
	leastRequests   = 50
	differSigma     = 6
	differErrors    = 0.01 // ratio
	differTimes     = 1.2
	differTail      = 2.0
	differTimeS     = 0.001
	differDelay     = 3.0
	differDelayS    = 0.005
	differencesKept = 100
)

// Disagree compares every source with all others together, at 6σ and by an
// amount that matters:
//
//	errors      two-sample ratio, 1 percentage point
//	median      share above the others' median, 1.2 times or 1/1.2 and 1 ms
//	p99         share above the others' p99, at least twice as slow and 1 ms
//	send_delay  p99 three times the others' and 5 ms longer
//
// The source that differs most is named and left out, and the rest are compared
// again, so that one odd source does not make the others look odd. Of two that
// differ, the worse one is named. σ assumes independent requests. Sources under
// one load at one time share most of what makes requests dependent, which is why
// 6σ is asked for and not 3.
func Disagree(sources []Source) []Difference {
	sources = slices.Clone(sources)
	slices.SortFunc(sources, func(a, b Source) int { return strings.Compare(a.Name, b.Name) })
	var out []Difference
	for _, compare := range [...]func(s, rest *Source) (Difference, bool){errorsOf, medianOf, tailOf, delayOf} {
		left := slices.Clone(sources)
		for len(left) > 1 && len(out) < differencesKept {
			d, at := furthest(left, compare)
			if at < 0 {
				break
			}
			out = append(out, d)
			left = slices.Delete(left, at, at+1)
		}
	}
	return out
}

// furthest finds the source that differs most from the others.
func furthest(sources []Source, compare func(s, rest *Source) (Difference, bool)) (worst Difference, at int) {
	at = -1
	for i := range sources {
		s := &sources[i]
		rest := others(sources, i)
		if s.Requests < leastRequests || rest.Requests < leastRequests {
			continue
		}
		d, ok := compare(s, &rest)
		if !ok {
			continue
		}
		d.Source = s.Name
		further := math.Abs(d.Sigma) - math.Abs(worst.Sigma)
		if tie := len(sources) == 2; at < 0 || !tie && further > 0 || tie && d.Sigma > worst.Sigma {
			worst, at = d, i
		}
	}
	return worst, at
}

// others is all sources but one, taken together.
func others(sources []Source, but int) Source {
	rest := Source{Response: response.New(3), SendDelay: response.New(3)}
	for i := range sources {
		if o := &sources[i]; i != but {
			rest.Requests += o.Requests
			rest.Errors += o.Errors
			rest.Response.Merge(o.Response)
			rest.SendDelay.Merge(o.SendDelay)
		}
	}
	return rest
}

func errorsOf(s, rest *Source) (Difference, bool) {
	n, m := float64(s.Requests), float64(rest.Requests)
	a, b := float64(s.Errors)/n, float64(rest.Errors)/m
	p := float64(s.Errors+rest.Errors) / (n + m)
	sd := math.Sqrt(p * (1 - p) * (1/n + 1/m))
	if sd == 0 || math.Abs(a-b) < differErrors || math.Abs(a-b) < differSigma*sd {
		return Difference{}, false
	}
	return Difference{What: "errors", Here: a, Others: b, Sigma: (a - b) / sd}, true
}

func medianOf(s, rest *Source) (Difference, bool) {
	d, ok := quantileGap(s.Response, rest.Response, 0.5)
	d.What = "median"
	a, b := d.Here, d.Others
	return d, ok && math.Abs(d.Sigma) >= differSigma && (a > differTimes*b || b > differTimes*a) && math.Abs(a-b) >= differTimeS
}

func tailOf(s, rest *Source) (Difference, bool) {
	d, ok := quantileGap(s.Response, rest.Response, 0.99)
	d.What = "p99"
	return d, ok && d.Sigma >= differSigma && d.Here > differTail*d.Others && d.Here-d.Others >= differTimeS
}

func delayOf(s, rest *Source) (Difference, bool) {
	d, ok := quantileGap(s.SendDelay, rest.SendDelay, 0.99)
	d.What = "send_delay"
	return d, ok && d.Sigma >= differSigma && d.Here > differDelay*d.Others && d.Here-d.Others >= differDelayS
}

func enough(a, b *response.Histogram) bool {
	return a != nil && b != nil && a.Count() >= leastRequests && b.Count() >= leastRequests
}

// quantileGap compares a quantile of both, in seconds: Sigma is how far the share
// of the first above the second's quantile lies from the second's own share.
func quantileGap(here, rest *response.Histogram, q float64) (d Difference, ok bool) {
	if !enough(here, rest) {
		return d, false
	}
	n, m := float64(here.Count()), float64(rest.Count())
	mark := rest.ValueAtRank(max(1, uint64(math.Ceil(q*m))))
	x := 1 - float64(here.CountAtOrBelow(mark))/n
	y := 1 - float64(rest.CountAtOrBelow(mark))/m
	p := (x*n + y*m) / (n + m)
	if sd := math.Sqrt(p * (1 - p) * (1/n + 1/m)); sd > 0 {
		d.Sigma = (x - y) / sd
	}
	d.Here = float64(here.ValueAtRank(max(1, uint64(math.Ceil(q*n))))) / 1e9
	d.Others = float64(mark) / 1e9
	return d, true
}
