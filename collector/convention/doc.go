// Package convention decides what names mean: which attributes, metrics and
// error texts of load generators and servers carry a fact that Plimsoll uses.
//
// It knows the loadtest.* names, the OpenTelemetry names for HTTP and RPC (old
// and new) and what the well-known generators send; a mapping file extends it.
// A Table is that knowledge made fast to ask: lookups by bytes do not allocate.
//
// The package assumes that every string comes from a stranger: strings that go
// on (identities, names, labels) are bounded and freed of control characters.
// It does not decode wire formats and keeps nothing.
package convention
