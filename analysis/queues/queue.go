package queues

// Kind is what a metric of a server says.
type Kind uint8

// Kinds of metrics. Levels hold at the time of their point; totals and spreads
// count what happened.
const (
	Waiting        Kind = iota + 1 // level: requests, tasks or messages that wait
	Running                        // level: requests or tasks being served
	ActiveRequests                 // level: requests that the server has, waiting or being served
	ActiveTime                     // total, s: integral of ActiveRequests
	Lag                            // level: messages not yet consumed
	Age                            // level, s: how long what waits, or waited last, has waited
	Wait                           // spread or total, s: time spent waiting; the growth of its sum per second is the mean number waiting
	Duration                       // spread or total, s: time spent in the server, waiting included
	PoolPending                    // level: callers that wait for a connection of a pool
	PoolUsed                       // level: connections in use
	PoolMax                        // level: their limit
	Workers                        // level: workers, threads or processes that are busy
	WorkersMax                     // level: their limit
	Utilisation                    // level, 0..1: share of a resource that is in use
	CPU                            // level, 0..1: share of the processors in use
	Started                        // total: requests or messages that arrived; with Ended under the same Pair
	Ended                          // total: requests or messages that were done with
	Rejected                       // total: turned away because a queue or a limit was full
	Retries                        // total: attempts after the first that a proxy made
	Timeouts                       // total: given up after waiting
)

// String returns the kind's name in documents.
func (k Kind) String() string {
	switch k {
	case Waiting:
		return "waiting"
	case Running:
		return "running"
	case ActiveRequests:
		return "active_requests"
	case ActiveTime:
		return "active_time"
	case Lag:
		return "lag"
	case Age:
		return "age"
	case Wait:
		return "wait"
	case Duration:
		return "duration"
	case PoolPending:
		return "pool_pending"
	case PoolUsed:
		return "pool_used"
	case PoolMax:
		return "pool_max"
	case Workers:
		return "workers"
	case WorkersMax:
		return "workers_max"
	}
	return k.counted()
}

func (k Kind) counted() string {
	switch k {
	case Utilisation:
		return "utilisation"
	case CPU:
		return "cpu"
	case Started:
		return "started"
	case Ended:
		return "ended"
	case Rejected:
		return "rejected"
	case Retries:
		return "retries"
	case Timeouts:
		return "timeouts"
	default:
		return "unknown"
	}
}

// Queued reports whether a metric of this kind counts what waits: its growth is
// a backlog.
func (k Kind) Queued() bool { return k == Waiting || k == PoolPending || k == Lag }

// Form is how values of a metric are read.
type Form uint8

// Forms of metrics.
const (
	Level  Form = iota + 1 // a gauge or an up-down counter: the value at its time
	Total                  // a counter: differences between points
	Spread                 // a distribution: differences of its count and of its sum
)

// Merge is how series of one queue at one time become one value.
type Merge uint8

// Merges.
const (
	Sum  Merge = iota // parts of a whole: pools, partitions, methods, hosts
	Most              // ages and shares: the worst one
)

// Queue is what a series says about a queue of a server.
type Queue struct {
	Name  string // canonical name of the metric, the NAME of the series queue:NAME
	Kind  Kind
	Form  Form
	Scale float64 // a value times Scale is in items, seconds or a ratio
	Merge Merge
	Place string // which of several queues of this name: pool, topic, cluster …; "" when there is one
	Pair  string // Started and Ended that belong together share it; "" elsewhere
	Role  string // the role that a mapping file gave; "" when the name was known
}
