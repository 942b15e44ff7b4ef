package importer

import (
	"cmp"
	"math"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

const (
	creditWindow = 16384 // requests that are looked at together
	creditHeld   = 9.2   // arrivals that should have come while none did: e^-9.2 is one in ten thousand
	creditFull   = 0.9   // of the time, from where the client sends as answers come
)

// credits tells whether aiperf issued its credits when requests were due. A
// credit waits for a slot of --concurrency: without a rate it is issued when an
// answer came, and with one a tick that finds no slot is skipped and counted
// nowhere. Either is seen in that no credit ever comes while the most requests
// that there were are out.
type credits struct {
	sink     *Sink
	rows     []sample.Row
	sessions []int64  // of each row; a conversation holds its slot to its last answer
	issue    []moment // and ends, of the requests that are looked at
	group    sample.Group
	held     bool
}

// moment is when a request was issued, or ended.
type moment struct {
	at   int64
	more int // 1 or -1
}

// add takes a request whose Intended is when its credit was issued, or 0.
func (c *credits) add(r *sample.Row, session int64) error {
	c.sessions = append(c.sessions, session)
	if c.rows = append(c.rows, *r); len(c.rows) < creditWindow {
		return nil
	}
	return c.flush(false)
}

// flush hands the requests on, timed from their credits unless these were held
// back. The last ones are those after which none is out.
func (c *credits) flush(last bool) error {
	if !c.held {
		if share, held := c.look(last); held {
			c.held = true
			c.explain(share)
		}
	}
	for i := range c.rows {
		if c.held {
			c.rows[i].Intended = 0
		}
		if err := c.sink.Row(&c.group, &c.rows[i]); err != nil {
			return err
		}
	}
	c.rows, c.sessions = c.rows[:0], c.sessions[:0]
	return nil
}

func (c *credits) explain(share float64) {
	if share >= creditFull {
		c.group.Model = sample.Closed
	}
	c.sink.Warn("no credit was issued while the most requests were out, %.0f %% of the time: --concurrency held credits back, so that requests "+
		"were due earlier or were left out and counted nowhere; they are counted from the send", 100*share)
	c.sink.Advise("aiperf without --concurrency, at a --request-rate, issues each credit when it is due")
}

// look sweeps over the requests of the window and returns the share of the time
// at which the most of them were out, and whether that held credits back.
func (c *credits) look(last bool) (share float64, held bool) {
	c.issue = c.issue[:0]
	var issued []int64
	longest, end := int64(0), int64(0)
	until := c.until()
	for i := range c.rows {
		if r := &c.rows[i]; r.Intended > 0 {
			done := max(r.Done, until[c.sessions[i]])
			issued = append(issued, r.Intended)
			c.issue = append(c.issue, moment{r.Intended, 1}, moment{done, -1})
			longest, end = max(longest, done-r.Intended), max(end, done)
		}
	}
	if len(issued) < 2 {
		return 0, false
	}
	slices.Sort(issued)
	to := issued[len(issued)-1]
	if !last {
		to = min(to, end-longest) // what is out longer is in the next window
	}
	slices.SortFunc(c.issue, func(a, b moment) int {
		if a.at != b.at {
			return cmp.Compare(a.at, b.at)
		}
		return a.more - b.more
	})
	out, most, full := 0, 0, int64(0)
	for i, m := range c.issue {
		if out += m.more; m.at > to {
			break
		}
		if out > most {
			most, full = out, 0
		}
		if out == most && i+1 < len(c.issue) {
			full += min(c.issue[i+1].at, to) - m.at
		}
	}
	length := float64(to - issued[0])
	if length <= 0 {
		return 0, false
	}
	share = float64(full) / length
	missing := share * float64(len(issued))
	return share, missing > creditHeld && !(evenly(issued) && (most > 1 || share <= 0.5))
}

// until returns when the conversations of the window ended that have later turns.
func (c *credits) until() map[int64]int64 {
	ends := map[int64]int64{}
	for i := range c.rows {
		if r := &c.rows[i]; r.Intended == 0 {
			ends[c.sessions[i]] = max(ends[c.sessions[i]], r.Done)
		}
	}
	return ends
}

// evenly reports whether times, ascending, come at a constant rate. Those of a
// client that is held back come in groups, unless it has a single slot.
func evenly(times []int64) bool {
	gaps := make([]int64, len(times)-1)
	for i := range gaps {
		gaps[i] = times[i+1] - times[i]
	}
	slices.Sort(gaps)
	usual := float64(gaps[len(gaps)/2])
	near := 0
	for _, g := range gaps {
		if math.Abs(float64(g)-usual) <= 0.2*usual {
			near++
		}
	}
	return float64(near) >= 0.9*float64(len(gaps))
}
