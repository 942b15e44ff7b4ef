package sim

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Step is a stretch of the schedule at one rate, or a ramp from it to another.
type Step struct {
	RatePerS  float64
	ToRate    float64 // at the end of a ramp; 0: RatePerS
	DurationS float64
}

// rate holds at so many seconds into the step.
func (s Step) rate(t float64) float64 {
	if s.ToRate == 0 {
		return s.RatePerS
	}
	return s.RatePerS + (s.ToRate-s.RatePerS)*min(1, t/s.DurationS)
}

// Client is how requests are sent and how long their senders wait.
type Client struct {
	TimeoutS float64 // from sending; the client leaves, the server works on; 0: never
	Workers  int     // at most so many requests outstanding; others are sent late; 0: no cap
	// Drop makes a request that finds no free worker be dropped, not late.
	Drop bool
	// Users, when set, replaces the schedule by a closed population for the
	// length of the steps: each sends, waits, thinks and sends again.
	Users  int
	Think  Law
	ThinkS float64 // mean
}

// Config describes one run.
type Config struct {
	StartNS  int64 // time of the first step's start
	Steps    []Step
	Arrivals Arrivals
	Server   Server
	Client   Client
}

// Request is one arrival as a perfect observer saw it. Times are ns.
type Request struct {
	Intended int64
	Sent     int64 // 0 when dropped
	Done     int64 // 0 when dropped
	Outcome  sample.Outcome
	Dropped  bool
	User     int // of a closed population
}

// shedS is how long a rejection takes, unless the server says otherwise.
const shedS = 0.001

// Run simulates until every request has ended, and returns them in order of
// their intended time.
func Run(cfg Config, rng *rand.Rand) []Request {
	r := run{cfg: &cfg, rng: rng, station: newStation(&cfg.Server)}
	for _, s := range cfg.Steps {
		r.end += s.DurationS
	}
	if cfg.Client.Users > 0 {
		for u := range cfg.Client.Users {
			r.push(event{at: r.think(), kind: wake, id: u})
		}
	} else {
		r.schedule = Schedule(cfg.Steps, cfg.Arrivals, rng)
		r.requests = make([]Request, 0, len(r.schedule))
		r.ended = make([]bool, 0, len(r.schedule))
	}
	r.loop()
	slices.SortStableFunc(r.requests, func(a, b Request) int { return int(a.Intended - b.Intended) })
	return r.requests
}

// Schedule draws the arrival times, in seconds from the start, of all steps.
func Schedule(steps []Step, arrivals Arrivals, rng *rand.Rand) []float64 {
	var out []float64
	gap := arrivals(rng)
	from, at := 0.0, 0.0
	for _, s := range steps {
		end := from + s.DurationS
		at = max(at, from)
		for s.RatePerS > 0 || s.ToRate > 0 {
			g := gap(max(s.rate(at-from), 1/s.DurationS))
			if s.ToRate > 0 { // the same gap at the rate of its middle
				g *= max(s.rate(at-from), 1/s.DurationS) / max(s.rate(at-from+g/2), 1/s.DurationS)
			}
			if at += g; at >= end {
				break
			}
			out = append(out, at)
		}
		from, at = end, end
	}
	return out
}

// Paths returns the sorted times at which requests entered and left in flight,
// by intended time. Dropped ones never enter.
func Paths(requests []Request) (arrivals, departures []int64) {
	for _, q := range requests {
		if !q.Dropped {
			arrivals = append(arrivals, q.Intended)
			departures = append(departures, q.Done)
		}
	}
	slices.Sort(arrivals)
	slices.Sort(departures)
	return arrivals, departures
}

type kind uint8

const (
	wake   kind = iota // a user sends again
	giveUp             // a client stops waiting
	refuse             // a rejection arrives
)

type event struct {
	at   float64
	kind kind
	id   int
}

type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(a, b int) bool { return e[a].at < e[b].at }
func (e events) Swap(a, b int)      { e[a], e[b] = e[b], e[a] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

type run struct {
	cfg      *Config
	rng      *rand.Rand
	station  station
	schedule []float64
	sent     int // position in schedule
	end      float64
	events   events
	requests []Request
	ended    []bool // by request
	waiting  []int  // requests due that no worker could send
	busy     int
	open     int
}

func (r *run) loop() {
	for {
		arrival := math.Inf(1)
		if r.sent < len(r.schedule) {
			arrival = r.schedule[r.sent]
		}
		client := math.Inf(1)
		if len(r.events) > 0 {
			client = r.events[0].at
		}
		served := r.station.next()
		switch {
		case arrival <= client && arrival <= served:
			if math.IsInf(arrival, 1) {
				return
			}
			r.sent++
			r.due(arrival, 0)
		case client <= served:
			r.handle(heap.Pop(&r.events).(event))
		default:
			r.finish(r.station.complete(served), served, sample.OK)
		}
		if r.open == 0 && r.sent == len(r.schedule) && !r.waking() {
			return
		}
	}
}

// waking reports whether a user may still send.
func (r *run) waking() bool { return r.cfg.Client.Users > 0 && len(r.events) > 0 }

func (r *run) handle(e event) {
	switch e.kind {
	case wake:
		if e.at < r.end {
			r.due(e.at, e.id)
		}
	case giveUp:
		r.finish(e.id, e.at, sample.Timeout)
	case refuse:
		r.finish(e.id, e.at, sample.Shed)
	}
}

func (r *run) due(at float64, user int) {
	id := len(r.requests)
	r.requests = append(r.requests, Request{Intended: r.ns(at), User: user})
	r.ended = append(r.ended, false)
	c := &r.cfg.Client
	switch {
	case c.Workers == 0 || r.busy < c.Workers:
		r.open++
		r.send(id, at)
	case c.Drop:
		r.requests[id].Dropped = true
	default:
		r.open++
		r.waiting = append(r.waiting, id)
	}
}

func (r *run) send(id int, at float64) {
	r.busy++
	r.requests[id].Sent = r.ns(at)
	s := &r.cfg.Server
	if s.Room > 0 && r.station.held() >= s.Room {
		r.push(event{at: at + s.refuse(), kind: refuse, id: id})
		return
	}
	if t := r.cfg.Client.TimeoutS; t > 0 {
		r.push(event{at: at + t, kind: giveUp, id: id})
	}
	r.station.arrive(at, id, s.work(at, r.rng))
}

func (r *run) finish(id int, at float64, outcome sample.Outcome) {
	if r.ended[id] {
		return // its client has left, or the time-out of one that was answered
	}
	r.ended[id] = true
	r.requests[id].Done = r.ns(at)
	r.requests[id].Outcome = outcome
	r.busy--
	r.open--
	if len(r.waiting) > 0 {
		next := r.waiting[0]
		r.waiting = r.waiting[1:]
		r.send(next, at)
	}
	if r.cfg.Client.Users > 0 {
		r.push(event{at: at + r.think(), kind: wake, id: r.requests[id].User})
	}
}

func (r *run) think() float64 {
	if r.cfg.Client.Think == nil {
		return 0
	}
	return r.cfg.Client.ThinkS * r.cfg.Client.Think(r.rng)
}

func (r *run) push(e event) { heap.Push(&r.events, e) }

func (r *run) ns(at float64) int64 { return r.cfg.StartNS + int64(math.Round(at*1e9)) }
