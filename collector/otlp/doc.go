// Package otlp receives OpenTelemetry traces and metrics over gRPC and HTTP and
// turns them into batches of rows and metric points.
//
// The decoder walks the wire format once, looks only at the fields that rows
// need and never builds a span; JSON is transcoded to the same wire format
// first. It therefore accepts everything that a full protobuf decoder accepts,
// and does not notice damage inside fields that it passes over.
//
// Rows are leaf CLIENT spans. A client span that is the parent of another one
// is not a request of its own: it is counted as nested, and what it says about
// the load test is inherited by its children. What cannot be kept is refused,
// counted by reason and named in the answer's partial success; the server never
// fails because of what it was sent.
package otlp
