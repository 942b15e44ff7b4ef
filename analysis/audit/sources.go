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
// σ assumes independent requests. Sources under one load at one time share most
// of what makes requests dependent, which is why 6σ is asked for and not 3.
func Disagree(sources []Source) []Difference {
	var out []Difference
	if len(sources) < 2 {
		return nil
	}
	sources = slices.Clone(sources)
	slices.SortFunc(sources, func(a, b Source) int { return strings.Compare(a.Name, b.Name) })
	for i := range sources {
		s := &sources[i]
		rest := others(sources, i)
		if s.Requests < leastRequests || rest.Requests < leastRequests {
			continue
		}
		out = append(out, errorsOf(s, &rest)...)
		out = append(out, timesOf(s, &rest)...)
		if len(out) > differencesKept {
			break
		}
	}
	return out
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

func errorsOf(s, rest *Source) []Difference {
	n, m := float64(s.Requests), float64(rest.Requests)
	a, b := float64(s.Errors)/n, float64(rest.Errors)/m
	p := float64(s.Errors+rest.Errors) / (n + m)
	sd := math.Sqrt(p * (1 - p) * (1/n + 1/m))
	if sd == 0 || math.Abs(a-b) < differErrors || math.Abs(a-b) < differSigma*sd {
		return nil
	}
	return []Difference{{s.Name, "errors", a, b, (a - b) / sd}}
}

func timesOf(s, rest *Source) []Difference {
	var out []Difference
	if enough(s.Response, rest.Response) {
		a, b, z := quantileGap(s.Response, rest.Response, 0.5)
		if math.Abs(z) >= differSigma && (a > differTimes*b || b > differTimes*a) && math.Abs(a-b) >= differTimeS {
			out = append(out, Difference{s.Name, "median", a, b, z})
		}
		a, b, z = quantileGap(s.Response, rest.Response, 0.99)
		if z >= differSigma && a > differTail*b && a-b >= differTimeS {
			out = append(out, Difference{s.Name, "p99", a, b, z})
		}
	}
	if enough(s.SendDelay, rest.SendDelay) {
		a, b, z := quantileGap(s.SendDelay, rest.SendDelay, 0.99)
		if z >= differSigma && a > differDelay*b && a-b >= differDelayS {
			out = append(out, Difference{s.Name, "send_delay", a, b, z})
		}
	}
	return out
}

func enough(a, b *response.Histogram) bool {
	return a != nil && b != nil && a.Count() >= leastRequests && b.Count() >= leastRequests
}

// quantileGap returns a quantile of both in seconds and by how many σ the share
// of the first above the second's quantile differs from the second's own.
func quantileGap(here, rest *response.Histogram, q float64) (a, b, z float64) {
	n, m := here.Count(), rest.Count()
	mark := rest.ValueAtRank(max(1, uint64(math.Ceil(q*float64(m)))))
	x := 1 - float64(here.CountAtOrBelow(mark))/float64(n)
	y := 1 - float64(rest.CountAtOrBelow(mark))/float64(m)
	p := (x*float64(n) + y*float64(m)) / float64(n+m)
	if sd := math.Sqrt(p * (1 - p) * (1/float64(n) + 1/float64(m))); sd > 0 {
		z = (x - y) / sd
	}
	a = float64(here.ValueAtRank(max(1, uint64(math.Ceil(q*float64(n)))))) / 1e9
	return a, float64(mark) / 1e9, z
}
