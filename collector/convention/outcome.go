package convention

import "github.com/plimsoll/plimsoll/analysis/sample"

// SpanStatus is the status code of a span.
type SpanStatus uint8

// Status codes of spans, as OTLP numbers them.
const (
	StatusUnset SpanStatus = 0
	StatusOK    SpanStatus = 1
	StatusError SpanStatus = 2
)

// gRPC codes that an outcome depends on.
const (
	grpcOK                = 0
	grpcCancelled         = 1
	grpcDeadlineExceeded  = 4
	grpcResourceExhausted = 8
	grpcUnavailable       = 14
)

// Answer is what a client said about the end of an attempt.
type Answer struct {
	Span      SpanStatus
	HTTP      int    // HTTP status; 0 when there was none
	GRPC      int    // gRPC code; negative when there was none
	ErrorType []byte // error.type
	Message   []byte // message of the span's status
}

// Outcome classifies an answer. When it is not sure, the attempt failed for a
// reason that the answer does not name, and exception events may (see Failure);
// the outcome returned with false is the one to keep if they do not.
func (t *Table) Outcome(a *Answer) (o sample.Outcome, sure bool) {
	if a.GRPC >= 0 {
		return t.grpcOutcome(a)
	}
	code := a.HTTP
	if code == 0 && len(a.ErrorType) == 3 {
		code, _ = number(a.ErrorType)
	}
	if code >= 100 && len(t.http) > 0 {
		if o, ok := t.http[code]; ok {
			return o, true
		}
	}
	switch {
	case code == 429, code == 503:
		return sample.Shed, true
	case code == 408, code == 504:
		return sample.Timeout, true
	case code >= 400:
		return sample.Error, true
	case a.Span != StatusError && len(a.ErrorType) == 0:
		return sample.OK, true
	}
	return t.transport(a)
}

// transport classifies an attempt that failed without an answer that says so.
func (t *Table) transport(a *Answer) (sample.Outcome, bool) {
	if o, ok := t.errors[string(a.ErrorType)]; ok {
		return o, true
	}
	if code := GRPCCode(a.ErrorType); code > grpcOK {
		return t.grpcOutcome(&Answer{Span: a.Span, GRPC: code, Message: a.Message})
	}
	if o, ok := Failure(a.ErrorType); ok {
		return o, true
	}
	if o, ok := Failure(a.Message); ok {
		return o, true
	}
	return sample.Error, false
}

func (t *Table) grpcOutcome(a *Answer) (sample.Outcome, bool) {
	if o, ok := t.grpc[a.GRPC]; ok {
		return o, true
	}
	switch a.GRPC {
	case grpcOK:
		if a.Span == StatusError || len(a.ErrorType) > 0 && GRPCCode(a.ErrorType) != grpcOK {
			return t.transport(&Answer{Span: a.Span, GRPC: -1, ErrorType: a.ErrorType, Message: a.Message})
		}
		return sample.OK, true
	case grpcCancelled:
		return sample.Cancelled, true
	case grpcDeadlineExceeded:
		return sample.Timeout, true
	case grpcResourceExhausted:
		return sample.Shed, true
	case grpcUnavailable:
		// Clients use the same code when they never reached a server.
		if notReached(a.Message) {
			return sample.Error, true
		}
		return sample.Shed, true
	}
	return sample.Error, true
}

// GRPCCode returns the number of a gRPC code given by name ("UNAVAILABLE",
// "Unavailable") or number, or -1.
func GRPCCode(s []byte) int {
	if n, ok := number(s); ok && n <= 16 {
		return n
	}
	var buf [20]byte
	n := 0
	for _, c := range s {
		if c == '_' {
			continue
		}
		if n == len(buf) {
			return -1
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		buf[n] = c
		n++
	}
	switch string(buf[:n]) {
	case "ok":
		return 0
	case "cancelled", "canceled":
		return 1
	case "unknown":
		return 2
	case "invalidargument":
		return 3
	case "deadlineexceeded":
		return 4
	case "notfound":
		return 5
	case "alreadyexists":
		return 6
	case "permissiondenied":
		return 7
	case "resourceexhausted":
		return 8
	case "failedprecondition":
		return 9
	case "aborted":
		return 10
	case "outofrange":
		return 11
	case "unimplemented":
		return 12
	case "internal":
		return 13
	case "unavailable":
		return 14
	case "dataloss":
		return 15
	case "unauthenticated":
		return 16
	}
	return -1
}
