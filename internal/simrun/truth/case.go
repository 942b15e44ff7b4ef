package truth

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Start is the event time at which every case begins, ns.
const Start = int64(1_750_000_000_000_000_000)

// Leg is a stretch of the plan at one rate, or a ramp to another, and the pause
// after it. Rho is its rate over the true capacity.
type Leg struct {
	Rate, ToRate, Seconds, PauseS float64
	Rho                           float64
	From, To                      int64
}

// Request is what a perfect observer saw of one arrival. Times are ns.
type Request struct {
	Due, Sent, End int64
	Outcome        sample.Outcome
	Dropped        bool
	Attempts       int
}

// Case is a run of which everything is known.
type Case struct {
	Spec
	Seed        uint64
	Capacity    float64 // 1/s, of the server when all is well
	Sources     int     // generators that share the load
	Legs        []Leg
	Requests    []Request    // by due time
	Rows        []sample.Row // one per attempt that was sent, by its end
	Group       sample.Group
	Declaration *wire.Declaration
	DeadlineNS  int64
	Stop        [2]int64 // from and to of the one stop of the server; 0 without
	Slow        bool     // clients time out after less than ten mean service times
	LeakTo      float64  // by how much slower a leaking server is at the end
	Recovery    Recovery // of a push
	Objective   *bool    // whether the objective of the declaration is met; nil without one
}

// ID names the run.
func (c *Case) ID() string { return c.Name() + "-" + itoa(c.Seed) }

// Describe says in one line what kind of run it is.
func (c *Case) Describe() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s plan, %s server of %.0f/s, %s client, %s arrivals, schedule %s; loads", c.Plan, c.Server, c.Capacity, c.Client, c.Arrivals, c.Knowing)
	for _, l := range c.Legs {
		fmt.Fprintf(&s, " %.2f", l.Rho)
		if l.ToRate > 0 {
			fmt.Fprintf(&s, "..%.2f", l.ToRate/c.Capacity)
		}
	}
	return s.String()
}

// order sorts what was seen, and what is sent, in time.
func (c *Case) order() {
	slices.SortStableFunc(c.Requests, func(a, b Request) int { return cmp.Compare(a.Due, b.Due) })
	slices.SortStableFunc(c.Rows, func(a, b sample.Row) int { return cmp.Compare(a.Done, b.Done) })
}

// declare writes the plan down as its user would.
func (c *Case) declare(process string) *wire.Declaration {
	at := time.Unix(0, Start).UTC()
	d := &wire.Declaration{ID: c.ID(), Name: c.Name(), Start: &at, Arrival: &wire.Arrival{Model: "open", Process: process}}
	if c.DeadlineNS > 0 {
		deadline := float64(c.DeadlineNS) / 1e9
		d.DeadlineS = &deadline
	}
	for _, l := range c.Legs {
		s := wire.DeclareStep{RatePerS: l.Rate, DurationS: l.Seconds, PauseS: l.PauseS}
		if l.ToRate > 0 {
			s.ToRate = &l.ToRate
		}
		d.Steps = append(d.Steps, s)
	}
	return d
}
