package sample

// Outcome is how an attempt ended, as far as its own client could tell.
// Whether an OK answer was good or late depends on a deadline and is decided
// when rows are read.
type Outcome uint8

// Outcomes of an attempt.
const (
	OK        Outcome = iota // answered successfully, however late
	Error                    // answered with an error, or the transport failed
	Timeout                  // the client, or a server on its behalf, gave up waiting
	Shed                     // rejected to protect the server (429, 503, RESOURCE_EXHAUSTED)
	Cancelled                // the client withdrew for another reason
	Outcomes                 // number of outcomes
)

var outcomeNames = [Outcomes]string{"ok", "error", "timeout", "shed", "cancelled"}

// String returns the outcome's name in the API.
func (o Outcome) String() string {
	if o < Outcomes {
		return outcomeNames[o]
	}
	return "unknown"
}

// ParseOutcome is the inverse of String.
func ParseOutcome(s string) (Outcome, bool) {
	for i, n := range outcomeNames {
		if n == s {
			return Outcome(i), true
		}
	}
	return 0, false
}

// Model is how a generator decides when to send.
type Model uint8

// Arrival models.
const (
	UnknownModel Model = iota
	Open               // arrivals follow a schedule, whatever the server does
	Closed             // a fixed population sends again after each answer
)

// String returns the model's name in the API.
func (m Model) String() string {
	switch m {
	case Open:
		return "open"
	case Closed:
		return "closed"
	default:
		return "unknown"
	}
}

// Flag marks a property of one row.
type Flag uint8

// Flags of a row.
const (
	// LastAttempt says that the generator will make no further attempt.
	LastAttempt Flag = 1 << iota
	// RequestKey says that Key names the request itself (loadtest.request.id).
	// Without it Key names the parent span, under which several requests may
	// stand one after another, each beginning with attempt 0.
	RequestKey
	// Sampled says that the span was kept by a sampler: counts of such rows
	// are not counts of requests.
	Sampled
	// StartIsDue says that the request was due when it was sent, because its
	// generator drops what it cannot send at once instead of letting it wait.
	// With Intended it was due then: when the iteration that sent it started.
	StartIsDue
	// Corrected says that the tool itself counted the time of the request from
	// when it was due: Intended holds that, and nothing may be corrected again.
	Corrected
	// Operation says that the row is a whole operation on a model: client spans
	// within it are what it took, not requests of their own.
	Operation
	// LocalLimit says that the attempt never left its client, which had run out of
	// something of its own: ports, sockets or files.
	LocalLimit
	// NoOutcome says that nothing tells whether the request failed: its outcome is
	// that it ended.
	NoOutcome
)

// NoIndex is the Index of a row whose place in the schedule is unknown.
const NoIndex int64 = -1

// Row is one attempt of one request. The zero value of an optional field means
// "not known".
type Row struct {
	Group     uint16  // index into Batch.Groups
	Sent      int64   // when the attempt was sent
	Done      int64   // when its response ended or it failed; never before Sent
	FirstByte int64   // first byte or first token; 0 when unknown
	Intended  int64   // when the request was due; 0 when unknown
	Index     int64   // position in the schedule; NoIndex when unknown
	Attempt   uint16  // number of earlier attempts, as the client counts them
	Key       uint64  // joins the attempts of a request; 0 when there is none
	Self      uint64  // the span as a parent would be named by Key; 0 when not nested
	Outcome   Outcome //
	Status    int16   // HTTP status or gRPC code as sent; 0 when there was none
	Flags     Flag
	Tokens    int64 // tokens of the answer; 0 when unknown
}

// Group is what rows of one stream have in common. It is comparable: two rows
// belong to the same stream if and only if their groups are equal.
type Group struct {
	Source           string  // identity of the process that sent the rows
	Generator        string  // k6, locust, …; else scope or service name
	Scenario         string  // stream within the run
	Step             string  // name of a load step, when rows carry one
	Deadline         int64   // client's patience; 0 when not stated
	ExpectedInterval int64   // pacing of one closed-loop worker; 0 when not stated
	Rate             float64 // configured arrival rate, 1/s; 0 when not stated
	Model            Model   // how the generator decides when to send
	Process          string  // arrival process as configured: constant, poisson, …
}
