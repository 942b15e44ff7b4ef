package sim

import (
	"math"
	"math/rand/v2"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Rung is a line of a table of a load test: what happened within one step, in
// requests per second. What is offered and neither completed, shed nor dropped
// times out.
type Rung struct {
	Offered, Completed, Goodput, Shed float64
	Dropped                           float64 // share of what is offered
	Seconds, PauseS                   float64 // how long it lasts, and the pause after it
	Attempts                          int     // of what times out; below 2: one
}

// BeforeFix is the published table of a checkout whose clients time out: it
// collapses past 462/s. How long its rungs last is not of the table.
func BeforeFix() []Rung {
	return []Rung{
		{Offered: 200, Completed: 200, Goodput: 200},
		{Offered: 300, Completed: 300, Goodput: 300},
		{Offered: 400, Completed: 400, Goodput: 400},
		{Offered: 450, Completed: 449, Goodput: 449},
		{Offered: 500, Completed: 462, Goodput: 351, Dropped: 0.002},
		{Offered: 550, Completed: 441, Goodput: 88, Dropped: 0.041},
		{Offered: 600, Completed: 337, Goodput: 0, Dropped: 0.22},
	}
}

// AfterFix is the published table of the same checkout once it sheds the excess.
func AfterFix() []Rung {
	return []Rung{
		{Offered: 500, Completed: 460, Goodput: 460, Shed: 40},
		{Offered: 550, Completed: 461, Goodput: 461, Shed: 89},
		{Offered: 600, Completed: 459, Goodput: 459, Shed: 141},
		{Offered: 700, Completed: 458, Goodput: 458, Shed: 242},
	}
}

// What becomes of the requests of a table. Times are ns.
const (
	InTime   = 60e6 // completed within any deadline worth the name
	TooLate  = 3e9  // completed, and late
	Patience = 5e9  // timed out, whatever the number of attempts
	ShedIn   = 2e6  // turned away
)

// Table makes rows of which every count of a table comes out: one for each
// attempt, and when arrivals were dropped. Arrivals are paced, and what becomes
// of them is spread evenly. Without rng all requests of a kind take the same time.
// It also returns when the last pause ends.
func Table(startNS int64, rungs []Rung, rng *rand.Rand) (rows []sample.Row, dropped []int64, endNS int64) {
	t := table{rng: rng}
	from := startNS
	for _, r := range rungs {
		share := [...]float64{
			r.Goodput, r.Completed - r.Goodput, r.Shed, r.Dropped * r.Offered,
			r.Offered*(1-r.Dropped) - r.Completed - r.Shed,
		}
		var given [len(share)]float64
		for i := range int64(r.Offered * r.Seconds) {
			kind, most := 0, math.Inf(-1)
			for k := range share {
				if lack := share[k]*float64(i+1)/r.Offered - given[k]; share[k] > 0 && lack > most {
					kind, most = k, lack
				}
			}
			given[kind]++
			if due := from + i*1e9/int64(r.Offered); kind == drop {
				dropped = append(dropped, due)
			} else {
				t.add(due, kind, r.Attempts)
			}
		}
		from += int64((r.Seconds + r.PauseS) * 1e9)
	}
	return t.rows, dropped, from
}

// Places of the shares of a rung.
const (
	inTime = iota
	tooLate
	shed
	drop
	timeout
)

// table is the rows made so far.
type table struct {
	rng  *rand.Rand
	rows []sample.Row
	key  uint64
}

// add adds what was seen of a request.
func (t *table) add(due int64, kind, attempts int) {
	row := sample.Row{Intended: due, Sent: due + t.delay(), Index: sample.NoIndex}
	switch kind {
	case inTime:
		row.Done = row.Sent + t.logNormal(InTime)
	case tooLate:
		row.Done = row.Sent + TooLate + t.exponential(400e6)
	case shed:
		row.Done, row.Outcome, row.Status = row.Sent+t.logNormal(ShedIn), sample.Shed, 503
	default:
		t.timedOut(row, attempts)
		return
	}
	t.rows = append(t.rows, row)
}

// timedOut adds a request that nobody answered: one attempt after another, which
// share its patience.
func (t *table) timedOut(row sample.Row, attempts int) {
	row.Outcome = sample.Timeout
	if attempts < 2 {
		row.Done = row.Sent + Patience
		t.rows = append(t.rows, row)
		return
	}
	t.key++
	row.Key, row.Flags = t.key, sample.RequestKey
	for k := range attempts {
		row.Done, row.Attempt = row.Sent+int64(Patience)/int64(attempts), uint16(k)
		if k == attempts-1 {
			row.Flags |= sample.LastAttempt
		}
		t.rows = append(t.rows, row)
		row.Sent = row.Done + t.exponential(50e6)
	}
}

// logNormal draws a time around its median, ns.
func (t *table) logNormal(median float64) int64 {
	if t.rng == nil {
		return int64(median)
	}
	return int64(median * math.Exp(0.05*t.rng.NormFloat64()))
}

// exponential draws a time that may be missed, ns.
func (t *table) exponential(mean float64) int64 {
	if t.rng == nil {
		return 0
	}
	return int64(mean * t.rng.ExpFloat64())
}

// delay draws how much later than due a request is sent, ns.
func (t *table) delay() int64 {
	if t.rng == nil {
		return 0
	}
	return t.logNormal(150e3)
}
