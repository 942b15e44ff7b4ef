package truth

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Kinds of plans, servers, clients, arrivals, knowledge and telemetry. An empty field of a
// Spec is drawn with the seed.
const (
	One   = "one"   // one rate
	Sweep = "sweep" // rising rates, each from drained
	Push  = "push"  // past capacity and back
	Ramp  = "ramp"  // from low to past capacity

	Queue       = "queue"      // exponential service on several servers
	Single      = "single"     // one exponential server
	Fixed       = "fixed"      // service of one length
	Lognormal   = "lognormal"  // cv 1 to 2
	Pareto      = "pareto"     // tail index 2.2
	Sharing     = "sharing"    // processor sharing
	Gradual     = "gradual"    // gains from concurrency, as language models do
	Pool        = "pool"       // the same, behind a pool of slots
	Shedding    = "shedding"   // refuses what it has no room for
	Stalls      = "stalls"     // stops for 0.2 s in every 5 s
	Stop        = "stop"       // stops once
	Wedge       = "wedge"      // stops and does not go on while the load lasts
	Leak        = "leak"       // gets slower
	Cold        = "cold"       // starts slow
	Retrograde  = "retrograde" // loses speed to concurrency
	NewestFirst = "newest-first"
	StaleOut    = "stale-out" // discards what has waited too long

	Patient     = "patient"
	TimeOut     = "time-out"
	Retries     = "retries" // three attempts, no budget
	Budget      = "budget"  // three attempts, a budget of a tenth
	WorkersLate = "workers-late"
	WorkersDrop = "workers-drop"
	Closed      = "closed"   // users without think time
	Thinking    = "thinking" // users who think

	Constant = "constant"
	Jittered = "jittered"
	Poisson  = "poisson"
	Bursty   = "bursty"
	Batches  = "batches"

	Declared = "declared" // steps and arrival process
	Planned  = "planned"  // steps alone
	Found    = "found"    // due times, no plan
	Indexed  = "indexed"  // place in a schedule of known rate
	Sent     = "sent"     // no due times

	Complete = "complete" // every span comes
	Counted  = "counted"  // and the generator counts what is in flight
	Lost     = "lost"     // some spans do not come, which the generator's count of arrivals tells
)

// Spec says what kind of run a case is.
type Spec struct {
	Label                                   string // of a named scenario
	Plan, Server, Client, Arrivals, Knowing string
	Telemetry                               string
}

// Name is short and fit for an id.
func (s Spec) Name() string {
	if s.Label != "" {
		return s.Label
	}
	return strings.Join([]string{s.Plan, s.Server, s.Client, s.Arrivals, s.Knowing, s.Telemetry}, "-")
}

// Scenarios are the named specs: each shows one thing, the rest is drawn.
func Scenarios() []Spec {
	named := func(label, plan, server, client, arrivals, knowing string) Spec {
		return Spec{label, plan, server, client, arrivals, knowing, Complete}
	}
	return []Spec{
		named("steady", One, Queue, Patient, Poisson, Declared),
		named("paced", One, Fixed, Patient, Constant, Declared),
		named("jittered", One, "", Patient, Jittered, ""),
		named("bursts", One, Queue, Patient, Bursty, ""),
		named("batches", One, Queue, Patient, Batches, ""),
		named("indexed", One, "", Patient, Constant, Indexed),
		named("uncorrected", One, "", Patient, "", Sent),
		named("heavy-tails", "", Pareto, Patient, Poisson, ""),
		named("sweep", Sweep, "", Patient, "", Declared),
		named("sweep-found", Sweep, "", Patient, "", Found),
		named("sweep-llm", Sweep, Gradual, Patient, Poisson, ""),
		named("sweep-pool", Sweep, Pool, Patient, Poisson, ""),
		named("sweep-shedding", Sweep, Shedding, Patient, "", ""),
		named("sweep-time-out", Sweep, "", TimeOut, "", ""),
		named("sweep-workers", Sweep, "", WorkersDrop, "", Declared),
		named("sweep-retrograde", Sweep, Retrograde, TimeOut, Poisson, ""),
		named("push", Push, Queue, Patient, "", ""),
		named("push-shedding", Push, Shedding, Patient, "", ""),
		named("push-retries", Push, Queue, Retries, "", ""),
		named("push-budget", Push, Queue, Budget, "", ""),
		named("push-time-out", Push, Queue, TimeOut, "", ""),
		named("push-retrograde", Push, Retrograde, TimeOut, Poisson, ""),
		named("push-newest-first", Push, NewestFirst, Retries, "", ""),
		named("push-stale-out", Push, StaleOut, Retries, "", ""),
		named("ramp", Ramp, "", Patient, "", ""),
		named("stalls", One, Stalls, Patient, "", ""),
		named("stop", One, Stop, Patient, "", ""),
		named("leak", One, Leak, Patient, "", ""),
		named("cold", One, Cold, Patient, "", ""),
		named("workers-late", One, "", WorkersLate, "", ""),
		named("workers-drop", One, "", WorkersDrop, "", ""),
		named("wedge", One, Wedge, WorkersDrop, "", ""),
		named("wedge-found", One, Wedge, WorkersDrop, "", Found),
		{"counted", "", "", "", "", "", Counted},
		{"lost", "", "", Patient, Poisson, "", Lost},
		named("closed", One, "", Closed, "", ""),
		named("thinking", One, "", Thinking, "", ""),
	}
}

// Scenario finds a named spec.
func Scenario(name string) (Spec, bool) {
	all := Scenarios()
	i := slices.IndexFunc(all, func(s Spec) bool { return s.Label == name })
	if i < 0 {
		return Spec{}, false
	}
	return all[i], true
}

// fill draws what is empty, so that the parts fit each other.
func (s Spec) fill(rng *rand.Rand) Spec {
	pick := func(field *string, from ...string) {
		if *field == "" {
			*field = from[rng.IntN(len(from))]
		}
	}
	pick(&s.Plan, One, One, Sweep, Sweep, Push, Ramp)
	pick(&s.Server, Queue, Queue, Single, Fixed, Lognormal, Pareto, Sharing, Gradual, Pool, Shedding, Stalls,
		Stop, Leak, Cold, Retrograde, NewestFirst, StaleOut)
	switch {
	case s.Server == Retrograde:
		pick(&s.Client, TimeOut) // else it never gets through with what it once held
	case s.Plan == One:
		pick(&s.Client, Patient, Patient, Patient, TimeOut, Retries, Budget, WorkersLate, WorkersDrop, Closed, Thinking)
	default:
		pick(&s.Client, Patient, Patient, Patient, TimeOut, Retries, Budget, WorkersLate, WorkersDrop)
	}
	pick(&s.Arrivals, Constant, Jittered, Poisson, Poisson, Poisson, Bursty, Batches)
	if s.Plan == One {
		pick(&s.Knowing, Declared, Planned, Found, Sent)
	}
	pick(&s.Knowing, Declared, Declared, Planned, Found)
	if s.Telemetry == "" {
		s.Telemetry = []string{Complete, Complete, Complete, Complete, Counted, Lost}[rng.IntN(6)]
	}
	return s
}

// persistent reports whether the run needs the simulator of retries.
func (s Spec) persistent() bool {
	return s.Client == Retries || s.Client == Budget || s.Server == NewestFirst || s.Server == StaleOut
}

func (s Spec) closed() bool { return s.Client == Closed || s.Client == Thinking }

func itoa(v uint64) string { return strconv.FormatUint(v, 10) }
