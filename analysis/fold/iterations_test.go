package fold_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// loopStart is when the iterations of these tests begin, Unix ns.
const loopStart = int64(1_796_000_000_000_000_000)

// looped makes the requests and iterations of a generator that drops what it
// cannot start, for 20 s: ten workers without a pause, or 90 arrivals a second.
// Requests end up to 20 ms after one another, as of a service with one slot.
func looped(rng *rand.Rand, isClosed bool) []*sample.Batch {
	var rows []sample.Row
	b := &sample.Batch{Series: []sample.Series{{Source: "gen", Service: "k6", Scope: "k6", Name: "loadtest.iteration", Kind: sample.DeltaSum}}}
	add := func(from, to int64) {
		r := foldtest.Row(0, from+300e3, to-200e3)
		r.Intended, r.Flags = 0, sample.StartIsDue
		rows = append(rows, r)
		b.Points = append(b.Points, sample.Point{Start: from, Time: to, Value: 1})
	}
	if isClosed {
		for w := range int64(10) {
			for at := epoch + w*10e6; at < epoch+20e9; {
				end := at + 90e6 + rng.Int64N(20e6)
				add(at, end)
				at = end + 20e3 + rng.Int64N(40e3)
			}
		}
	} else {
		for i := range int64(1800) {
			at := epoch + i*1e9/90
			add(at, at+40e6+rng.Int64N(20e6))
		}
	}
	slices.SortFunc(rows, func(a, b sample.Row) int { return int(a.Sent - b.Sent) })
	return append(foldtest.Batches(sample.Group{Source: "gen", Generator: "k6"}, rows, 256), b)
}

// TestIterationsTellClosedLoops: a start that is called due is one only if
// iterations do not follow one another.
func TestIterationsTellClosedLoops(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 5))
	for _, c := range []struct {
		closed bool
		model  sample.Model
		grade  fold.Grade
	}{{true, sample.Closed, fold.GradeS}, {false, sample.UnknownModel, fold.GradeC}} {
		batches := looped(rng, c.closed)
		for range 2 {
			st := folded(t, &foldtest.Evidence{Batches: batches})
			if st.Model != c.model || st.Grade != c.grade || st.Totals.Grade != c.grade {
				t.Errorf("closed %v: model %v, grade %v, %v", c.closed, st.Model, st.Grade, st.Totals.Grade)
			}
			slices.Reverse(batches) // the order of batches says nothing
			batches = append(batches, batches[0])
			batches = batches[1:]
		}
	}
}

// TestDropsCountAsRequests: an iteration that sends three requests and is dropped
// is three requests that were due.
func TestDropsCountAsRequests(t *testing.T) {
	t.Parallel()
	var rows []sample.Row
	b := &sample.Batch{}
	for _, name := range []string{"loadtest.iteration", "loadtest.iterations", "loadtest.arrivals.dropped"} {
		b.Series = append(b.Series, sample.Series{Source: "gen", Service: "k6", Scope: "k6", Name: name, Kind: sample.DeltaSum})
	}
	for i := range int64(1000) {
		at := loopStart + i*10e6
		for k := range int64(3) {
			r := foldtest.Row(0, at+k*30e6, at+k*30e6+20e6)
			r.Intended, r.Flags = 0, sample.StartIsDue
			rows = append(rows, r)
		}
		b.Points = append(b.Points, sample.Point{Series: 0, Start: at, Time: at + 90e6, Value: 1})
		if i%100 == 99 {
			b.Points = append(b.Points, sample.Point{Series: 1, Start: at - 990e6, Time: at, Value: 99}, sample.Point{Series: 2, Start: at - 1, Time: at, Value: 20})
		}
	}
	st := folded(t, &foldtest.Evidence{Batches: append(foldtest.Batches(sample.Group{Source: "gen", Generator: "k6"}, rows, 256), b)})
	if st.PerIteration != 3 || st.Totals.Dropped != 600 {
		t.Errorf("%v requests of an iteration, %d dropped, want 3 and 600", st.PerIteration, st.Totals.Dropped)
	}
}

// TestLookLearnsOfClosedLoops: a look stops watching a run once its iterations
// show that it follows no schedule.
func TestLookLearnsOfClosedLoops(t *testing.T) {
	t.Parallel()
	batches := looped(rand.New(rand.NewPCG(6, 6)), true)
	f := &follower{ev: foldtest.Evidence{Of: fold.Run{ID: "r"}}}
	look := fold.NewLook(f.open)
	watched := false
	for _, b := range batches {
		f.ev.Batches = append(f.ev.Batches, b)
		now, err := look.Update(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		watched = now.Watched
	}
	if watched {
		t.Error("a closed loop is watched")
	}
}
