// Package sample is the vocabulary of Plimsoll: the rows and metric points that
// every intake adapter produces, that the journal keeps and that the fold reads.
//
// A Batch is what one export request (or bundle of lines) said about one run,
// in columns. It is evidence, not interpretation: schedules, deadlines, joins
// of attempts and corrections are applied when it is read, so that all of them
// can change without a new ingest. The package depends on the standard library
// alone and decides nothing.
//
// Times are Unix nanoseconds (int64), durations are nanoseconds (int64).
package sample
