// Package e2e tests the built program as its users meet it: a real process on
// loopback ports, real OTLP over gRPC and HTTP, answers read from the command
// line and the HTTP API. It has no code of its own.
package e2e
