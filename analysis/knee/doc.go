// Package knee reads a sweep: at which offered rate completions stop tracking
// arrivals, how much the service carries, and whether it holds on or collapses
// beyond. The same function reads goodput: call it with other numbers.
//
// Symbols, per level: λ offered rate (Level.Offered), T window (Level.Seconds),
// x completed per second within it (Level.Completed), OK good answers of the
// cohort (Level.OK), due over Level.CohortS and drained after Level.DrainS.
//
//	X        = max(x, OK/(CohortS + DrainS))              rate of a level
//	served   : λ − X ≤ max(1 % of λ, 2.6·√(λ/T))
//	knee     = least λ with X ≥ X* − max(1.5 % of X*, 2.6·σ), X* the best, σ = √(X*/T)
//	fallen   : X < X* − max(3 % of X*, 4·σ)
//	C        = arg min Σ T·(X − min(λ, C))² over the levels that have not fallen
//	interval = C ± 2·√(φ·C/T_C), T_C the seconds of those levels with λ ≥ C
//	collapse : X of the highest level < 0.9·C − 4·√(C/T)
//	stable   : λ ≤ 0.98·max over levels of (X − 2·√(X/T))  the sweep rule
//
// φ is the variance-to-mean ratio of departures where it is known to exceed 1.
// Gunther 2009 (the limit is in throughput; the latency knee is an artefact of
// axes) and Karimov et al. 2018 (sustainable throughput) say why completions and
// not latency are read. docs/knee.md has a worked example.
package knee
