package convention

import (
	"testing"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

func TestExhausted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"dial tcp 10.0.0.7:8080: connect: cannot assign requested address":                             true,
		"connect EADDRNOTAVAIL 127.0.0.1:80 - Local (0.0.0.0:0)":                                       true,
		"java.net.BindException: Can't assign requested address":                                       true,
		"socket: too many open files":                                                                  true,
		"Only one usage of each socket address (protocol/network address/port) is normally permitted.": true,
		"connect: connection refused":                                                                  false,
		`Get "http://host/too many open files": EOF`:                                                   false,
		"": false,
	} {
		if got := Exhausted([]byte(text)); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	table := Default()
	check := func(name string, a Answer, want sample.Outcome, wantSure bool) {
		t.Helper()
		if got, sure := table.Outcome(&a); got != want || sure != wantSure {
			t.Errorf("%s: got %v (sure %v), want %v (sure %v)", name, got, sure, want, wantSure)
		}
	}
	answered := func(code int) Answer { return Answer{HTTP: code, GRPC: -1} }
	failed := func(errorType, message string) Answer {
		return Answer{Span: StatusError, GRPC: -1, ErrorType: []byte(errorType), Message: []byte(message)}
	}
	rpc := func(code int, message string) Answer {
		return Answer{Span: StatusError, GRPC: code, Message: []byte(message)}
	}

	check("nothing said", Answer{GRPC: -1}, sample.OK, true)
	check("span status ok", Answer{GRPC: -1, Span: StatusOK}, sample.OK, true)
	check("200", answered(200), sample.OK, true)
	check("204 as error type only", failed("204", ""), sample.Error, false)
	check("301", answered(301), sample.OK, true)
	check("404", answered(404), sample.Error, true)
	check("408", answered(408), sample.Timeout, true)
	check("429", answered(429), sample.Shed, true)
	check("500", answered(500), sample.Error, true)
	check("503", answered(503), sample.Shed, true)
	check("504", answered(504), sample.Timeout, true)
	check("599", answered(599), sample.Error, true)
	check("503 as error type", failed("503", ""), sample.Shed, true)
	check("429 with status error", Answer{Span: StatusError, HTTP: 429, GRPC: -1, ErrorType: []byte("429")}, sample.Shed, true)
	check("200 whose body timed out", Answer{Span: StatusError, HTTP: 200, GRPC: -1, Message: []byte("context deadline exceeded while reading body")}, sample.Timeout, true)
	check("200 whose check failed", Answer{Span: StatusError, HTTP: 200, GRPC: -1}, sample.Error, false)

	check("grpc ok", Answer{GRPC: 0}, sample.OK, true)
	check("grpc cancelled", rpc(1, ""), sample.Cancelled, true)
	check("grpc unknown", rpc(2, ""), sample.Error, true)
	check("grpc deadline", rpc(4, ""), sample.Timeout, true)
	check("grpc not found", rpc(5, ""), sample.Error, true)
	check("grpc exhausted", rpc(8, "queue is full"), sample.Shed, true)
	check("grpc unavailable by the server", rpc(14, "overloaded, try later"), sample.Shed, true)
	check("grpc unavailable, refused", rpc(14, `connection error: desc = "transport: Error while dialing: dial tcp 127.0.0.1:1: connect: connection refused"`), sample.Error, true)
	check("grpc unavailable, java", rpc(14, "io exception"), sample.Error, true)
	check("grpc code by error type", failed("DEADLINE_EXCEEDED", ""), sample.Timeout, true)
	check("grpc unavailable by error type", failed("UNAVAILABLE", "name resolver error: produced zero addresses"), sample.Error, true)

	for _, timeout := range []string{
		"timeout", "ETIMEDOUT", "ESOCKETTIMEDOUT", "UND_ERR_HEADERS_TIMEOUT", "java.net.SocketTimeoutException",
		"java.net.http.HttpTimeoutException", "io.netty.handler.timeout.ReadTimeoutException", "requests.exceptions.ReadTimeout",
		"ConnectTimeout", "ReadTimeoutError", "asyncio.exceptions.TimeoutError", "TimeoutError", "*net.timeoutError",
		"context.deadlineExceededError", "System.TimeoutException", "request timeout",
	} {
		check(timeout, failed(timeout, ""), sample.Timeout, true)
	}
	for _, message := range []string{
		`Get "http://127.0.0.1:8080/stall": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
		`Post "http://h/": context deadline exceeded`,
		"read tcp 127.0.0.1:1->127.0.0.1:2: i/o timeout",
		"net/http: request canceled (Client.Timeout exceeded while awaiting headers)",
		"The request was canceled due to the configured HttpClient.Timeout of 2 seconds elapsing.",
		"Connection timed out", "timeout of 2000ms exceeded", "operation timed out", "deadline has elapsed",
		"rpc error: code = DeadlineExceeded desc = x",
	} {
		check(message, failed("*url.Error", message), sample.Timeout, true)
		check("message only: "+message, failed("", message), sample.Timeout, true)
	}
	for _, cancelled := range []string{
		`Get "http://h/": context canceled`, "AbortError", "CancelledError", "java.util.concurrent.CancellationException",
		"System.Threading.Tasks.TaskCanceledException", "The user aborted a request.", "operation was canceled",
	} {
		check(cancelled, failed(cancelled, ""), sample.Cancelled, true)
	}
	for _, other := range []string{
		"*url.Error", "_OTHER", "java.net.ConnectException", "ECONNREFUSED", "ECONNRESET", "EOF", "connect: connection refused",
		`Get "http://timeout.example/timeout?timeout=1": connection refused`, "http://h/timeout refused", "ECONNABORTED",
		"software caused connection abort",
	} {
		check(other, failed(other, ""), sample.Error, false)
	}
	check("error type without status", Answer{GRPC: -1, ErrorType: []byte("timeout")}, sample.Timeout, true)
}

func TestOutcomeMapping(t *testing.T) {
	t.Parallel()
	m, err := ParseMapping([]byte("outcomes:\n  503: error\n  \"404\": ok\n  E_FULL: shed\n  UNAVAILABLE: error\n  \"8\": timeout\n"))
	if err != nil {
		t.Fatal(err)
	}
	table := New(m)
	check := func(name string, a Answer, want sample.Outcome) {
		t.Helper()
		if got, _ := table.Outcome(&a); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	check("503", Answer{HTTP: 503, GRPC: -1}, sample.Error)
	check("503 by error type", Answer{GRPC: -1, ErrorType: []byte("503"), Span: StatusError}, sample.Error)
	check("404", Answer{HTTP: 404, GRPC: -1, Span: StatusError}, sample.OK)
	check("429", Answer{HTTP: 429, GRPC: -1}, sample.Shed)
	check("own error", Answer{GRPC: -1, ErrorType: []byte("E_FULL"), Span: StatusError}, sample.Shed)
	check("unavailable", Answer{GRPC: 14, Span: StatusError}, sample.Error)
	check("grpc 8", Answer{GRPC: 8, Span: StatusError}, sample.Timeout)
}

func TestOutcomeAllocs(t *testing.T) {
	table := Default()
	a := Answer{Span: StatusError, GRPC: -1, ErrorType: []byte("*url.Error"), Message: []byte(`Get "http://h/": EOF`)}
	if n := testing.AllocsPerRun(100, func() { table.Outcome(&a) }); n != 0 {
		t.Errorf("Outcome allocates %v times", n)
	}
}
