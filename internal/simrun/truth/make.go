package truth

import (
	"math"
	"math/rand/v2"

	"github.com/plimsoll/plimsoll/analysis/api/wire"
	"github.com/plimsoll/plimsoll/analysis/sample"
	"github.com/plimsoll/plimsoll/analysis/sim"
)

// maker builds a case.
type maker struct {
	c        *Case
	rng      *rand.Rand
	server   sim.Server
	client   sim.Client
	retry    sim.Retry
	watchEnd int64 // what is due later is simulated, and not told
}

// Make simulates a spec. The same spec and seed make the same case.
func Make(s Spec, seed uint64) *Case {
	rng := rand.New(rand.NewPCG(seed, 77))
	m := maker{c: &Case{Seed: seed}, rng: rng}
	m.c.Spec = s.fill(rng)
	m.c.Capacity = math.Round(20 * math.Exp(rng.Float64()*math.Log(15)))
	m.c.Sources = 1 + rng.IntN(3)
	m.plan()
	m.serve()
	m.call()
	if m.c.closed() {
		m.closed()
	} else {
		m.open()
	}
	m.tell()
	m.c.order()
	m.lose()
	return m.c
}

// uniform draws from lo to hi.
func (m *maker) uniform(lo, hi float64) float64 { return lo + (hi-lo)*m.rng.Float64() }

// plan draws the rates.
func (m *maker) plan() {
	add := func(rho, to, seconds, pause float64) {
		l := Leg{Rate: rho * m.c.Capacity, ToRate: to * m.c.Capacity, Seconds: math.Round(seconds), PauseS: pause, Rho: rho}
		if m.c.Arrivals == Constant && m.c.Knowing == Indexed {
			l.Rate = math.Round(l.Rate)
			l.Rho = l.Rate / m.c.Capacity
		}
		m.c.Legs = append(m.c.Legs, l)
	}
	switch m.c.Plan {
	case One:
		rho := m.uniform(0.3, 1.5)
		if m.c.Server == Leak {
			rho = 0.6
		}
		add(rho, 0, m.uniform(30, 150), 0)
	case Sweep:
		rho := m.uniform(0.3, 0.5)
		for range 5 + m.rng.IntN(3) {
			add(rho, 0, 40+20*float64(m.rng.IntN(2)), 15)
			rho *= m.uniform(1.15, 1.3)
		}
		m.c.Legs[len(m.c.Legs)-1].PauseS = 0
	case Push:
		base := m.uniform(0.4, 0.7)
		add(base, 0, 60, 0)
		add(m.uniform(1.3, 2), 0, 30, 0)
		add(base, 0, 150, 0)
	case Ramp:
		add(m.uniform(0.1, 0.3), m.uniform(0.8, 1.4), 180, 0)
	}
	at := Start
	for i := range m.c.Legs {
		l := &m.c.Legs[i]
		l.From, l.To = at, at+int64(l.Seconds*1e9)
		at = l.To + int64(l.PauseS*1e9)
	}
	m.watchEnd = m.c.Legs[len(m.c.Legs)-1].To
}

// serve draws the server, which has the true capacity of the case.
func (m *maker) serve() {
	c := m.c.Capacity
	servers := 1 + m.rng.IntN(24)
	switch m.c.Server {
	case Single:
		m.server = sim.Queue(sim.Exponential(), 1)(c)
	case Fixed:
		m.server = sim.Queue(sim.Fixed(), servers)(c)
	case Lognormal:
		m.server = sim.Queue(sim.Lognormal(m.uniform(1, 2)), 4+servers)(c)
	case Pareto:
		m.server = sim.Queue(sim.Pareto(2.2), 8+servers)(c)
	case Sharing:
		m.server = sim.Sharing(sim.Exponential(), sim.One, 1)(c)
	case Gradual:
		a := m.uniform(0.02, 0.1)
		m.server = sim.Sharing(sim.Lognormal(0.5), sim.Batching(a), 1/a)(c)
	case Pool:
		a, slots := m.uniform(0.05, 0.1), 20+m.rng.IntN(60)
		m.server = sim.Sharing(sim.Exponential(), sim.Batching(a), sim.Batching(a)(slots))(c)
		m.server.Slots = slots
	case Retrograde:
		m.server = sim.Sharing(sim.Exponential(), sim.Retrograde(0.05, 0.0005), 10.72)(c)
	case Stalls:
		m.server = sim.Queue(sim.Exponential(), servers)(c / (1 - 0.2/5))
		m.server.StallEveryS, m.server.StallS = 5, 0.2
	default:
		m.server = sim.Queue(sim.Exponential(), servers)(c)
	}
	length := m.c.Legs[0].Seconds
	switch m.c.Server {
	case Shedding:
		m.server.Room = servers + int(math.Max(10, c*m.uniform(0.1, 0.5)))
		m.server.RefuseS = 0.002
	case Stop:
		m.server.StopAtS, m.server.StopS = length*m.uniform(0.3, 0.7), m.uniform(1, 4)
		from := Start + int64(m.server.StopAtS*1e9)
		m.c.Stop = [2]int64{from, from + int64(m.server.StopS*1e9)}
	case Wedge:
		m.server.StopAtS, m.server.StopS = length*m.uniform(0.5, 0.9), length
	case Leak:
		m.c.LeakTo = []float64{1.25, 2.5}[m.rng.IntN(2)]
		m.server.Factor = sim.Leak((m.c.LeakTo - 1) * 1e9 / float64(m.watchEnd-Start))
	case Cold:
		m.server.Factor = sim.WarmUp(m.uniform(1.5, 4), length/20)
	}
}

// call draws the client and its deadline.
func (m *maker) call() {
	m.c.DeadlineNS = int64(m.uniform(0.5, 3) * 1e9)
	patience := math.Round(m.uniform(1, 3)*10) / 10
	switch m.c.Client {
	case TimeOut:
		m.client.TimeoutS, m.retry.TimeoutS = patience, patience
	case Retries, Budget:
		m.retry = sim.Retry{TimeoutS: patience, Attempts: 3, BackoffS: 0.1}
		if m.c.Client == Budget {
			m.retry.Budget = 0.1
		}
	case WorkersLate, WorkersDrop:
		m.client.Workers = int(math.Max(4, m.c.Capacity*m.uniform(0.2, 2)))
		m.client.Drop = m.c.Client == WorkersDrop
	case Closed:
		m.client.Users = 1 + m.rng.IntN(40)
	case Thinking:
		m.client.Users, m.client.Think, m.client.ThinkS = 10+m.rng.IntN(90), sim.Exponential(), m.uniform(0.2, 1)
	}
	m.c.Slow = m.retry.TimeoutS > 0 && m.retry.TimeoutS < 10*m.server.MeanS
	if m.c.Server == StaleOut && m.retry.TimeoutS == 0 {
		m.retry.TimeoutS = patience // else nobody learns of what was discarded
	}
}

func (m *maker) arrivals() sim.Arrivals {
	switch m.c.Arrivals {
	case Constant:
		return sim.Constant()
	case Jittered:
		return sim.Jittered(0.8)
	case Bursty:
		return sim.Bursts(2.5, 0.5, 1.5)
	case Batches:
		return sim.Batches(2 + m.rng.IntN(7))
	}
	return sim.Poisson()
}

// beyond is how long a push is simulated after the watch, to know what becomes
// of it.
const beyond = 400

func (m *maker) steps() []sim.Step {
	var out []sim.Step
	for i, l := range m.c.Legs {
		s := sim.Step{RatePerS: l.Rate, ToRate: l.ToRate, DurationS: l.Seconds}
		if m.c.Plan == Push && i == len(m.c.Legs)-1 {
			s.DurationS += beyond
		}
		out = append(out, s)
		if l.PauseS > 0 {
			out = append(out, sim.Step{DurationS: l.PauseS})
		}
	}
	return out
}

// open simulates a schedule.
func (m *maker) open() {
	var all []Request
	if m.c.persistent() {
		a := sim.RunPersistent(sim.Persistent{
			StartNS: Start, Steps: m.steps(), Arrivals: m.arrivals(), Server: m.server, Retry: m.retry,
			LastIn: m.c.Server == NewestFirst, DropAfterS: m.staleAfter(),
		}, m.rng)
		for i := range a.Exchanges {
			all = append(all, m.exchange(&a.Exchanges[i], uint64(i+1)))
		}
	} else {
		for _, q := range sim.Run(sim.Config{StartNS: Start, Steps: m.steps(), Arrivals: m.arrivals(), Server: m.server, Client: m.client}, m.rng) {
			all = append(all, m.request(&q))
		}
	}
	for _, q := range all {
		if q.Due < m.watchEnd {
			m.c.Requests = append(m.c.Requests, q)
		}
	}
	if m.c.Plan == Push {
		m.c.Recovery = recovery(all, m.c.Legs, m.c.DeadlineNS)
	}
}

func (m *maker) staleAfter() float64 {
	if m.c.Server == StaleOut {
		return 0.6 * m.retry.TimeoutS
	}
	return 0
}

// closed simulates a population.
func (m *maker) closed() {
	for _, q := range sim.Run(sim.Config{
		StartNS: Start, Steps: []sim.Step{{DurationS: m.c.Legs[0].Seconds}}, Server: m.server, Client: m.client,
	}, m.rng) {
		m.c.Requests = append(m.c.Requests, m.request(&q))
	}
}

// request notes one without retries, and its row.
func (m *maker) request(q *sim.Request) Request {
	if !q.Dropped && q.Intended < m.watchEnd {
		m.c.Rows = append(m.c.Rows, sample.Row{
			Intended: q.Intended, Sent: q.Sent, Done: q.Done, Outcome: q.Outcome, Status: status(q.Outcome), Index: sample.NoIndex,
		})
	}
	return Request{Due: q.Intended, Sent: q.Sent, End: q.Done, Outcome: q.Outcome, Dropped: q.Dropped, Attempts: 1}
}

// exchange notes one with its attempts, a row each.
func (m *maker) exchange(x *sim.Exchange, key uint64) Request {
	out := Request{Due: x.Intended, Sent: x.Attempts[0], End: x.Done, Outcome: x.Outcome, Attempts: len(x.Attempts)}
	if x.Intended >= m.watchEnd {
		return out
	}
	for i, e := range x.Ends {
		r := sample.Row{
			Intended: x.Intended, Sent: x.Attempts[i], Done: e.At, Outcome: e.Outcome, Status: status(e.Outcome), Index: sample.NoIndex,
		}
		if m.retry.Attempts > 1 {
			r.Attempt, r.Key, r.Flags = uint16(i), key, sample.RequestKey
			if i == len(x.Ends)-1 {
				r.Flags |= sample.LastAttempt
			}
		}
		m.c.Rows = append(m.c.Rows, r)
	}
	return out
}

func status(o sample.Outcome) int16 {
	switch o {
	case sample.OK:
		return 200
	case sample.Shed:
		return 503
	}
	return 0
}

// tell decides what the generator says of its schedule.
func (m *maker) tell() {
	c := m.c
	c.Group = sample.Group{Source: "loadgen", Generator: "sim", Scenario: "orders", Model: sample.Open, Deadline: c.DeadlineNS}
	process := c.Arrivals
	if process == Batches {
		process = Bursty
	}
	switch {
	case c.closed():
		c.Knowing, c.Arrivals = Sent, ""
		c.Group.Model = sample.Closed
		if m.rng.IntN(2) == 0 {
			c.Group.Model = sample.UnknownModel
		}
		m.blank()
	case c.Knowing == Declared:
		c.Declaration = c.declare(process)
		m.objective()
	case c.Knowing == Planned:
		c.Declaration = c.declare("")
	case c.Knowing == Indexed:
		c.Sources = 1 // of which the schedule is
		c.Group.Rate = c.Legs[0].Rate
		index := map[int64]int64{}
		for i, q := range c.Requests {
			index[q.Due] = int64(i)
		}
		for i := range c.Rows {
			r := &c.Rows[i]
			r.Index, r.Intended = index[r.Intended], 0
		}
	case c.Knowing == Sent:
		m.blank()
	}
}

// lose takes rows away that do not arrive: 3 to 10 %.
func (m *maker) lose() {
	if m.c.Telemetry != Lost {
		return
	}
	share := m.uniform(0.03, 0.1)
	kept := m.c.Rows[:0]
	for _, r := range m.c.Rows {
		if m.rng.Float64() >= share {
			kept = append(kept, r)
		}
	}
	m.c.Rows = kept
}

// blank takes the due times out of the rows.
func (m *maker) blank() {
	for i := range m.c.Rows {
		m.c.Rows[i].Intended = 0
	}
	for i := range m.c.Requests {
		if q := &m.c.Requests[i]; !q.Dropped {
			q.Due = q.Sent
		}
	}
}

// objective declares a p99 that a light load clearly meets or clearly misses.
func (m *maker) objective() {
	c := m.c
	if c.Plan != One || c.Legs[0].Rho > 0.85 || c.Client != Patient || c.Server == Leak || c.Server == Stop {
		return
	}
	q, met := 0.99, m.rng.IntN(2) == 0
	limit := c.window(c.Legs[0].From, c.Legs[0].To).quantile(q)
	if limit <= 0 {
		return
	}
	limit *= 0.4
	if met {
		limit *= 10
	}
	c.Objective = &met
	c.Declaration.Objectives = []wire.Objective{{Quantile: &q, MaxS: &limit}}
}
