// Package truth makes simulated load tests of which everything is known, and
// holds verdicts against what is known of them.
//
// A Spec names a plan of rates, a server, a client, an arrival process and what
// the generator tells. Make turns it and a seed into a Case: rows as a generator
// would send them, and beside them what a perfect observer saw. Check compares a
// verdict document with that. Numbers that are counted (arrivals, outcomes,
// rates, percentiles, in flight) must be the same; a judgement must be one that
// the construction of the case allows. "Inconclusive" is never wrong.
//
// The same Case serves tests within the process (Evidence) and a real server.
package truth
