package importer

import (
	"cmp"
	"math"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Thresholds of the test for a closed executor, measured on real runs: closed
// ones start 91 to 97 % of their iterations within 50 µs of an end, arrival-rate
// ones 0.3 to 2 %.
const (
	k6Least      = 20   // iterations that a test needs
	k6Follows    = 0.7  // share of starts that follow an end at once
	k6Beyond     = 0.4  // and how far over chance
	k6Chance     = 0.15 // over chance that does not count
	k6Anchor     = 2e6  // ns from the start of an iteration to its first request
	k6AnchorMean = 0.2  // of the mean distance between starts; chance has 0.25
)

// k6Profile is what the first events of a scenario show.
type k6Profile struct {
	iterations, requests int
	dropped              bool // an arrival was dropped while iterations went on
	model                sample.Model
	anchored             bool
	first                string  // name of the requests that iterations begin with, if they share it
	each                 float64 // requests of an iteration, 1 when that is not known
}

// k6Each is how many requests an iteration sends, further attempts left out. It
// is counted before the first failure, where there are no attempts, if that
// leaves enough.
func k6Each(events []k6Event) float64 {
	var requests, iterations int
	for i := range events {
		e := &events[i]
		switch {
		case e.kind == k6EndOfIteration:
			iterations++
		case e.kind != k6EndOfRequest:
		case e.request.failed && iterations >= k6Least:
			return k6Ratio(requests, iterations)
		case e.request.attempt <= 1:
			requests++
		}
	}
	return k6Ratio(requests, iterations)
}

func k6Ratio(requests, iterations int) float64 {
	if iterations == 0 || requests == 0 {
		return 1
	}
	n := float64(requests) / float64(iterations)
	if r := math.Round(n); r >= 1 && math.Abs(n-r) < 0.05*r {
		return r
	}
	return max(n, 1)
}

// k6Look finds out what a scenario is.
func k6Look(events []k6Event, unit int64) k6Profile {
	var p k6Profile
	var starts, ends []int64
	var requests []*k6Request
	var joined bool
	var drops []int64
	for i := range events {
		e := &events[i]
		switch e.kind {
		case k6EndOfIteration:
			starts, ends = append(starts, e.start), append(ends, e.end)
		case k6EndOfRequest:
			requests = append(requests, &e.request)
			joined = joined || e.request.joined
		case k6Drop:
			if e.value == 1 {
				drops = append(drops, e.end)
			}
		}
	}
	p.iterations, p.requests = len(starts), len(requests)
	slices.Sort(starts)
	slices.Sort(ends)
	if len(starts) > 0 && len(drops) > 0 {
		p.dropped = slices.Min(drops) < starts[len(starts)-1]
	}
	p.model = k6Model(starts, ends, unit)
	if p.dropped {
		p.model = sample.Open
	}
	p.anchored, p.first = k6Anchored(events, requests, starts, joined)
	p.each = k6Each(events)
	return p
}

// k6Model tells whether iterations start when others end. Both are sorted, and
// known to a unit.
func k6Model(starts, ends []int64, unit int64) sample.Model {
	if len(ends) < k6Least {
		return sample.UnknownModel
	}
	first, _ := slices.BinarySearch(starts, ends[0])
	starts = starts[first:]
	length := float64(ends[len(ends)-1] - ends[0])
	if len(starts) < k6Least || length <= 0 {
		return sample.UnknownModel
	}
	open := true
	for _, moment := range []int64{20e3, 50e3, 100e3, 200e3, 500e3} {
		n, within := 0, moment+unit
		for _, at := range starts {
			if i, found := slices.BinarySearch(ends, at); found || i > 0 && at-ends[i-1] <= within || i < len(ends) && ends[i]-at < unit {
				n++
			}
		}
		share := float64(n) / float64(len(starts))
		chance := 1 - math.Exp(-float64(len(ends))/length*float64(within))
		if share >= k6Follows && share-chance >= k6Beyond {
			return sample.Closed
		}
		if share-chance > k6Chance || moment <= 50e3 && chance > 0.6 {
			open = false
		}
	}
	if open {
		return sample.Open
	}
	return sample.UnknownModel
}

// k6Anchored reports whether iterations begin with their first request: half of
// them within a moment that is far shorter than chance would have it.
func k6Anchored(events []k6Event, requests []*k6Request, starts []int64, joined bool) (anchored bool, name string) {
	if len(requests) == 0 || len(starts) == 0 {
		return false, ""
	}
	names := map[string]int{}
	var gaps []int64
	first := map[[2]int64]int64{}
	if joined {
		for _, r := range requests {
			at := [2]int64{r.vu, r.iter}
			if v, ok := first[at]; !ok || r.start < v {
				first[at] = r.start
			}
		}
	}
	byStart := slices.Clone(requests)
	slices.SortFunc(byStart, func(a, b *k6Request) int { return cmp.Compare(a.start, b.start) })
	for i := range events {
		e := &events[i]
		if e.kind != k6EndOfIteration {
			continue
		}
		if joined {
			if v, ok := first[[2]int64{e.request.vu, e.request.iter}]; ok {
				gaps = append(gaps, distance(v, e.start))
			}
		} else if j := k6Nearest(byStart, e.start, e.end, ""); j >= 0 {
			gaps = append(gaps, distance(byStart[j].start, e.start))
			names[byStart[j].name]++
		}
	}
	if len(gaps) == 0 || 2*len(gaps) < len(starts) {
		return false, ""
	}
	for n, count := range names {
		if 10*count >= 6*len(gaps) {
			name = n
		}
	}
	slices.Sort(gaps)
	median := float64(gaps[len(gaps)/2])
	if joined || len(starts) < 2 {
		return median <= k6Anchor, name
	}
	mean := float64(starts[len(starts)-1]-starts[0]) / float64(len(starts)-1)
	return median <= k6Anchor && median <= k6AnchorMean*mean, name
}
