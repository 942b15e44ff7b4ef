// Package audit judges the rig: whether the generator sent what it should have
// sent, when it should have, and how far its numbers carry.
//
// Accumulators are filled by one pass in order of time and keep bounded memory;
// what they hold depends on the order of events alone, never on how rows were
// batched. All else are functions of what was accumulated. A doubt is a value
// (Unknown, false), not an error.
//
//   - Arrivals: constant, jittered, Poisson or bursty.
//   - Loop: whether sends wait for completions (closed, capped) or not.
//   - Law, Slump, Saturation, Cap: what a closed or capped generator can reach.
//   - Batches: intervals of quantiles that respect autocorrelation, cold start,
//     drift.
//   - Stalls: stretches in which nothing ended though requests were in flight.
//   - Disagree: sources that differ from the others beyond noise.
//   - MeetsPerDay, Slower: what a user feels.
//
// Formulas, sources and limits: docs/generator-audit.md.
package audit
