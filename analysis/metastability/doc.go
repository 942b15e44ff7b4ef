// Package metastability judges what happened after the load came back down: did
// the system recover, is it still working off a backlog, or does it sustain its
// own overload?
//
// A run is cut into spans (Span) before the push, during it and after the return.
//
//	base      = good share g₀, highest N and highest median latency over spans of
//	            5 s of the last 80 % of the time before the push
//	RECOVERED = at the first second from which to the end every span of 5 s has
//	            g ≥ g₀ − max(5 %, 3σ), N ≤ 1.5·N₀ + 3 and median ≤ 2·median₀,
//	            held for at least max(5 s, 10 % of the watch)
//
// Otherwise, over the last quarter of the watch, with a = attempts/requests,
// v = attempts/s and C the capacity:
//
//	SUSTAINED = a > 1.15 and v ≥ 0.97·C
//	DRAINING  = a > 1.15 and v below that, ETA = (attempts since the push − C·t)/(C − v)
//	DRAINING  = N falls (HAC z < −2),      ETA = N/slope
//	DEGRADED  = completions below 97 % of the offered, or N rises
//
// With no capacity known, the best 2 s of good answers are a lower bound of it:
// v above 1.2 of that is SUSTAINED, from 0.75 UNDECIDED.
//
// g is Good/Due, N is InFlight, the median is MedianS, a is Attempts/Due and v the
// offered rate times (Attempts − Refused)/Due. Two clauses are added to the published procedure. Clients that time out
// hide the server's backlog even without retries, so the books of attempts against
// C·t also apply where time-outs are seen. And where those books say that the
// backlog must be gone, what is left is not draining but DEGRADED.
//
// Metastable failures: Bronson et al. 2021 (sustained after the trigger is gone),
// Huang et al. 2022. Recovery times grow without bound near the edge (Alvaro et
// al. 2025), so the statement is "not recovered in the time watched", with an ETA.
// The variance of the slope is that of Newey and West 1987.
package metastability
