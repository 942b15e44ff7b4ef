// Package live watches one run while it goes on and says when its backlog begins
// to grow without end, and when that is over. It is pure and streaming: rows go
// in, event time is advanced, events come out, and the same rows give the same
// events at the same event times, whatever batches they came in.
//
// Once every second t of event time, for windows w of 4 to 60 s that N(t), the
// number in flight, grew by 5 or more over:
//
//	r(n) = C·g(n/m), φ and Z(w) = 0.7·Z_A + 0.3·Z_P as in package stability,
//	Z_half(w) the same on the last w/2, divided by the same √φ(w),
//	score(t) = max over w with Z_half(w) ≤ 0 of −Z(w),
//
// with λ the rate scheduled now. Four looks in a row at or over the bar raise;
// ten under 0.5 and a fall of N clear. Where no schedule is known λ is counted,
// its noise is added to φ and the bar is higher; where arrivals are known from
// ended requests alone, t lies back by the longest response so far.
//
// It reports servers that are silent for 4 s or more, and one that is still
// filling up after a jump of load may pass for one that is past its capacity. It
// does not say that a run is stable: package stability does, on whole steps.
package live
