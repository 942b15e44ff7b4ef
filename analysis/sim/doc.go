// Package sim is a discrete-event simulator of a load test against one station:
// an aid for tests and for `make sim`, never part of a judgement.
//
// A schedule of arrivals (or a closed population) meets servers with a queue, or
// a processor-sharing station whose speed may depend on how many it holds. They
// may stall, leak, start cold, shed what they have no room for, serve the newest
// first or discard the stale. Clients may give up waiting, which the server does
// not learn, and try again, with or without a budget; the generator may run out
// of workers. The result is one Request (or Exchange) per arrival, on the time
// line that a perfect observer would have recorded.
//
// It is checked against the closed forms of M/M/1, M/D/1, M/M/c, M/M/1/K, M/G/∞,
// M/G/1-PS and of the machine repairman (Kleinrock, Queueing Systems). All randomness comes from the
// *rand.Rand that is passed in: the same seed gives the same run.
package sim
