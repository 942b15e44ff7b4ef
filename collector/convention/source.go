package convention

import (
	"bytes"

	"github.com/plimsoll/plimsoll/analysis/sample"
)

// Identity is what a resource says about the process that it describes.
type Identity struct {
	Namespace, Name, Instance, Host, PID []byte
}

// AppendSource appends the identity of a process as one readable string that is
// the same in every export: namespace/name@instance, or name@host:pid when the
// instance has no id of its own. It is bounded and free of control characters.
func AppendSource(dst []byte, id *Identity) []byte {
	if len(id.Namespace) > 0 {
		dst = append(AppendSafe(dst, id.Namespace, MaxText), '/')
	}
	if len(id.Name) > 0 {
		dst = AppendSafe(dst, id.Name, MaxText)
	} else {
		dst = append(dst, "unknown_service"...)
	}
	if len(id.Instance) > 0 {
		return AppendSafe(append(dst, '@'), id.Instance, MaxText)
	}
	if len(id.Host) == 0 && len(id.PID) == 0 {
		return dst
	}
	dst = AppendSafe(append(dst, '@'), id.Host, MaxText)
	if len(id.PID) > 0 {
		dst = AppendSafe(append(dst, ':'), id.PID, MaxText)
	}
	return dst
}

// KnownGenerator names the load generator that a scope or a service name gives
// away. Metrics of a generator belong to its run, those of anything else are
// telemetry of servers.
func KnownGenerator(scope, service []byte) (name string, ok bool) {
	switch {
	case string(scope) == "k6", bytes.HasPrefix(scope, []byte("k6.")):
		return "k6", true
	case string(scope) == "locust":
		return "locust", true
	case bytes.HasPrefix(scope, []byte("artillery-")), string(scope) == "Artillery.io_metrics":
		return "artillery", true
	case string(scope) == "io.gatling.enterprise":
		return "gatling", true
	case string(scope) == "fortio.org/fortio":
		return "fortio", true
	case string(scope) == "nbomber":
		return "nbomber", true
	case bytes.HasPrefix(scope, []byte("aiperf")):
		return "aiperf", true
	}
	switch string(service) {
	case "k6":
		return "k6", true
	case "locust":
		return "locust", true
	case "gatling.enterprise":
		return "gatling", true
	case "nbomber":
		return "nbomber", true
	case "aiperf":
		return "aiperf", true
	case "fortiotel", "unknown_service:fortiotel": // its requests have the scope of the HTTP instrumentation
		return "fortio", true
	}
	return "", false
}

// LoopOf returns how a known generator decides when to send, where it cannot do
// otherwise.
func LoopOf(generator string) sample.Model {
	switch generator {
	case "locust":
		return sample.Closed // each user sends again after its answer
	case "artillery":
		return sample.Open // virtual users arrive by phase; those over maxVusers are dropped
	}
	return sample.UnknownModel
}

// NestsClients reports whether a scope is known to wrap client spans in client
// spans, so that spans of one request may arrive in different exports.
func NestsClients(scope []byte) bool {
	switch string(scope) {
	case "artillery-http", "artillery-playwright", "opentelemetry.instrumentation.requests":
		return true
	}
	return false
}

// Iterations is the scope whose root spans by the name of IterationSpan are the
// iterations of a script, and the only requests that its generator tells of over
// spans: k6's browser module. They do not say whether anything failed.
func Iterations(scope []byte) bool { return string(scope) == "k6.browser" }

// IterationSpan is the name of a span that is an iteration.
const IterationSpan = "iteration"

// RootsWarmUp reports whether client spans without a parent are what a generator
// sends before its run, and leaves out of its own numbers: fortio opens each
// connection with a request, and every other one is within a span of its run.
func RootsWarmUp(generator string) bool { return generator == "fortio" }

// PartsOfRequests reports whether the client spans of a scope are parts of
// requests: the look-up of a name, the connection, the sending.
func PartsOfRequests(scope []byte) bool {
	switch string(scope) {
	case "go.opentelemetry.io/otel/instrumentation/httptrace", // otelhttptrace, as fortiotel uses it
		"go.opentelemetry.io/contrib/instrumentation/net/http/httptrace/otelhttptrace",
		"@opentelemetry/instrumentation-dns", "@opentelemetry/instrumentation-net":
		return true
	}
	return false
}
