// Package warm keeps what was computed about runs, so that a dashboard of
// twenty panels reads a run once. It knows two things: a cache of values that
// are expensive to compute (Cache), and the folded states of runs (States),
// from which any question is answered in milliseconds.
//
// What it keeps is a function of the evidence and the question alone, by
// revision: nothing here can change a verdict, only how long it takes.
package warm
