// Package littleslaw checks a measurement with Little's law. It says whether the
// records of a window agree with each other and with an independent count,
// never whether the system is healthy: the law holds in overload too.
//
// For a window [0, T) and any path, stable or not (Kim and Whitt 2013 treat the
// edges; this form is elementary):
//
//	L·T = Σ W_i + CarryIn − CarryOut
//
// L mean in flight, so that L·T is the integral of in flight (Sums.IntegralNS);
// W_i time in system, to its end even after T, of the requests that arrived in
// the window (Sums.WaitNS); CarryIn the sum over those present at 0 of end − 0;
// CarryOut the sum over those present at T of end − T. All are exact integers,
// so a residual is a bug or a broken record, never noise. A request that never
// ended takes the end of observation as its end.
//
// The plain product λ·W leaves the edges out. Its gap against L is about
// 3·W/T in a steady window and ρ − 1 in overload. The independent comparison
// sets the corrected form against somebody else's count of requests in flight
// and fails where the records are not those of the system that was counted.
package littleslaw
