package sim

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Retry is a client that gives an attempt up after a time and tries again.
type Retry struct {
	TimeoutS float64 // of one attempt; the server is not told; 0: never
	Attempts int     // at most, the first included; below 2: none after the first
	BackoffS float64 // mean pause before another attempt, drawn from half to one and a half of it
	Budget   float64 // further attempts allowed per request; 0: no limit
}

// Persistent describes a run whose clients try again.
type Persistent struct {
	StartNS  int64
	Steps    []Step
	Arrivals Arrivals
	Server   Server
	Retry    Retry
	// LastIn makes the queue of a first-come station serve the newest first.
	LastIn bool
	// DropAfterS makes it discard, unserved, what has waited longer.
	DropAfterS float64
}

// Exchange is a request with all its attempts.
type Exchange struct {
	Request
	Attempts []int64 // when each was sent
	Ends     []End   // what its client saw of each
}

// End is how an attempt ended for its client.
type End struct {
	At      int64 // ns
	Outcome sample.Outcome
}

// Aftermath is what a perfect observer saw on both sides.
type Aftermath struct {
	Exchanges []Exchange // by intended time
	Refused   []int64    // attempts that the server refused
	Served    []int64    // attempts that the server worked off
	Abandoned []int64    // those of them for clients that had gone
}

// RunPersistent simulates until every request has ended and the server is idle.
func RunPersistent(cfg Persistent, rng *rand.Rand) Aftermath {
	r := persistent{cfg: &cfg, rng: rng, station: newStation(&cfg.Server)}
	if cfg.Server.Speed == nil && (cfg.LastIn || cfg.DropAfterS > 0) {
		r.station = &choosy{server: &cfg.Server, lastIn: cfg.LastIn, dropAfterS: cfg.DropAfterS}
	}
	r.loop(Schedule(cfg.Steps, cfg.Arrivals, rng))
	slices.SortStableFunc(r.out.Exchanges, func(a, b Exchange) int { return int(a.Intended - b.Intended) })
	return r.out
}

// attempt is one try of an exchange.
type attempt struct {
	exchange int
	over     bool
}

type persistent struct {
	cfg      *Persistent
	rng      *rand.Rand
	station  station
	events   events // id: an attempt; of wake: an exchange
	attempts []attempt
	tokens   float64
	out      Aftermath
}

func (r *persistent) loop(schedule []float64) {
	for {
		arrival, client, served := math.Inf(1), math.Inf(1), r.station.next()
		if len(schedule) > 0 {
			arrival = schedule[0]
		}
		if len(r.events) > 0 {
			client = r.events[0].at
		}
		switch {
		case math.IsInf(min(arrival, client, served), 1):
			return
		case arrival <= client && arrival <= served:
			schedule = schedule[1:]
			r.tokens = min(r.tokens+r.cfg.Retry.Budget, 10)
			r.out.Exchanges = append(r.out.Exchanges, Exchange{Request: Request{Intended: r.ns(arrival), Sent: r.ns(arrival)}})
			r.send(len(r.out.Exchanges)-1, arrival)
		case client <= served:
			r.handle(heap.Pop(&r.events).(event))
		default:
			r.complete(r.station.complete(served), served)
		}
	}
}

func (r *persistent) handle(e event) {
	switch e.kind {
	case wake:
		r.send(e.id, e.at)
	case giveUp:
		r.fail(e.id, e.at, sample.Timeout)
	case refuse:
		r.fail(e.id, e.at, sample.Shed)
	}
}

func (r *persistent) send(exchange int, at float64) {
	x := &r.out.Exchanges[exchange]
	x.Attempts = append(x.Attempts, r.ns(at))
	id := len(r.attempts)
	r.attempts = append(r.attempts, attempt{exchange: exchange})
	s := &r.cfg.Server
	if s.Room > 0 && r.station.held() >= s.Room {
		r.out.Refused = append(r.out.Refused, r.ns(at))
		heap.Push(&r.events, event{at: at + s.refuse(), kind: refuse, id: id})
		return
	}
	if t := r.cfg.Retry.TimeoutS; t > 0 {
		heap.Push(&r.events, event{at: at + t, kind: giveUp, id: id})
	}
	r.station.arrive(at, id, s.work(at, r.rng))
}

func (r *persistent) complete(id int, at float64) {
	r.out.Served = append(r.out.Served, r.ns(at))
	if r.attempts[id].over {
		r.out.Abandoned = append(r.out.Abandoned, r.ns(at))
		return
	}
	r.over(id, at, sample.OK)
	r.end(r.attempts[id].exchange, at, sample.OK)
}

// fail ends an attempt, and its exchange unless another attempt is allowed.
func (r *persistent) fail(id int, at float64, outcome sample.Outcome) {
	if r.attempts[id].over {
		return // answered in time
	}
	r.over(id, at, outcome)
	exchange := r.attempts[id].exchange
	c := &r.cfg.Retry
	if len(r.out.Exchanges[exchange].Attempts) >= c.Attempts || c.Budget > 0 && r.tokens < 1 {
		r.end(exchange, at, outcome)
		return
	}
	if c.Budget > 0 {
		r.tokens--
	}
	pause := c.BackoffS * (0.5 + r.rng.Float64())
	heap.Push(&r.events, event{at: at + pause, kind: wake, id: exchange})
}

// over ends an attempt as its client saw it.
func (r *persistent) over(id int, at float64, outcome sample.Outcome) {
	r.attempts[id].over = true
	x := &r.out.Exchanges[r.attempts[id].exchange]
	x.Ends = append(x.Ends, End{r.ns(at), outcome})
}

func (r *persistent) end(exchange int, at float64, outcome sample.Outcome) {
	x := &r.out.Exchanges[exchange]
	x.Done, x.Outcome = r.ns(at), outcome
}

func (r *persistent) ns(at float64) int64 { return r.cfg.StartNS + int64(math.Round(at*1e9)) }

// choosy is a queue before identical servers that may serve the newest first and
// may discard what has waited too long.
type choosy struct {
	server     *Server
	lastIn     bool
	dropAfterS float64
	running    jobs
	queue      line[waiting]
}

type waiting struct {
	job           // at: work
	since float64 // on the wall
}

func (c *choosy) held() int { return len(c.running) + c.queue.len() }

func (c *choosy) arrive(now float64, id int, work float64) {
	if c.server.Servers > 0 && len(c.running) >= c.server.Servers {
		c.queue.push(waiting{job{work, id}, now})
		return
	}
	heap.Push(&c.running, job{c.server.worked(now) + work, id})
}

func (c *choosy) next() float64 {
	if len(c.running) == 0 {
		return math.Inf(1)
	}
	return c.server.wall(c.running[0].at)
}

func (c *choosy) complete(now float64) int {
	done := heap.Pop(&c.running).(job)
	for c.queue.len() > 0 {
		take := c.queue.first
		if c.lastIn {
			take = c.queue.last
		}
		w := take()
		if c.dropAfterS > 0 && now-w.since > c.dropAfterS {
			continue
		}
		heap.Push(&c.running, job{done.at + w.at, w.id})
		break
	}
	return done.id
}
