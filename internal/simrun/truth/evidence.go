package truth

import (
	"fmt"

	"github.com/plimsoll/plimsoll/analysis/fold"
	"github.com/plimsoll/plimsoll/analysis/fold/foldtest"
	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Part is what one generator sends.
type Part struct {
	Group sample.Group
	Rows  []sample.Row // by their end
}

// Parts divides the rows among the generators. Attempts of one request stay
// together.
func (c *Case) Parts() []Part {
	out := make([]Part, c.Sources)
	for i := range out {
		out[i].Group = c.Group
		out[i].Group.Source = fmt.Sprintf("loadgen-%d", i)
	}
	for _, r := range c.Rows {
		key := uint64(r.Sent)
		if r.Key != 0 {
			key = r.Key
		}
		at := (key * 0x9e3779b97f4a7c15 >> 32) % uint64(c.Sources)
		out[at].Rows = append(out[at].Rows, r)
	}
	return out
}

// Counter is a cumulative count of the generators.
type Counter struct {
	Name   string
	At     []int64
	Values []float64
}

// Counters are what generators count beside their rows, once a second: arrivals
// scheduled and dropped where workers are capped or spans get lost, and the
// integral of the requests in flight.
func (c *Case) Counters() []Counter {
	var out []Counter
	if c.Client == WorkersDrop || c.Telemetry == Lost {
		out = append(out, c.counter("loadtest.arrivals.scheduled", func(q *Request, at int64) float64 {
			if q.Due < at {
				return 1
			}
			return 0
		}))
	}
	if c.Client == WorkersDrop {
		out = append(out, c.counter("loadtest.arrivals.dropped", func(q *Request, at int64) float64 {
			if q.Dropped && q.Due < at {
				return 1
			}
			return 0
		}))
	}
	if c.Telemetry == Counted {
		out = append(out, c.counter("loadtest.requests.in_flight_time", func(q *Request, at int64) float64 {
			if q.Dropped || q.Sent >= at {
				return 0
			}
			return float64(min(q.End, at)-q.Sent) / 1e9
		}))
	}
	return out
}

// counter adds up what each request adds by a time, until nothing more comes.
func (c *Case) counter(name string, adds func(q *Request, at int64) float64) Counter {
	k := Counter{Name: name}
	last := int64(0)
	for i := range c.Requests {
		last = max(last, c.Requests[i].Due, c.Requests[i].End)
	}
	var settled float64 // of requests that add no more
	open := 0
	for at := Start; ; at += 1e9 {
		for open < len(c.Requests) && max(c.Requests[open].Due, c.Requests[open].End) < at {
			settled += adds(&c.Requests[open], at)
			open++
		}
		sum := settled
		for i := open; i < len(c.Requests) && c.Requests[i].Due < at; i++ {
			sum += adds(&c.Requests[i], at)
		}
		k.At, k.Values = append(k.At, at), append(k.Values, sum)
		if at > last {
			return k
		}
	}
}

// Evidence is the case as the fold reads it, without a server between.
func (c *Case) Evidence() fold.Evidence {
	ev := &foldtest.Evidence{Of: fold.Run{ID: c.ID(), Name: c.Name(), Finished: true, Declaration: c.Declaration}}
	for _, p := range c.Parts() {
		ev.Batches = append(ev.Batches, foldtest.Batches(p.Group, p.Rows, 512)...)
	}
	b := &sample.Batch{}
	for _, k := range c.Counters() {
		i := uint32(len(b.Series))
		b.Series = append(b.Series, sample.Series{Source: "loadgen-0", Name: k.Name, Kind: sample.Counter})
		for n, at := range k.At {
			b.Points = append(b.Points, sample.Point{Series: i, Start: Start - 1, Time: at, Value: k.Values[n]})
		}
	}
	if len(b.Points) > 0 {
		ev.Batches = append(ev.Batches, b)
	}
	return ev
}
