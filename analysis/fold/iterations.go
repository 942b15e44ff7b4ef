package fold

import (
	"cmp"
	"math"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// iterationName is the metric by which a generator tells of each iteration of
// its script: from Start to Time. The requests of the iterations are rows.
const (
	iterationName  = "loadtest.iteration"
	iterationsName = "loadtest.iterations" // how many ended
)

// Thresholds of the test for a closed executor, measured on real runs of k6:
// closed ones start 91 to 97 % of their iterations within 50 µs of an end,
// arrival-rate ones 0.3 to 2 %.
const (
	leastIterations = 20
	mostIterations  = 4000 // the first ones of each stream, which are enough and bound the cost
	followsAtOnce   = 0.7  // share of starts that follow an end at once
	beyondChance    = 0.4  // and how far that is over chance
)

// iterations are those of one stream.
type iterations struct{ all []iteration }

type iteration struct{ from, to int64 }

// add takes the iterations that a batch tells of.
func (f *folder) addIterations(b *sample.Batch) {
	for i := range b.Points {
		p := &b.Points[i]
		s := &b.Series[p.Series]
		if s.Name != iterationName || p.Start <= 0 || p.Start > p.Time {
			continue
		}
		if f.iterations == nil {
			f.iterations = map[sample.Series]*iterations{}
		}
		it := f.iterations[*s]
		if it == nil {
			it = &iterations{}
			f.iterations[*s] = it
		}
		it.all = append(it.all, iteration{p.Start, p.Time})
		if len(it.all) >= 2*mostIterations {
			it.first()
		}
	}
}

// first keeps the iterations that ended first, each once.
func (it *iterations) first() {
	slices.SortFunc(it.all, func(a, b iteration) int { return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(a.from, b.from)) })
	it.all = slices.Compact(it.all)
	it.all = it.all[:min(len(it.all), mostIterations)]
}

// closed reports whether iterations start as others end, and how many could
// tell.
func (it *iterations) closed() bool {
	it.first()
	if len(it.all) < leastIterations {
		return false
	}
	first, last := it.all[0].to, it.all[len(it.all)-1].to
	var lags []int64 // from the end before a start to it
	for _, i := range it.all {
		if i.from < first {
			continue // what it followed may not be known
		}
		k, found := slices.BinarySearchFunc(it.all, i.from, func(a iteration, t int64) int { return cmp.Compare(a.to, t) })
		if found {
			lags = append(lags, 0)
		} else {
			lags = append(lags, i.from-it.all[k-1].to)
		}
	}
	if len(lags) < leastIterations || last <= first {
		return false
	}
	slices.Sort(lags)
	for _, within := range []int64{20e3, 50e3, 100e3, 200e3, 500e3} {
		n, _ := slices.BinarySearch(lags, within+1)
		share := float64(n) / float64(len(lags))
		chance := 1 - math.Exp(-float64(len(it.all))/float64(last-first)*float64(within))
		if share >= followsAtOnce && share-chance >= beyondChance {
			return true
		}
	}
	return false
}

// follow finds out whether the starts of iterations follow their ends. Then they
// are those of a closed loop, and nothing was due when it started.
func (f *folder) follow() {
	if d := f.run.Declaration; d != nil && d.Arrival != nil && d.Arrival.Model == "open" {
		return
	}
	for _, it := range f.iterations {
		if it.closed() {
			f.nameModel(sample.Closed)
			f.follows = true
		}
	}
	if f.follows && f.weakest == GradeC {
		f.weakest = GradeS
	}
	f.perIteration()
}

// nearWhole is how far the number of requests of an iteration may be from a
// whole number that is taken for it: iterations under way at the end are cut off.
const nearWhole = 0.05

// perIteration finds out how many requests an iteration sent on average, where a
// generator counts iterations. What it dropped were iterations, and each would
// have sent as many.
func (f *folder) perIteration() {
	if len(f.iterations) == 0 || f.part() {
		return
	}
	scope := ""
	for s := range f.iterations {
		if scope != "" && s.Scope != scope {
			return
		}
		scope = s.Scope
	}
	for _, g := range f.groups {
		if g.Generator != scope {
			return
		}
	}
	r := f.meter.reading(iterationsName)
	if r == nil {
		return
	}
	n := float64(r.count(r.times[0]-1, r.times[len(r.times)-1]))
	if n < leastIterations {
		return
	}
	each := max(1, float64(f.rows-f.resent)/n)
	if w := math.Round(each); math.Abs(each-w) < nearWhole*w {
		each = w
	}
	f.perEach, f.meter.times, f.meter.read = each, map[string]float64{scope: each}, nil
}

// scale multiplies what was counted.
func scale(lives []life, by float64) {
	for i := range lives {
		for k := range lives[i].value {
			lives[i].value[k] *= by
		}
	}
}
