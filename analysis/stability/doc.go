// Package stability decides from exact in-flight records whether a backlog
// grows without end at an offered rate, or whether the data cannot tell.
//
// Symbols, and the fields they stand for: T window (the sum of Span.DurationNS),
// T_n and D_n time at and departures from level n (Occupancy), N(t) requests in
// flight by intended time, λ offered rate (Rate.PerS, or arrivals/T), X
// departures/T. The departures are fitted to r(n) = C·g(n/m) with
//
//	g(x) = min(1, x), x/(1+x) or x/√(1+x²),
//	B = Σ T_n·g(n/m),  Ĉ = D/B,  ℓ(C, m) = D ln C + Σ D_n ln g(n/m) − C·B,
//
// the likelihood of a counting process (Andersen et al., Statistical Models
// Based on Counting Processes). φ = 0.1 + 0.9·max(V10, V20) is its dispersion:
// V_k is the variance-to-mean ratio of departures minus ∫r along the path, in
// overlapping spans of T/k. Z is the signed root of the likelihood ratio of
// C >= λ against C <= λ: positive says that with a long queue this system
// serves faster than work comes, which is what stable means.
//
// Ĉ assumes that what leaves next depends on n alone. Where service times vary
// little that flatters a server below capacity: a fixed service at ρ = 0.9 reads
// 0.86. Verdicts allow for it, Utilisation is the estimate of this model.
//
// It assumes one station whose speed depends on what is in flight, and a window
// from which the warm-up has been cut (Cut). It says nothing about how well
// requests are served: a waiting-room limit or client time-outs keep N level in
// overload, so the good share must be judged beside it, and a window with drops
// must not be called stable on this evidence alone.
package stability
