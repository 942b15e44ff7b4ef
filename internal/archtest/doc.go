// Package archtest reads the imports of the whole module and holds them
// against the arrows of the architecture (docs/architecture.md). It exists so
// that a wrong import fails a test on the day it is written, with the reason
// for the ban in the message, instead of being argued about in a review.
//
// It looks at source text alone: nothing is built, and files behind build
// constraints are read like any other. The rules are data (Rules); the walk
// (Load) and the judgement (Check) know nothing of this project, so that tests
// can show that each rule is able to fail.
package archtest
