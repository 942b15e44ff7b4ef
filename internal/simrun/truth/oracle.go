package truth

import (
	"math"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// seen is what a perfect observer counts in a stretch [from, to).
type seen struct {
	due, dropped int64 // requests due in it
	outcomes     [sample.Outcomes]int64
	good         int64   // of those, OK within the deadline
	took         []int64 // response times of those not shed or dropped, rising
	waited       []int64 // of those of them that were never answered, how long they had waited
	ended, ok    int64   // that ended in it
	area         float64 // integral of the number in flight, s
	atEnd        int64   // in flight at the end
	drainedAt    int64   // when those in flight at the end had all ended
	seconds      float64
}

// window counts the requests of a stretch. Rows carry the ends that the rest of
// the simulation gave them, as the telemetry of a test does that goes on.
func (c *Case) window(from, to int64) *seen {
	w := &seen{seconds: float64(to-from) / 1e9}
	for i := range c.Requests {
		q := &c.Requests[i]
		if q.Due >= from && q.Due < to {
			w.due++
			if q.Dropped {
				w.dropped++
				continue
			}
			w.outcomes[q.Outcome]++
			w.cohort(q, c.DeadlineNS)
		}
		if q.Dropped {
			continue
		}
		if q.End > from && q.End <= to {
			w.ended++
			if q.Outcome == sample.OK {
				w.ok++
			}
		}
		if a, b := max(from, q.Due), min(to, q.End); b > a {
			w.area += float64(b-a) / 1e9
		}
		if q.Due < to && q.End > to {
			w.atEnd++
			w.drainedAt = max(w.drainedAt, q.End)
		}
	}
	slices.Sort(w.took)
	slices.Sort(w.waited)
	return w
}

func (w *seen) cohort(q *Request, deadline int64) {
	took := q.End - q.Due
	switch q.Outcome {
	case sample.Shed:
		return
	case sample.OK:
		if deadline == 0 || took <= deadline {
			w.good++
		}
	case sample.Timeout, sample.Cancelled:
		w.waited = append(w.waited, took)
	}
	w.took = append(w.took, took)
}

// quantile is the nearest-rank quantile of the response times in seconds; 0 when
// there are none, or when it lies at or beyond the first that was not seen to end.
func (w *seen) quantile(q float64) float64 {
	n := len(w.took)
	if n == 0 {
		return 0
	}
	v := w.took[max(0, int(math.Ceil(q*float64(n)-1e-9))-1)]
	if len(w.waited) > 0 && v >= w.waited[0] {
		return 0
	}
	return float64(v) / 1e9
}

// lost is the share of the requests sent that got no successful answer.
func (w *seen) lost() float64 {
	sent := w.due - w.dropped
	if sent == 0 {
		return 0
	}
	return 1 - float64(w.outcomes[sample.OK])/float64(sent)
}

// shed reports whether most of the losses were rejections.
func (w *seen) shed() bool {
	lost := w.due - w.dropped - w.outcomes[sample.OK]
	return 2*w.outcomes[sample.Shed] > lost
}

// Recovery is what became of a server after a push, by an observer who watches
// for much longer than the test did.
type Recovery struct {
	Known   bool
	Never   bool    // not within the time simulated
	AfterS  float64 // from the return: the first second that begins 30 of which all but two are like before
	WatchS  float64
	BeyondS float64
}

// recovery watches the seconds after the return of a push.
func recovery(all []Request, legs []Leg, deadline int64) Recovery {
	back := legs[2].From
	type cell struct {
		due, good, n float64
		took         []float64
	}
	length := int((legs[2].To-Start)/1e9) + beyond
	cells := make([]cell, length)
	at := func(ns int64) int { return int((ns - Start) / 1e9) }
	for i := range all {
		q := &all[i]
		k := at(q.Due)
		if k >= length {
			continue
		}
		cells[k].due++
		if q.Outcome == sample.OK && q.End-q.Due <= deadline {
			cells[k].good++
		}
		cells[k].took = append(cells[k].took, float64(q.End-q.Due)/1e9)
		for s := k; s < length && Start+int64(s)*1e9 < q.End; s++ {
			from, to := Start+int64(s)*1e9, Start+int64(s+1)*1e9
			cells[s].n += float64(min(to, q.End)-max(from, q.Due)) / 1e9
		}
	}
	median := func(c cell) float64 {
		if len(c.took) == 0 {
			return 0
		}
		slices.Sort(c.took)
		return c.took[len(c.took)/2]
	}
	base := cells[12:at(legs[1].From)]
	var n, good, due, took float64
	for _, c := range base {
		n, good, due = max(n, c.n), good+c.good, due+c.due
		took = max(took, median(c))
	}
	r := Recovery{Known: true, Never: true, WatchS: legs[2].Seconds, BeyondS: beyond}
	fine := func(c cell) bool {
		share := good / due
		noise := 3*math.Sqrt(share*(1-share)*c.due) + 1
		return c.good >= (share-0.05)*c.due-noise && c.n <= 1.5*n+3 && median(c) <= 2*took
	}
	first := at(back)
	for i := first; i+30 <= length-20; i++ {
		bad := 0
		for _, c := range cells[i : i+30] {
			if !fine(c) {
				bad++
			}
		}
		if fine(cells[i]) && bad <= 2 {
			r.Never, r.AfterS = false, float64(i-first)
			break
		}
	}
	return r
}
