// Package runs is the catalogue of runs over a journal: it takes batches in,
// names the run that each belongs to, and gives runs out as evidence to judge.
//
// A run with an explicit id is one stream of the journal and never splits. The
// stream of a source that names no run is divided wherever no request spans any
// time for ten minutes; the pieces are runs, and their ids and bounds depend on
// the multiset of rows alone, not on how or in which order rows came. Metric
// points never divide or join runs that have rows: they are shown with each run
// that lies within ten minutes of them. Points with no row anywhere near make a
// run of their own, for generators that only count.
//
// The index lives in memory and is rebuilt from the journal. The catalogue
// reads no clock but the one it is given, and judges nothing.
package runs
