// Package generator is the demonstration's load generator: an open loop that
// sends each request when its schedule says, whatever the server does, and tells
// the analysis through the loadtest names what it meant to do. It is small
// enough to copy from.
//
// Due times are computed from one start time and never from the request before,
// so they cannot drift. A request that cannot be sent because the cap on requests
// in flight is reached is counted as dropped, never delayed in silence.
//
// A closed loop of the same rates is here too (Closed), for comparison: its
// workers wait for answers, so it slows down with the server and reports times
// that no user of an open system would have seen.
//
// Sending at given times takes the real clock; this package reads it.
package generator
