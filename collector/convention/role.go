package convention

// Role is what a metric is to the analysis, as it is written in a mapping file.
// What metrics of servers mean without one is known to analysis/queues, and what
// those of generators mean to analysis/counts.
type Role string

// Roles of metrics. The first four are statements of a generator about its run,
// the first two may be those of a server about its requests.
const (
	NoRole       Role = ""
	InFlight     Role = "in_flight"
	InFlightTime Role = "in_flight_time"
	Scheduled    Role = "scheduled"
	Dropped      Role = "dropped"
	Queue        Role = "queue"        // depth of a queue of a server
	PoolPending  Role = "pool_pending" // requests waiting for a connection of a pool
	Workers      Role = "workers"      // busy or existing workers, virtual users
	WorkersMax   Role = "workers_max"  // their limit
	CPU          Role = "cpu"          // processor use
)

// Roles lists the roles that a mapping file may name.
func Roles() []Role {
	return []Role{InFlight, InFlightTime, Scheduled, Dropped, Queue, PoolPending, Workers, WorkersMax, CPU}
}

// Canonical returns the loadtest.* name of the metric that plays a role, or ""
// for roles that only label a metric.
func (r Role) Canonical() string {
	switch r {
	case InFlight:
		return "loadtest.requests.in_flight"
	case InFlightTime:
		return "loadtest.requests.in_flight_time"
	case Scheduled:
		return "loadtest.arrivals.scheduled"
	case Dropped:
		return "loadtest.arrivals.dropped"
	}
	return ""
}

// Mapped returns the role that the mapping file gives to a metric, if any.
func (t *Table) Mapped(metric []byte) Role { return t.metrics[string(metric)] }

// OfServers reports whether servers under test have metrics of this role too,
// not generators alone.
func (r Role) OfServers() bool { return r != Scheduled && r != Dropped && r != NoRole }
