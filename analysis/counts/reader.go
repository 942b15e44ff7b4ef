package counts

import (
	"maps"
	"math"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// reader adds one series to an input, in the role that it plays.
type reader struct {
	series sample.Series
	naming naming
	stream string
	lives  lives
}

// read adds the series to the intervals that end at times.
func (r *reader) read(in *Input, times []int64) {
	if v, ok := attribute(r.series.Attributes, "otel.metric.overflow"); ok && v == "true" {
		in.Overflow = true
	}
	starts := slices.Sorted(maps.Keys(r.lives))
	switch {
	case r.naming.role == inFlight || r.naming.role == limit || r.naming.role == meanOf:
		r.levels(in, times)
	case r.naming.role == summary || r.naming.role == summaryCorrected:
		r.summarise(in)
	case r.series.Kind == sample.Histogram || r.series.Kind == sample.DeltaHisto:
		for _, start := range starts {
			r.distributions(in, times, r.lives[start])
		}
	default:
		for _, start := range starts {
			r.counts(in, times, r.lives[start])
		}
	}
}

// at returns the interval that a time belongs to: the first that ends no earlier.
func at(times []int64, t int64) int {
	i, _ := slices.BinarySearch(times, t)
	return min(i, len(times)-1)
}

// counts adds the increments of one life. The first value of a series counts in
// the interval of its export, whatever its start: series that appear late carry
// the start of the whole instrument. A fall opens a new life from zero.
func (r *reader) counts(in *Input, times []int64, life map[int64]sample.Point) {
	sign := r.naming.sign
	if sign == 0 {
		sign = 1
	}
	var last float64
	for _, t := range slices.Sorted(maps.Keys(life)) {
		v := life[t].Value
		inc := v
		if r.series.Kind != sample.DeltaSum {
			if v >= last {
				inc = v - last
			}
			last = v
		}
		r.count(&in.Intervals[at(times, t)], sign*inc)
	}
}

func (r *reader) count(v *Interval, n float64) {
	switch r.naming.role {
	case ended:
		v.Ended += n
	case failed:
		v.Failed += n
	case service:
		v.ServiceS = plus(v.ServiceS, n)
	case started:
		v.Started = plus(v.Started, n)
	case dropped:
		v.Dropped += n
	case requests:
		v.Requests += n
	case failures:
		v.FailedRequests += n
	case badChecks:
		v.FailedChecks += n
	default: // a counter where a distribution or a level was expected says nothing
	}
}

// distributions adds the increments of one life of a histogram.
func (r *reader) distributions(in *Input, times []int64, life map[int64]sample.Point) {
	unit := unitS(r.series.Unit, r.naming.unitS)
	var last *Buckets
	for _, t := range slices.Sorted(maps.Keys(life)) {
		p := life[t]
		if p.Histogram == nil {
			continue
		}
		b := newBuckets(p.Histogram, p.Value, unit)
		inc := b
		if r.series.Kind == sample.Histogram {
			if last != nil && b.Count() >= last.Count() {
				inc = combine(b, last, -1)
			}
			last = b
		}
		v := &in.Intervals[at(times, t)]
		switch r.naming.role {
		case durations:
			v.Durations = sum(v.Durations, inc)
			v.ServiceS = plus(v.ServiceS, inc.Sum)
		case answers:
			v.Answers = sum(v.Answers, inc)
		case corrected:
			v.Corrected = sum(v.Corrected, inc)
		default: // a count: take how many there are
			r.count(v, inc.Count())
		}
	}
}

// levels sets what held at the end of each interval. Levels of several series
// add up. A level is not carried over an export that lacks it.
func (r *reader) levels(in *Input, times []int64) {
	newest := make(map[int]int64, len(times))
	for _, life := range r.lives {
		for t := range life {
			if i := at(times, t); t > newest[i] {
				newest[i] = t
			}
		}
	}
	for i, t := range newest {
		var value float64
		for _, life := range r.lives {
			if p, ok := life[t]; ok {
				value = max(value, p.Value)
			}
		}
		v := &in.Intervals[i]
		switch r.naming.role {
		case inFlight:
			v.InFlight = plus(v.InFlight, value)
		case limit:
			v.Limit = plus(v.Limit, value)
		default:
			v.ServiceS = plus(v.ServiceS, value*unitS(r.series.Unit, r.naming.unitS)) // mean, until finish
		}
	}
}

// finish derives what the generator does not send.
func finish(in *Input, g *generator) {
	counted, starts := false, false
	for i := range in.Intervals {
		counted = counted || in.Intervals[i].Ended > 0
		starts = starts || in.Intervals[i].Started > 0
	}
	var level, before float64
	for i := range in.Intervals {
		v := &in.Intervals[i]
		if starts && math.IsNaN(v.Started) {
			v.Started = 0
		}
		if g.scheduled && starts {
			v.Started = max(0, v.Started-v.Dropped)
		}
		switch {
		case counted:
		case g.endedFromDurations:
			v.Ended = firstOf(v.Durations, v.Answers).Count()
		case starts && !math.IsNaN(v.InFlight):
			v.Ended = max(0, v.Started-(v.InFlight-before))
			before = v.InFlight
		}
		switch {
		case g.sendsMeans && v.Failed > 0:
			v.ServiceS = math.NaN() // the mean leaves failed ones out
		case g.sendsMeans:
			v.ServiceS *= v.Ended // gauges that are repeated with nothing ended add nothing
		case v.Ended == 0 && math.IsNaN(v.ServiceS):
			v.ServiceS = 0
		}
		if level += v.Started - v.Ended; starts && math.IsNaN(v.InFlight) {
			v.InFlight = max(0, level)
		}
	}
}

// plus adds to a value that may not be known yet.
func plus(a, b float64) float64 {
	if math.IsNaN(a) {
		return b
	}
	return a + b
}

// unitS returns a unit of time in seconds.
func unitS(unit string, otherwise float64) float64 {
	switch unit {
	case "s":
		return 1
	case "ms":
		return ms
	case "us", "µs":
		return 1e-6
	case "ns":
		return 1e-9
	}
	return otherwise
}
