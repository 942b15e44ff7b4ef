// Package steps finds the steps and ramps of a run whose load was not declared,
// from counts of requests that were due (dropped ones included) in cells of a
// second.
//
// Counts Yᵢ in cells of length wᵢ are taken as quasi-Poisson about a rate that
// is constant or a straight line over each segment. With deviance
//
//	D = 2·Σ (Yᵢ·ln(Yᵢ/μᵢ) − (Yᵢ − μᵢ)),  μᵢ = rate·wᵢ,
//
// Find proceeds in four steps. A first cut minimises D/φ₀ + β·segments over all
// cuts into constant pieces of at least five cells (PELT; Killick, Fearnhead and
// Eckley 2012), β = 3·ln n, φ₀ a robust dispersion from differences of
// neighbours. Runs of pieces that a straight line describes better become ramps.
// Then cuts are taken back, the weakest first, until each is worth its place
// against the dispersion φ within segments, over blocks of five cells, so that
// bursts are noise and not steps. What is left is moved to the cell where it
// fits best, and within the cell where arrivals are even enough.
//
// Silences, cells without arrivals where many are due, are left out: neither a
// stalled closed loop nor a pause is a step. A verdict of one segment means that
// nothing else could be told.
package steps
