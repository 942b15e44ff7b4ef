package convention

import "strings"

// Role is what a metric is to the analysis, as it is written in a mapping file.
type Role string

// Roles of metrics. The first four are statements of a generator about its run.
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

// Role returns the role of a metric: from the mapping file, else by its name.
// Names of queue metrics are known with dots and with underscores.
func (t *Table) Role(metric string) Role {
	if r, ok := t.metrics[metric]; ok {
		return r
	}
	switch strings.ReplaceAll(strings.TrimSuffix(metric, "_total"), "_", ".") {
	case "loadtest.requests.in.flight":
		return InFlight
	case "loadtest.requests.in.flight.time", "loadtest.requests.in.flight.time.seconds":
		return InFlightTime
	case "loadtest.arrivals.scheduled":
		return Scheduled
	case "loadtest.arrivals.dropped":
		return Dropped
	case "kestrel.queued.requests", "kestrel.queued.connections", "dotnet.thread.pool.queue.length",
		"aspnetcore.rate.limiting.queued.requests", "vllm:num.requests.waiting", "kafka.consumer.group.lag",
		"kafka.consumer.group.lag.sum", "kafka.consumer.records.lag", "kafka.consumer.records.lag.max",
		"upstream.rq.pending.active", "haproxy.requests.queued", "executor.queued":
		return Queue
	case "db.client.connection.pending.requests", "db.client.connections.pending.requests",
		"hikaricp.connections.pending":
		return PoolPending
	case "vus", "locust.users.count", "tomcat.thread.busy.count", "tomcat.threads.busy", "hikaricp.connections.active":
		return Workers
	case "vus.max", "tomcat.thread.limit", "tomcat.threads.config.max", "hikaricp.connections.max":
		return WorkersMax
	case "process.cpu.utilization", "system.cpu.utilization", "container.cpu.usage", "jvm.cpu.recent.utilization",
		"gatling.enterprise.cpu.user":
		return CPU
	}
	if strings.HasPrefix(metric, "cluster.") && strings.HasSuffix(metric, "upstream_rq_pending_active") {
		return Queue
	}
	return NoRole
}
