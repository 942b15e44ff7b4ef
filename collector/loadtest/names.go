package loadtest

// Resource attributes: set once, by the generator process.
const (
	// RunIDKey names the run. Every process of one run sends the same value;
	// two runs never share it. String.
	RunIDKey = "loadtest.run.id"
	// RunNameKey is the name that runs of one kind have in common, such as
	// "orders"; it is what alerts and comparisons group by. String.
	RunNameKey = "loadtest.run.name"
	// GeneratorKey names the tool: k6, locust, the name of your program. String.
	GeneratorKey = "loadtest.generator"
	// ArrivalModelKey says how the generator decides when to send: ModelOpen
	// or ModelClosed. String.
	ArrivalModelKey = "loadtest.arrival.model"
	// ArrivalProcessKey says how arrivals are spaced: ProcessConstant,
	// ProcessJittered, ProcessPoisson or ProcessBursty. String.
	ArrivalProcessKey = "loadtest.arrival.process"
	// ArrivalRateKey is the configured rate, in requests per second, where one
	// rate holds for the life of the process. Double.
	ArrivalRateKey = "loadtest.arrival.rate"
)

// Resource or span attributes: set on the resource when they hold for the whole
// process, else by the generator on each span. The span wins.
const (
	// ScenarioKey names a stream of requests within the run. String.
	ScenarioKey = "loadtest.scenario"
	// ExpectedIntervalKey is the pacing of one closed-loop worker, from one send
	// to the next as configured, in seconds. It gives grade E. Double.
	ExpectedIntervalKey = "loadtest.expected_interval"
	// DeadlineKey is the client's patience in seconds: an answer after it is
	// late. Double.
	DeadlineKey = "loadtest.deadline"
	// StepKey names the load step that the request belongs to. String.
	StepKey = "loadtest.step"
)

// Span attributes: set by the generator on the CLIENT span of each attempt.
const (
	// IntendedTimeKey is when the schedule said that the request was due, in
	// nanoseconds since the Unix epoch. All attempts of a request repeat the
	// same value. It gives grade A. Int.
	IntendedTimeKey = "loadtest.intended_time_unix_nano"
	// IndexKey is the request's place in the schedule, from 0. Together with a
	// rate, configured or declared, it gives grade B. Int.
	IndexKey = "loadtest.arrival.index"
	// RequestIDKey joins the attempts of one request; unique within the run. String.
	RequestIDKey = "loadtest.request.id"
	// LastAttemptKey is true on the attempt after which the generator makes no
	// further one, whether it succeeded or not: it ends the request. Bool.
	LastAttemptKey = "loadtest.attempt.last"
	// FirstByteKey is the time from the send to the first byte or token of the
	// answer, in seconds. Double.
	FirstByteKey = "loadtest.time_to_first_byte"
	// OutputTokensKey is the number of tokens of the answer. Int.
	OutputTokensKey = "loadtest.output_tokens"
)

// Metrics, recorded by the generator; Tracker records all four.
const (
	// ScheduledMetric counts arrivals that came due, dropped ones included.
	// Counter, {request}.
	ScheduledMetric = "loadtest.arrivals.scheduled"
	// DroppedMetric counts arrivals that came due and were never sent, because
	// the generator had reached a limit of its own. Counter, {request}.
	DroppedMetric = "loadtest.arrivals.dropped"
	// InFlightMetric counts requests whose first attempt was sent and that have
	// not ended; waiting between attempts included. UpDownCounter, {request}.
	InFlightMetric = "loadtest.requests.in_flight"
	// InFlightTimeMetric is the running integral of InFlightMetric over time, in
	// request-seconds: its difference between two exports divided by the time
	// between them is the exact mean in flight. Counter, s.
	InFlightTimeMetric = "loadtest.requests.in_flight_time"
)

// Values of ArrivalModelKey.
const (
	ModelOpen   = "open"   // arrivals follow a schedule, whatever the server does
	ModelClosed = "closed" // a fixed population sends again after each answer
)

// Values of ArrivalProcessKey.
const (
	ProcessConstant = "constant" // evenly spaced
	ProcessJittered = "jittered" // evenly spaced with a bounded random shift
	ProcessPoisson  = "poisson"  // independent: exponential gaps
	ProcessBursty   = "bursty"   // more clustered than Poisson
)

// Units of the metrics, in UCUM.
const (
	UnitRequest = "{request}"
	UnitSecond  = "s"
)
