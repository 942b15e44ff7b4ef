// Package sim is a discrete-event simulator of a load test against one station:
// an aid for tests and for `make sim`, never part of a judgement.
//
// A schedule of arrivals (or a closed population) meets servers with a queue,
// a processor-sharing station whose speed may depend on how many it holds, and
// optional stalls. Clients may give up waiting, which the server does not learn,
// and the generator may run out of workers. The result is one Request per
// arrival, on the time line that a perfect observer would have recorded.
//
// It is checked against the closed forms of M/M/1, M/D/1, M/M/c, M/G/∞ and
// M/G/1-PS (Kleinrock, Queueing Systems). All randomness comes from the
// *rand.Rand that is passed in: the same seed gives the same run.
package sim
