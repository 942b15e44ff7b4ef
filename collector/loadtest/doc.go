// Package loadtest holds the names under which a load generator tells an
// analysis what it meant to do, and small helpers to say it from Go.
//
// OpenTelemetry has conventions for what a request did, none for when it was
// due. A span begins when its request is sent; a generator that falls behind
// therefore hides the waiting that its users would have felt (coordinated
// omission). The loadtest.* names add the missing facts: the due time of each
// request, which attempts belong together, which run a process belongs to, and
// four metrics that let the number in flight be counted apart from the spans.
//
// The package depends on the OpenTelemetry API alone and works with any SDK and
// exporter. It never starts goroutines and keeps no package-level state.
package loadtest
